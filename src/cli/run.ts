import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { createDispatcher } from '../dispatcher/dispatcher.ts';
import type { Batch } from '../dispatcher/types.ts';
import { loadRules } from '../rules/load.ts';
import { readBatchFile } from './batch-file.ts';
import { type BatchView, jsonView, linesView, type ShownOutput, textView } from './batch-view.ts';
import { EXIT } from './complaint.ts';
import type { Io } from './io.ts';
import { collect, integerBetween } from './options.ts';
import { choosePaint } from './paint.ts';
import { isGood } from './progress.ts';
import { BLOCKS, LETTERS } from './timeline.ts';

type Flags = {
  readonly format: 'text' | 'json' | 'ndjson';
  readonly output: ShownOutput;
  readonly cwd?: string;
  readonly maxParallel?: number;
  readonly rules: readonly string[];
};

const EXAMPLES = `
Examples:
  signalbox run examples/inspect.json
  signalbox run --output all batch.json
  signalbox run --format ndjson - < batch.json

The file holds one JSON object, as POST /batches takes it: "commands", and if
wanted "cwd", "maxParallel", "onFailure", "deadlineMs". "-" is standard input.

In the timeline a command is queued (·), waits for others (░), and runs (█).
Exit code: 0 if every command ended with 0, 1 if one did not, 2 if the call or
the file was wrong. Ctrl-C cancels the batch, ends what runs, and still prints
the results; a second one does not wait for what runs to end by itself.`;

/** Signals after which a person or a supervisor wants no more of this. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Bars of blocks need a terminal that shows them; a locale that names another character set says that it does not. */
function glyphsFor(env: Io['env']) {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return locale === '' || /utf-?8/i.test(locale) ? BLOCKS : LETTERS;
}

function viewFor(io: Io, { format, output: shown }: Flags): BatchView {
  const { stdout: output, terminal, env, now } = io;
  switch (format) {
    case 'json':
      return jsonView(output);
    case 'ndjson':
      return linesView(output);
    case 'text':
      return textView({ output, terminal, glyphs: glyphsFor(env), paint: choosePaint(terminal, env), shown, now });
  }
}

/** Cancels on a signal, and when nobody reads the results any more. Returns what to call when the batch has ended. */
function cancelOnInterrupt(batch: Batch, closed: AbortSignal, insist: () => void): () => void {
  let hasAsked = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (hasAsked) insist();
    hasAsked = true;
    batch.cancel(`Cancelled by ${signal}`);
  };
  const onClosed = () => batch.cancel('Cancelled because nobody reads the results');
  for (const signal of ENDING) process.on(signal, onSignal);
  if (closed.aborted) onClosed();
  closed.addEventListener('abort', onClosed, { once: true });
  return () => {
    for (const signal of ENDING) process.off(signal, onSignal);
    closed.removeEventListener('abort', onClosed);
  };
}

async function run(io: Io, file: string, flags: Flags): Promise<void> {
  const cwd = resolve(io.cwd, flags.cwd ?? '.');
  const { commands, options } = await readBatchFile(file, cwd);
  const rules = loadRules({ extra: flags.rules.map((path) => resolve(io.cwd, path)) });
  const dispatcher = createDispatcher({ rules, cwd, environment: io.env });
  const view = viewFor(io, flags);
  const { maxParallel = options.maxParallel } = flags;
  const batch = dispatcher.dispatch(commands, { ...options, ...(maxParallel === undefined ? {} : { maxParallel }) });
  const stopListening = cancelOnInterrupt(batch, io.stdout.closed, () => {
    dispatcher.shutdown({ graceMs: 0 }).catch(() => undefined);
  });
  try {
    for await (const event of batch.events()) await view.event(event);
    const result = await batch.done;
    await view.end(result);
    io.exitWith(result.commands.every(isGood) ? EXIT.ok : EXIT.failed);
  } finally {
    stopListening();
    await dispatcher.shutdown({ graceMs: 0 });
  }
}

/** `signalbox run`: a batch from a file, with its timeline. */
export function runCommand(io: Io): Command {
  return new Command('run')
    .summary('run a batch of commands from a file')
    .description('Runs a batch of commands: reads overlap, anything else runs alone, in order.')
    .argument('<file>', 'a JSON file; - is standard input')
    .addOption(
      new Option('--format <format>', 'text: a timeline; json: the results; ndjson: events as they happen')
        .choices(['text', 'json', 'ndjson'])
        .default('text'),
    )
    .addOption(
      new Option('--output <which>', 'whose output stands below the timeline')
        .choices(['none', 'failed', 'all'])
        .default('failed'),
    )
    .option('--cwd <directory>', 'where the commands run (default: here)')
    .option('--max-parallel <number>', 'commands that run at once (default: 10)', integerBetween(1, 256))
    .option('--rules <path>', 'a further rule file or directory; may be repeated', collect, [])
    .addHelpText('after', EXAMPLES)
    .action((file: string, flags: Flags) => run(io, file, flags));
}
