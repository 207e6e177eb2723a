import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jqFilter } from '../../../src/classifier/programs/jq.ts';
import { damaged, PLAIN, soup, TAKING, wellFormed } from './jq-filters.ts';
import { random } from './sed-programs.ts';

/**
 * The real jq as a judge, on null and on a document of every kind of value: whatever the parser accepts
 * has to come to an end at once. A second of the processor is more than any of them needs.
 */
const JUDGE = `
ulimit -t "$LIMIT" -v 4000000
while IFS= read -r -d '' filter; do
  jq " $filter" doc </dev/null 2>err | head -c 2000001 >out
  printf '%d %d\\036' "\${PIPESTATUS[0]}" "$(stat -c %s out)"
done
`;

const DOCUMENT = {
  a: { b: ['x', '', 'a,b', 'foo.bar'], a: 'a.b', 'a b': null },
  b: [3, 1.5, -2, 1e17, true],
  items: [
    { key: 'k', value: 1, name: 'Ada', b: [] },
    { key: 'l', value: [[], {}, [[1]]], name: 'é"\n', b: { b: 'b' } },
  ],
  'a b': 'c',
};
/** Longer answers than this from such a document would mean that a filter multiplies what it is given. */
const MOST_BYTES = 2_000_000;

type Answer = { readonly filter: string; readonly status: number; readonly bytes: number };

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-jq-'));
  writeFileSync(join(directory, 'doc'), `null ${JSON.stringify(DOCUMENT)}`);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function judge(filters: readonly string[]): Answer[] {
  const run = spawnSync('bash', ['--noprofile', '--norc', '-c', JUDGE], {
    cwd: directory,
    input: filters.map((filter) => `${filter}\0`).join(''),
    env: { PATH: process.env.PATH, HOME: directory, LC_ALL: 'C.UTF-8', LIMIT: '1' },
    encoding: 'utf8',
    timeout: 110_000,
  });
  const parts = run.stdout.split('\u001e');
  return filters.map((filter, index) => {
    const [status = -1, bytes = -1] = (parts[index] ?? '').split(' ').map(Number);
    return { filter, status, bytes };
  });
}

function accepted(make: (next: () => number) => string, seed: number, tries: number): string[] {
  const next = random(seed);
  const found = new Set<string>();
  for (let left = tries; left > 0; left -= 1) {
    const filter = make(next);
    if (jqFilter(filter)) found.add(filter);
  }
  return [...found];
}

const MAKERS = { 'of the grammar': wellFormed, 'of the grammar, damaged': damaged, 'of loose tokens': soup } as const;
const TRIES = { 'of the grammar': 160, 'of the grammar, damaged': 1_800, 'of loose tokens': 1_100 } as const;
/** Its own ways to end: an answer, "no such program" (2 for what is no UTF-8, 3), an error in the values (5). */
const ENDS = [0, 2, 3, 5];

for (const kind of ['of the grammar', 'of the grammar, damaged', 'of loose tokens'] as const) {
  test(`every accepted filter ${kind} ends at once in the real jq, with little to say`, { timeout: 120_000 }, () => {
    const filters = accepted(MAKERS[kind], 4_211, TRIES[kind]);
    expect(filters.length).toBeGreaterThan(100);
    const answers = judge(filters);
    expect(answers.filter(({ status }) => !ENDS.includes(status))).toEqual([]);
    expect(answers.filter(({ bytes }) => bytes < 0 || bytes > MOST_BYTES)).toEqual([]);
    const read = answers.filter(({ status }) => status === 0 || status === 5);
    expect(read.length / answers.length).toBeGreaterThan(0.7);
    expect(readdirSync(directory).sort()).toEqual(['doc', 'err', 'out']);
  });
}

test('every builtin that the parser knows is one of the real jq', () => {
  const run = spawnSync('jq', ['-n', '-c', 'builtins'], { encoding: 'utf8' });
  const known = new Set<string>(JSON.parse(run.stdout));
  const ours = [
    ...PLAIN.filter((name) => !name.startsWith('@')).map((name) => `${name}/0`),
    ...TAKING.map((name) => `${name}/1`),
  ];
  expect(ours.filter((name) => !known.has(name))).toEqual([]);
});

test('the judge would have noticed: filters that loop or fill the memory, given past the parser', {
  timeout: 60_000,
}, () => {
  const endless = ['last(repeat(1))', '"a" | indices("")', 'last(range(infinite))'];
  expect(endless.filter(jqFilter)).toEqual([]);
  const ended = judge(endless).filter(({ status }) => ENDS.includes(status));
  expect(ended).toEqual([]);
});
