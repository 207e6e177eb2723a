import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { explain, renderExplanation } from '../classifier/explain.ts';
import type { Mode } from '../dispatcher/types.ts';
import type { Io } from './io.ts';
import { type JudgeFlags, judgeOf, noDaemonOption, noNetworkOption, trustOption } from './judge.ts';
import { collect, modeOption } from './options.ts';
import { choosePaint, type Paint } from './paint.ts';
import { surroundingLines } from './proof-lines.ts';
import { rulesWith } from './rules.ts';

type Flags = JudgeFlags & {
  readonly mode?: Mode;
  readonly format: 'text' | 'json';
  readonly cwd?: string;
  readonly rules?: readonly string[];
};

const EXAMPLES = `
Examples:
  signalbox explain 'git branch new'
  signalbox explain 'sed -i s/a/b/ notes.txt'`;

/** Beginnings of lines that get a colour. The command itself is indented, so it can never pass for one of them. */
const COLOURS = [
  ['parallel', 'green'],
  ['serial: ', 'yellow'],
  ['[ok]', 'green'],
  ['[no]', 'red'],
  ['[--]', 'dim'],
  ['What would help:', 'cyan'],
] as const;

function paintLines(lines: readonly string[], paint: Paint): readonly string[] {
  // The first stretch that is underlined is the refused one; below the steps, the part that its mark tells about.
  let underline: Parameters<Paint>[0] = 'red';
  return lines.map((line) => {
    // The marks under a stretch, and nothing else on the line.
    if (line.includes('^') && line.replaceAll('^', '').trim() === '') return paint(underline, line);
    const found = COLOURS.find(([beginning]) => line.startsWith(beginning));
    if (found === undefined) return line;
    const [beginning, colour] = found;
    underline = colour;
    return paint(colour, beginning) + line.slice(beginning.length);
  });
}

async function answer(io: Io, command: string, flags: Flags): Promise<void> {
  const rules = await rulesWith(flags.rules, io.cwd);
  const cwd = resolve(io.cwd, flags.cwd ?? '.');
  const judge = judgeOf(rules, io, flags);
  const { verdict } = judge(command, { cwd, mode: flags.mode ?? 'simple' });
  const explanation = explain(verdict, command);
  if (flags.format === 'json') return io.stdout.write(`${JSON.stringify(explanation, null, 2)}\n`);
  const paint = choosePaint(io.terminal, io.env);
  const lines = renderExplanation(explanation).split('\n');
  if (verdict.kind === 'parallel') lines.push(...surroundingLines(verdict));
  return io.stdout.write(`${paintLines(lines, paint).join('\n')}\n`);
}

/** `signalbox explain`: the checks as steps, what was refused and where, and what would help. */
export function explainCommand(io: Io): Command {
  return new Command('explain')
    .summary('show why a command is parallel or serial')
    .description(
      'Shows the three checks as steps, underlines what was refused, and says what\nwould make the command parallel. Runs nothing.',
    )
    .argument('<command>', 'the text that bash would get, as one argument in quotes')
    .addOption(modeOption())
    .addOption(new Option('--format <format>', 'text or json').choices(['text', 'json']).default('text'))
    .option('--cwd <directory>', 'where the command would run (default: here)')
    .addOption(trustOption())
    .addOption(noNetworkOption())
    .addOption(noDaemonOption())
    .option('--rules <path>', 'a further rule file or directory; may be repeated', collect)
    .addHelpText('after', EXAMPLES)
    .action((command: string, flags: Flags) => answer(io, command, flags));
}
