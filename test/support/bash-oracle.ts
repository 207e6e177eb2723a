import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AskedBash, type Told } from './asked-bash.ts';

const SCRIPT = fileURLToPath(new URL('./bash-oracle.sh', import.meta.url));

/** What bash is asked about. */
export type Question = {
  readonly text: string;
  /** True turns pathname expansion off (`set -f`), so that a glob shows as it was read. */
  readonly noGlob?: boolean;
  /** Variables whose values the printer shall show. */
  readonly variables?: readonly string[];
};

/** One plain call and nothing else: its words, and the values of the variables asked for. Or why it was not one. */
export type Answer =
  | { readonly kind: 'call'; readonly argv: readonly string[]; readonly values: readonly string[] }
  | { readonly kind: 'other'; readonly why: string };

/** `empty` holds nothing; `hostile` holds names that look like options, hold blanks, or are no regular files. */
export type Directory = 'empty' | 'hostile';
/** Two surroundings as different as can be: home, positional parameters, IFS, shell options, locale. */
export type Environment = 'open' | 'closed';

const LOCALES = { open: 'C.UTF-8', closed: 'C' } as const satisfies Record<Environment, string>;

/** Texts given to one subshell. A text that misbehaves can spoil its neighbours' answers, so then each is asked alone. */
const TOGETHER = 64;

/** Names in the hostile directory, so that whatever expands finds something. */
const HOSTILE_NAMES = [
  '-o',
  '-rf',
  '--output=x',
  'a',
  'b',
  'ab',
  'a b',
  ' ',
  'a\nb',
  '\n',
  '~',
  '#',
  'a=b',
  '{a,b}',
  'é',
];

/** The absolute path of a program. */
export function programPath(name: string): string {
  return execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' }).trim();
}

/** How to start a program without rights: as nobody when the tests run as root. */
export function unprivileged(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.getuid?.() !== 0) return command;
  const rights = ['--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs'];
  return [programPath('setpriv'), ...rights, '--', ...command];
}

/** Directories for an oracle, made once and removed by `remove`. */
export type Ground = {
  readonly root: string;
  /** What the oracles run. */
  readonly script: string;
  readonly directories: Readonly<Record<Directory, string>>;
  /** The only directory on PATH. It is empty. */
  readonly path: string;
  remove(): void;
};

export function makeGround(): Ground {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-oracle-'));
  chmodSync(root, 0o755);
  const directories = { empty: join(root, 'empty'), hostile: join(root, 'hostile') };
  // Copied, because whoever has no rights may not be able to read where the project lies.
  const script = join(root, 'bash-oracle.sh');
  copyFileSync(SCRIPT, script);
  const path = join(root, 'path');
  for (const directory of [...Object.values(directories), path]) mkdirSync(directory);
  for (const name of HOSTILE_NAMES) writeFileSync(join(directories.hostile, name), '');
  execFileSync('mkfifo', [join(directories.hostile, 'fifo')]);
  symlinkSync('/dev/zero', join(directories.hostile, 'device'));
  return { root, script, directories, path, remove: () => rmSync(root, { recursive: true, force: true }) };
}

type Call = { readonly known: boolean; readonly flags: string; readonly argv: string[]; readonly values: string[] };
/** One evaluation: the calls of the printer, and how it ended (null: it did not). */
type Evaluation = { readonly calls: Call[]; end: { readonly status: string; readonly flags: string } | null };
/** One bash in one directory and one environment. */
export class BashOracle {
  readonly #bash: AskedBash<Evaluation[]>;

  /** @param names words that are printers when they stand as the command; any other command is unknown to this bash. */
  constructor(ground: Ground, directory: Directory, environment: Environment, names: readonly string[]) {
    const errors = join(ground.root, `errors-${directory}-${environment}`);
    writeFileSync(errors, '');
    chmodSync(errors, 0o666);
    const place = [ground.directories[directory], environment, errors];
    const bash = programPath('bash');
    const words = [bash, '--noprofile', '--norc', ground.script, ...place, ...names] as const;
    const env = { PATH: ground.path, LC_ALL: LOCALES[environment] };
    this.#bash = new AskedBash('The bash oracle', unprivileged(words), env, readRecords);
  }

  /** Answers in the order of the questions. */
  async ask(questions: readonly Question[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let from = 0; from < questions.length; from += TOGETHER) {
      const some = questions.slice(from, from + TOGETHER);
      const together = (await this.request(some)).map(judge);
      if (together.length === some.length && together.every((answer) => answer.kind === 'call')) {
        answers.push(...together);
        continue;
      }
      for (const question of some) {
        const [evaluation, ...more] = await this.request([question]);
        if (evaluation === undefined || more.length > 0)
          throw new Error(`The oracle lost count at ${quoted(question)}`);
        answers.push(judge(evaluation));
      }
    }
    return answers;
  }

  close(): void {
    this.#bash.close();
  }

  private request(questions: readonly Question[]): Promise<Evaluation[]> {
    const fields = questions.flatMap(({ text, noGlob, variables = [] }) => [
      noGlob ? 'off' : 'on',
      variables.join(' '),
      text,
    ]);
    return this.#bash.ask(
      [questions.length, ...fields],
      questions.map(({ text }) => text),
    );
  }
}

/** Reads records up to `done`; null when that has not come yet. Throws when these are no records. */
function readRecords(fields: readonly string[]): Told<Evaluation[]> | null {
  // The last record is short, so a full reading is tried only when one may be there.
  if (fields.at(-2) !== 'done') return null;
  const junk = new Error('something else than the printer wrote to standard output');
  const evaluations: Evaluation[] = [];
  let at = 0;
  const take = (): string => fields[at++] ?? '';
  const takeList = (): string[] => {
    const count = Number(take());
    const list = fields.slice(at, at + count);
    at += count;
    return list;
  };
  while (at < fields.length) {
    const kind = take();
    const evaluation = evaluations.at(-1);
    if (kind === 'done') {
      if (at + 1 < fields.length) throw junk;
      return at + 1 === fields.length ? { value: evaluations, length: fields.length } : null;
    }
    if (kind === 'begin') evaluations.push({ calls: [], end: null });
    else if (kind === 'call' && evaluation !== undefined) {
      evaluation.calls.push({ known: take() === 'known', flags: take(), argv: takeList(), values: takeList() });
    } else if (kind === 'end' && evaluation !== undefined) evaluation.end = { status: take(), flags: take() };
    else throw junk;
  }
  return null;
}

/** A single call in the foreground, nothing redirected, nothing left behind, and its status was the status of all. */
function judge({ calls, end }: Evaluation): Answer {
  const [call, ...more] = calls;
  if (call === undefined) return { kind: 'other', why: 'no call' };
  if (more.length > 0) return { kind: 'other', why: `${calls.length} calls` };
  if (call.flags !== '') return { kind: 'other', why: `in the call:${call.flags}` };
  if (end === null) return { kind: 'other', why: 'it left the shell' };
  if (end.flags !== '') return { kind: 'other', why: `afterwards:${end.flags}` };
  if (end.status !== (call.known ? '7' : '9')) return { kind: 'other', why: `status ${end.status}` };
  return { kind: 'call', argv: call.argv, values: call.values };
}

function quoted(question: Question): string {
  return JSON.stringify(question.text);
}

/** All four of them: both directories, both environments. */
export type Oracles = {
  /** For each question the answer that all four gave; a disagreement is an answer of kind `other`. */
  ask(questions: readonly Question[]): Promise<Answer[]>;
  readonly ground: Ground;
  close(): void;
};

export function openOracles(names: readonly string[]): Oracles {
  const ground = makeGround();
  const oracles = (['empty', 'hostile'] as const).flatMap((directory) =>
    (['open', 'closed'] as const).map((environment) => new BashOracle(ground, directory, environment, names)),
  );
  return {
    ground,
    ask: async (questions) => {
      const all = await Promise.all(oracles.map((oracle) => oracle.ask(questions)));
      return questions.map((_, index) => common(all.map((answers) => answers[index] as Answer)));
    },
    close: () => {
      for (const oracle of oracles) oracle.close();
      ground.remove();
    },
  };
}

function common(answers: readonly Answer[]): Answer {
  const other = answers.find((answer) => answer.kind === 'other');
  if (other !== undefined) return other;
  const spellings = new Set(answers.map((answer) => JSON.stringify(answer)));
  return spellings.size === 1
    ? (answers[0] as Answer)
    : { kind: 'other', why: `differs: ${[...spellings].join(' or ')}` };
}
