import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { createDispatcher } from '../dispatcher/dispatcher.ts';
import type { Mode } from '../dispatcher/types.ts';
import { readBatchFile } from './batch-file.ts';
import type { Io } from './io.ts';
import { allowanceOf, type JudgeFlags, noDaemonOption, noNetworkOption, trustOption } from './judge.ts';
import { collect, modeOption } from './options.ts';
import { choosePaint } from './paint.ts';
import { planText } from './plan-text.ts';
import { rulesWith } from './rules.ts';

type Flags = JudgeFlags & {
  readonly format: 'text' | 'json';
  readonly json?: true;
  readonly cwd?: string;
  readonly mode?: Mode;
  readonly rules?: readonly string[];
};

const EXAMPLES = `
Examples:
  signalbox plan examples/inspect.json
  signalbox plan --json - < batch.json

The file is the one that "signalbox run" takes; "-" is standard input.
Neighbours that are parallel make one group and run at the same time; a serial
command is a group of its own. The keys are what each command would hold while
it runs: others that hold the same key wait, unless both hold it shared.

It is the plan of this moment: what a command changes can make a later one
serial. The exit code says whether there is a plan, not what it says.`;

async function show(io: Io, file: string, flags: Flags): Promise<void> {
  const cwd = resolve(io.cwd, flags.cwd ?? '.');
  const { commands, options } = await readBatchFile(file, cwd);
  const dispatcher = createDispatcher({
    rules: await rulesWith(flags.rules, io.cwd),
    cwd,
    trustRepository: flags.trustRepository === true,
    allow: allowanceOf(flags),
    environment: io.env,
  });
  const { mode } = flags;
  const plan = dispatcher.plan(commands, { ...options, ...(mode === undefined ? {} : { mode }) });
  if (flags.json === true || flags.format === 'json') return io.stdout.write(`${JSON.stringify(plan, null, 2)}\n`);
  return io.stdout.write(planText(plan, choosePaint(io.terminal, io.env)));
}

/** `signalbox plan`: what `signalbox run` would do with a file. */
export function planCommand(io: Io): Command {
  return new Command('plan')
    .summary('show how a batch would run')
    .description('Shows the groups, verdicts and keys of a batch. Runs nothing.')
    .argument('<file>', 'a JSON file; - is standard input')
    .addOption(
      new Option('--format <format>', 'text: groups, for people; json: the plan')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option('--json', 'the same as --format json')
    .addOption(modeOption())
    .option('--cwd <directory>', 'where the commands would run (default: here)')
    .addOption(trustOption())
    .addOption(noNetworkOption())
    .addOption(noDaemonOption())
    .option('--rules <path>', 'a further rule file or directory; may be repeated', collect)
    .addHelpText('after', EXAMPLES)
    .action((file: string, flags: Flags) => show(io, file, flags));
}
