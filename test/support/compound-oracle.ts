import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AskedBash, type Told } from './asked-bash.ts';
import { programPath, unprivileged } from './bash-oracle.ts';
import { HOME } from './compound-reading.ts';

/**
 * What the real bash does with a compound text: which programs it calls with which words, in which directory, and what
 * it connects their standard input, output and errors with. Under every name that a rule knows stands a printer on a
 * PATH that holds nothing else, so no real program is ever run; it is run unprivileged where nothing can be written.
 */

const SCRIPT = fileURLToPath(new URL('./compound-oracle.sh', import.meta.url));

/** Between the words of a call, and around calls: characters that no text may hold. */
const JOINT = '\x1f';
const BETWEEN = '\x1e';

/** Two surroundings as different as can be: IFS, shell options, locale. */
export type Surroundings = 'open' | 'closed';

export type Question = {
  readonly text: string;
  /** `eval` in a subshell is quicker; `process` is a `bash -c` of its own. */
  readonly form: 'eval' | 'process';
  /** True turns pathname expansion off (`set -f`), so that a glob shows as it was read. */
  readonly noGlob: boolean;
  /** Variables whose values the printers shall show. */
  readonly variables: readonly string[];
  /** The words of calls that shall end with 1; all others end with 0. */
  readonly failing: readonly (readonly string[])[];
};

/** One call of a printer. It writes `1.ID` to its standard output and `2.ID` to its standard error. */
export type Call = {
  readonly id: string;
  readonly stdin: string;
  /** What it read, when its standard input was a pipe. */
  readonly input: readonly string[];
  readonly cwd: string;
  readonly argv: readonly string[];
  /** Of the variables asked for, in their order. */
  readonly values: readonly string[];
};

/** What came of a text: the calls in order (those of one pipeline in any), its status, and what its own outputs got. */
export type Evaluation = {
  readonly calls: readonly Call[];
  readonly status: number;
  readonly printed: readonly string[];
  readonly complained: readonly string[];
};

/** The value of a variable that is not set. */
export const UNSET = '<unset>';

const LOCALES = { open: 'C.UTF-8', closed: 'C' } as const satisfies Record<Surroundings, string>;

/** What a printer shows of a variable that the text does not set. */
export function valueAround(name: string, surroundings: Surroundings): string {
  return name === 'LC_ALL' ? LOCALES[surroundings] : UNSET;
}

/** Answers under any name. In the shell that starts quickest, because there are thousands of calls. */
const PRINTER = `#!/bin/sh
set -f
set -- "\${0##*/}" "$@"
stdin=other input=
if [ /proc/self/fd/0 -ef /dev/null ]; then stdin=null
elif [ -p /proc/self/fd/0 ]; then
  stdin=pipe
  while IFS= read -r line; do input="$input $line"; done
fi
IFS='${JOINT}'
key="$*" count=$# shown=0
IFS=' '
for name in $SIGNALBOX_SHOWN; do
  eval "value=\\\${$name-${UNSET}}"
  set -- "$@" "$value"
  shown=$((shown + 1))
done
printf '%s\\0' call "$$" "$stdin" "$input" "$PWD" "$count" "$shown" "$@" >&9
# Whoever should read may have turned to the null device and gone.
trap '' PIPE
{ printf '%s\\n' "1.$$"; } 2>/dev/null
printf '%s\\n' "2.$$" >&2
case "$SIGNALBOX_FAILING" in *"${BETWEEN}$key${BETWEEN}"*) exit 1 ;; esac
exit 0
`;

/** Directories to go to, files and links; a name with a blank, one that is a file. */
const DIRECTORIES = ['src', 'src/deep', 'a b', 'docs', 'é', '-d', 'packages/core'];
const FILES = ['file', 'a', 'b', 'a b.txt', '-o', 'src/a.ts', '2', '#'];

const TOGETHER = 32;

/** What is sent for questions to one bash: their number, then the fields of each. */
function fieldsOf(questions: readonly Question[]): readonly (string | number)[] {
  const fields = questions.flatMap(({ form, noGlob, variables, failing, text }) => [
    form,
    noGlob ? 'off' : 'on',
    variables.join(' '),
    `${BETWEEN}${failing.map((words) => words.join(JOINT)).join(BETWEEN)}${BETWEEN}`,
    text,
  ]);
  return [questions.length, ...fields];
}

/** Reads records up to `done`, and tells how many fields they are; null when that has not come yet. */
function readRecords(fields: readonly string[]): Told<Evaluation[]> | null {
  // A reader that was left behind may tell of itself after the end.
  if (!fields.includes('done')) return null;
  const evaluations: Evaluation[] = [];
  let calls: Call[] = [];
  let at = 0;
  const take = (): string => fields[at++] ?? '';
  const takeList = (length: number): string[] => {
    const list = fields.slice(at, at + length);
    at += length;
    return list;
  };
  const takeCounted = (): string[] => takeList(Number(take()));
  while (at < fields.length) {
    const kind = take();
    if (kind === 'done') return { value: evaluations, length: at };
    if (kind === 'call') {
      const [id, stdin, input, cwd] = [take(), take(), take(), take()];
      const [words, shown] = [Number(take()), Number(take())];
      const read = input.split(' ').filter((token) => token !== '');
      calls.push({ id, stdin, input: read, cwd, argv: takeList(words), values: takeList(shown) });
    } else if (kind === 'end') {
      const status = Number(take());
      evaluations.push({ calls, status, printed: takeCounted(), complained: takeCounted() });
      calls = [];
    } else throw new Error(`it told ${JSON.stringify(kind)}, which is no record`);
  }
  return null;
}

export type CompoundOracle = {
  /** Where texts are evaluated: nothing can be written in it. */
  readonly directory: string;
  /** The names of what lies in the directory, at any depth: nothing may be made or removed. */
  contents(): readonly string[];
  /** Evaluations in the order of the questions. */
  ask(questions: readonly Question[], surroundings: Surroundings): Promise<Evaluation[]>;
  close(): void;
};

/** @param names the programs that are there, as printers; bash's own commands of these names are off. */
export function openCompoundOracle(names: readonly string[]): CompoundOracle {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-compounds-'));
  const [directory, path] = [join(root, 'directory'), join(root, 'path')];
  mkdirSync(path);
  for (const name of DIRECTORIES) mkdirSync(join(directory, name), { recursive: true });
  for (const name of FILES) writeFileSync(join(directory, name), '');
  symlinkSync('src', join(directory, 'link'));
  // Copied, because whoever has no rights may not be able to read where the project lies.
  const script = join(root, 'compound-oracle.sh');
  copyFileSync(SCRIPT, script);
  const printer = join(root, 'printer');
  writeFileSync(printer, PRINTER);
  for (const name of names) symlinkSync(printer, join(path, name));
  const open = (surroundings: Surroundings, nth: number): AskedBash<Evaluation[]> => {
    const files = ['out', 'errors', 'surroundings'].map((name) => join(root, `${name}-${surroundings}-${nth}`));
    for (const file of files) {
      writeFileSync(file, '');
      chmodSync(file, 0o666);
    }
    const [out, errors, surround] = files as [string, string, string];
    const bash = programPath('bash');
    const words = [bash, '--noprofile', '--norc', script, directory, surroundings, out, errors, ...names] as const;
    const env = { PATH: path, HOME, LC_ALL: LOCALES[surroundings], SIGNALBOX_SURROUNDINGS: surround };
    return new AskedBash('The oracle of compounds', unprivileged(words), env, readRecords);
  };
  chmodSync(root, 0o755);
  chmodSync(printer, 0o755);
  for (const each of ['', ...DIRECTORIES]) chmodSync(join(directory, each), 0o555);
  // Two of each: the programs of a text wait as often as they work.
  const shells = { open: [open('open', 0), open('open', 1)], closed: [open('closed', 0), open('closed', 1)] } as const;
  return {
    directory,
    contents: () => readdirSync(directory, { recursive: true }).map(String).sort(),
    ask: (questions, surroundings) => askAll(shells[surroundings], questions),
    close: () => {
      for (const shell of Object.values(shells).flat()) shell.close();
      for (const each of ['', ...DIRECTORIES]) chmodSync(join(directory, each), 0o755);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function askAll(
  shells: readonly AskedBash<Evaluation[]>[],
  questions: readonly Question[],
): Promise<Evaluation[]> {
  const evaluations = new Array<Evaluation>(questions.length);
  let next = 0;
  const work = async (shell: AskedBash<Evaluation[]>): Promise<void> => {
    while (next < questions.length) {
      const from = next;
      next += TOGETHER;
      const some = questions.slice(from, from + TOGETHER);
      const answered = await shell.ask(
        fieldsOf(some),
        some.map(({ text }) => text),
      );
      if (answered.length !== some.length) throw new Error(`The oracle of compounds lost count at ${some[0]?.text}`);
      for (const [index, evaluation] of answered.entries()) evaluations[from + index] = evaluation;
    }
  };
  await Promise.all(shells.map(work));
  return evaluations;
}
