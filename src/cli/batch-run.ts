import { resolve } from 'node:path';
import { createDispatcher } from '../dispatcher/dispatcher.ts';
import type { Batch, Mode } from '../dispatcher/types.ts';
import { readBatchFile } from './batch-file.ts';
import { type BatchView, jsonView, linesView, type ShownOutput, textView } from './batch-view.ts';
import { EXIT } from './complaint.ts';
import type { Io } from './io.ts';
import { allowanceOf, type JudgeFlags } from './judge.ts';
import { choosePaint } from './paint.ts';
import { isGood } from './progress.ts';
import { rulesWith } from './rules.ts';
import { BLOCKS, LETTERS } from './timeline.ts';

/** What the command line read for `signalbox run`. */
export type RunFlags = JudgeFlags & {
  readonly format: 'text' | 'json' | 'ndjson';
  readonly output: ShownOutput;
  readonly cwd?: string;
  readonly mode?: Mode;
  readonly maxParallel?: number;
  readonly rules?: readonly string[];
};

/** The most commands of one batch that may run at once. */
const MAX_PARALLEL = 256;

/** Signals after which a person or a supervisor wants no more of this. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Bars of blocks need a terminal that shows them; a locale that names another character set says that it does not. */
function glyphsFor(env: Io['env']) {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return locale === '' || /utf-?8/i.test(locale) ? BLOCKS : LETTERS;
}

function viewFor(io: Io, { format, output: shown }: RunFlags): BatchView {
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

/** Runs the batch of a file and shows it; tells `io` what to end with. Throws what `readBatchFile` and the dispatcher throw. */
export async function runBatchFile(io: Io, file: string, flags: RunFlags): Promise<void> {
  const cwd = resolve(io.cwd, flags.cwd ?? '.');
  const { commands, options } = await readBatchFile(file, cwd);
  const rules = await rulesWith(flags.rules, io.cwd);
  // There is one batch: its own limit is the one that counts.
  const dispatcher = createDispatcher({
    rules,
    cwd,
    trustRepository: flags.trustRepository === true,
    allow: allowanceOf(flags),
    environment: io.env,
    limits: { processLimit: MAX_PARALLEL },
  });
  const view = viewFor(io, flags);
  const { mode, maxParallel } = flags;
  const asked = { ...(mode === undefined ? {} : { mode }), ...(maxParallel === undefined ? {} : { maxParallel }) };
  const batch = dispatcher.dispatch(commands, { ...options, ...asked });
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
