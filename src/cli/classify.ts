import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { Judge } from '../classifier/judgement.ts';
import type { Verdict } from '../classifier/verdict.ts';
import type { Mode } from '../dispatcher/types.ts';
import { SignalboxError } from '../errors.ts';
import { visible } from './display-text.ts';
import type { Io } from './io.ts';
import { parseQuestion, type Question, readLines } from './json-lines.ts';
import { type JudgeFlags, judgeOf, noDaemonOption, noNetworkOption, trustOption } from './judge.ts';
import { collect, modeOption } from './options.ts';
import { choosePaint, type Paint } from './paint.ts';
import { proofLines } from './proof-lines.ts';
import { rulesWith } from './rules.ts';

type Flags = JudgeFlags & {
  readonly stdin?: true;
  readonly mode?: Mode;
  readonly format?: 'text' | 'json' | 'ndjson';
  readonly cwd?: string;
  readonly rules?: readonly string[];
};

const EXAMPLES = `
Examples:
  signalbox classify 'git log --oneline -5'
  signalbox classify --format json 'rm -r build'
  signalbox classify --mode compound 'git log --oneline | head -5'
  printf '%s\\n' '"ls -la"' '{"command":"git push"}' | signalbox classify --stdin

With --stdin every line is one JSON value: a string, or an object with "command"
and, if wanted, "cwd", "env", "mode" and "allow"; other fields are ignored.
Every line gets one line of output, in the same order. At a line that is none of
these, reading stops: the verdicts before it are printed, the error names the
line, and the exit code is 2.

The exit code says whether the question was answered, not what the answer is.`;

/** A verdict for a person, in a few lines. */
function sentences(command: string, verdict: Verdict, paint: Paint): string {
  const head = (kind: string) => `${paint(kind === 'parallel' ? 'green' : 'yellow', kind)}  ${visible(command)}\n`;
  if (verdict.kind === 'serial') {
    const { code, message, hint } = verdict.reason;
    return `${head('serial')}  ${code}: ${visible(message)}\n${hint === undefined ? '' : `  ${visible(hint)}\n`}`;
  }
  return `${head('parallel')}${proofLines(command, verdict).join('\n')}\n`;
}

/** A verdict for a person, on one line. */
function oneLine(command: unknown, verdict: Verdict): string {
  const code = verdict.kind === 'parallel' ? '' : verdict.reason.code;
  const text = typeof command === 'string' ? command : JSON.stringify(command);
  return `${verdict.kind.padEnd(8)}  ${code.padEnd(22)}  ${visible(text)}\n`;
}

function ask(question: Question, flags: Flags, cwd: string, judge: Judge): Verdict {
  const { command, env, allow, mode = flags.mode ?? 'simple' } = question;
  const directory = resolve(cwd, question.cwd ?? '.');
  // The judge is total: a value that is no string is serial.
  const context = { mode, ...(env === undefined ? {} : { env }), ...(allow === undefined ? {} : { allow }) };
  return judge(command as string, { cwd: directory, ...context }).verdict;
}

async function classifyLines(io: Io, flags: Flags, cwd: string, judge: Judge): Promise<void> {
  for await (const line of readLines(io.stdin)) {
    const question = parseQuestion(line);
    const verdict = ask(question, flags, cwd, judge);
    await io.stdout.write(
      flags.format === 'text' ? oneLine(question.command, verdict) : `${JSON.stringify(verdict)}\n`,
    );
    if (io.stdout.closed.aborted) return;
  }
}

async function answer(io: Io, command: string | undefined, flags: Flags): Promise<void> {
  if ((command === undefined) === (flags.stdin === undefined)) {
    throw new SignalboxError('OPTION_INVALID', 'Expected either one command in quotes or --stdin', {
      hint: "For example: signalbox classify 'git status'",
    });
  }
  const judge = judgeOf(await rulesWith(flags.rules, io.cwd), io, flags);
  const cwd = resolve(io.cwd, flags.cwd ?? '.');
  if (command === undefined) return classifyLines(io, flags, cwd, judge);
  const verdict = ask({ command }, flags, cwd, judge);
  switch (flags.format ?? 'text') {
    case 'text':
      return io.stdout.write(sentences(command, verdict, choosePaint(io.terminal, io.env)));
    case 'json':
      return io.stdout.write(`${JSON.stringify(verdict, null, 2)}\n`);
    case 'ndjson':
      return io.stdout.write(`${JSON.stringify(verdict)}\n`);
  }
}

/** `signalbox classify`: one command, or one a line of standard input. */
export function classifyCommand(io: Io): Command {
  return new Command('classify')
    .summary('tell whether a command is parallel or serial')
    .description('Tells whether a command may run at the same time as its siblings. Runs nothing.')
    .argument('[command]', 'the text that bash would get, as one argument in quotes')
    .option('--stdin', 'read one JSON value a line, print one verdict a line')
    .addOption(modeOption())
    .addOption(
      new Option('--format <format>', 'default: text; with --stdin: ndjson').choices(['text', 'json', 'ndjson']),
    )
    .option('--cwd <directory>', 'where the command would run (default: here)')
    .addOption(trustOption())
    .addOption(noNetworkOption())
    .addOption(noDaemonOption())
    .option('--rules <path>', 'a further rule file or directory; may be repeated', collect)
    .addHelpText('after', EXAMPLES)
    .action((command: string | undefined, flags: Flags) => answer(io, command, flags));
}
