import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { namesOf, spellingsOf } from '../../src/classifier/usage.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleFile, RuleNode } from '../../src/rules/schema.ts';
import { type Fixture, makeFixture } from '../proof/fixture.ts';
import { UNPRIVILEGED } from '../support/strace.ts';

/**
 * Options of a node in any order, with values and with words that mean harm in another place. What the rule accepts of it
 * is run, and must leave the repository as it was. So found with a rule that had these holes: an option behind the operand
 * of `git config`, which is a value to set.
 */

const SEED = 20_261_130;
const ACCEPTED = 400;
const IN_ONE_GO = 50;
const MOST_WORDS = 5;

/** Each is harmless somewhere, and writes or runs something elsewhere. */
const HARMFUL_ELSEWHERE =
  '--output=written --output written -L -S -n --decorate-refs --author --format -- -D -d -f -m -c -C -O new HEAD a.txt main ' +
  '--ext-diff --stdin --src-prefix -p x 3 -e v1.0 stash@{0} --merged --list --add --local --global a.b get list set --unset ' +
  '--sort --contains --points-at --edit --get';
const STRANGERS: readonly string[] = HARMFUL_ELSEWHERE.split(' ');
const VALUES = ['x', '3', 'HEAD', 'a.txt', '%h', '1,1:a.txt', 'refname'];

const rules = loadRules();
const file: RuleFile = JSON.parse(readFileSync(new URL('../../rules/git.json', import.meta.url), 'utf8'));

type Vocabulary = { readonly path: string; readonly words: readonly string[] };

function* vocabularies(node: RuleNode, path: string): Generator<Vocabulary> {
  const tables = [...(node.use ?? []).map((group) => file.groups![group]!), node.options ?? {}];
  const words = tables.flatMap((table) =>
    Object.entries(table).flatMap(([key, { takes }]) =>
      spellingsOf(key)
        .flat()
        .map((spelling) => (spelling === '-NUMBER' ? '-3' : spelling))
        .flatMap((name) => {
          const values = takes === undefined ? [] : typeof takes === 'string' ? VALUES : takes;
          return [name, ...values.map((value) => (name.startsWith('--') ? `${name}=${value}` : `${name}${value}`))];
        }),
    ),
  );
  if (path !== 'git') yield { path, words };
  for (const [key, below] of Object.entries(node.subcommands ?? {})) {
    for (const name of namesOf(key)) yield* vocabularies(below, `${path} ${name}`);
  }
}

/** Numbers below a bound, the same each time (mulberry32). */
function dice(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** Without end: commands that the rule accepts. */
function* acceptedCommands(): Generator<{ readonly command: string; readonly argv: readonly string[] }> {
  const nodes = [...vocabularies(file.command, 'git')];
  const below = dice(SEED);
  const oneOf = <Item>(list: readonly Item[]): Item => list[below(list.length)]!;
  for (;;) {
    const { path, words } = oneOf(nodes);
    const chosen = Array.from({ length: 1 + below(MOST_WORDS) }, () =>
      words.length === 0 || below(2) === 0 ? oneOf(STRANGERS) : oneOf(words),
    );
    const command = [path, ...chosen.map((word) => (/^[\w@{}+.,:=/-]+$/.test(word) ? word : quoted(word)))].join(' ');
    const verdict = classify(command, { rules });
    if (verdict.kind === 'parallel' && verdict.run.form === 'argv') yield { command, argv: verdict.run.argv };
  }
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

let repository: Fixture;
beforeAll(() => {
  repository = makeFixture({ trapped: false });
});
afterAll(() => repository.remove());

/** As the dispatcher would: these words, this environment, no standard input. */
function runAll(commands: readonly (readonly string[])[]): void {
  const verdict = classify('git status', { rules });
  if (verdict.kind !== 'parallel' || verdict.run.form !== 'argv') throw new Error('git status is run from argv');
  const script = commands.map((argv) => `${argv.map(quoted).join(' ')} >/dev/null 2>&1`).join('\n');
  const options = { cwd: repository.project, env: { ...repository.environment, ...verdict.run.env }, ...UNPRIVILEGED };
  execFileSync('bash', ['--noprofile', '--norc', '-c', `exec </dev/null\n${script}\nexit 0`], options);
}

describe('any command that the git rule accepts', () => {
  test(`leaves the repository as it was: ${ACCEPTED} of them`, () => {
    const before = repository.fingerprint();
    const source = acceptedCommands();
    for (let count = 0; count < ACCEPTED; count += IN_ONE_GO) {
      const some = Array.from({ length: IN_ONE_GO }, () => source.next().value!);
      runAll(some.map(({ argv }) => argv));
      const after = repository.fingerprint();
      expect(after, `one of:\n${some.map(({ command }) => command).join('\n')}`).toBe(before);
    }
  });

  test('where a command writes, it is noticed', () => {
    const before = repository.fingerprint();
    runAll([['git', 'config', 'a.b', '--local']]);
    expect(repository.fingerprint()).not.toBe(before);
  });
});
