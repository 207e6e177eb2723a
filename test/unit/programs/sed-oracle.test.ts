import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sedProgram } from '../../../src/classifier/programs/sed.ts';
import { damaged, random, soup, wellFormed } from './sed-programs.ts';

/**
 * The real sed as a judge. `--sandbox` makes it refuse `e`, `w`, `r` and their kin while it reads the program, wherever
 * they stand, and `--debug` prints the program as it understood it. Nothing can be written: accepted programs only, and
 * the sandbox besides, in an empty directory, on an empty file.
 */
const JUDGE = `
ulimit -t 5
while IFS= read -r -d '' program; do
  sed --sandbox --debug -n $VARIANT -e "$program" empty 2>&1
  printf '\\036%d\\036' $?
done
`;

type Answer = { readonly program: string; readonly output: string; readonly status: number };

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-sed-'));
  writeFileSync(join(directory, 'empty'), '');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function judge(programs: readonly string[], variant: string): Answer[] {
  const run = spawnSync('bash', ['--noprofile', '--norc', '-c', JUDGE], {
    cwd: directory,
    input: programs.map((program) => `${program}\0`).join(''),
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', VARIANT: variant },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 50_000,
  });
  const parts = run.stdout.split('\u001e');
  return programs.map((program, index) => ({
    program,
    output: parts[2 * index] ?? '',
    status: Number(parts[2 * index + 1] ?? Number.NaN),
  }));
}

function accepted(make: (next: () => number) => string, seed: number, tries: number): string[] {
  const next = random(seed);
  const found = new Set<string>();
  for (let left = tries; left > 0; left -= 1) {
    const program = make(next);
    if (sedProgram(program)) found.add(program);
  }
  return [...found];
}

const MAKERS = { 'of the grammar': wellFormed, 'of the grammar, damaged': damaged, 'of loose tokens': soup } as const;
const TRIES = { 'of the grammar': 700, 'of the grammar, damaged': 2_500, 'of loose tokens': 2_500 } as const;
/** One command a line, with its address before it: nothing but printing, deleting, quitting, substituting, blocks. */
const PRINTED = /^ +(?:.* |!)?(?:[pdqQ=n{}]|s\/.*)$/s;

for (const [index, variant] of (['', '-E', '--posix'] as const).entries()) {
  for (const kind of ['of the grammar', 'of the grammar, damaged', 'of loose tokens'] as const) {
    test(`no accepted program ${kind} is more than printing to the real sed ${variant}`, () => {
      const programs = accepted(MAKERS[kind], 7_311 + index, TRIES[kind]);
      expect(programs.length).toBeGreaterThan(400);
      const answers = judge(programs, variant);
      const read = answers.filter((answer) => answer.status === 0);
      // 1 and 4 are sed's own "this is no program" and touch nothing; the time limit would give 137 or 152.
      expect(answers.filter((answer) => ![0, 1, 4].includes(answer.status))).toEqual([]);
      expect(answers.filter((answer) => answer.output.includes('sandbox'))).toEqual([]);
      const strange = read.filter((answer) => {
        if (/\\[nxod]/.test(answer.program)) return false; // these may print a newline inside a line
        const [head, ...lines] = answer.output.trimEnd().split('\n');
        return head !== 'SED PROGRAM:' || lines.length === 0 || !lines.every((line) => PRINTED.test(line));
      });
      expect(strange).toEqual([]);
      expect(read.length).toBeGreaterThan(100);
      expect(readdirSync(directory)).toEqual(['empty']);
    });
  }
}

test('the judge would have noticed: programs that write, run, read or loop, given past the parser', () => {
  const hostile = ['w f', 's/a/b/w f', '1e', 's/a/b/e', 'r f', 'R f', 'W f', '/x/w f', '{w f\n}', 'p;w f'];
  for (const answer of judge(hostile, '')) expect(answer.output, answer.program).toContain('sandbox');
  for (const answer of judge([':a', 'b', '$!{N;D}', 'l', 'y/a/b/', 'a x', '#x', 'h'], '')) {
    const lines = answer.output.trimEnd().split('\n').slice(1);
    expect(lines.every((line) => PRINTED.test(line)) && lines.length > 0, answer.program).toBe(false);
  }
});
