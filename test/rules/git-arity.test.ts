import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namesOf, spellingsOf } from '../../src/classifier/usage.ts';
import type { RuleFile, RuleNode, RuleOption } from '../../src/rules/schema.ts';
import { type Fixture, makeFixture } from '../proof/fixture.ts';
import { UNPRIVILEGED } from '../support/strace.ts';

/**
 * The real git is asked, option by option, whether it takes the next word as a value. An option that takes it where the
 * rule says otherwise could make `--output=x` a value for one reader and an option for the other. Behind the option stands
 * a word that git does not know: where git complains of it as it does without the option, it was not taken.
 */

const file: RuleFile = JSON.parse(readFileSync(new URL('../../rules/git.json', import.meta.url), 'utf8'));
const STRANGER = '--signalbox-stranger';

/** What a command needs besides, to get as far as reading its options. */
const OPERANDS: Readonly<Record<string, readonly string[]>> = {
  'git blame': ['a.txt'],
  'git grep': ['x'],
  'git check-ignore': ['a.txt'],
  'git remote get-url': ['origin'],
  'git remote show': ['origin'],
  'git annotate': ['a.txt'],
  'git check-attr': ['text', 'a.txt'],
  'git check-ref-format': ['main'],
  'git hash-object': ['a.txt'],
  'git verify-pack': ['a.txt'],
  'git bundle verify': ['a.txt'],
  'git range-diff': ['HEAD~1...HEAD'],
  ...Object.fromEntries(
    [
      'ls-tree',
      'cat-file',
      'merge-base',
      'shortlog',
      'rev-list',
      'diff-tree',
      'diff-index',
      'symbolic-ref',
      'name-rev',
    ].map((name) => [`git ${name}`, ['HEAD']]),
  ),
};

/** A value that git accepts, by kind; and by option where the kind says too little. */
const OF_KIND: Readonly<Record<string, string>> = {
  number: '3',
  word: 'x',
  text: 'x',
  pattern: 'x',
  path: 'a.txt',
  revision: 'HEAD',
  'log-format': '%h',
  'ref-format': '%(refname)',
  'tree-format': '%(path)',
  'sort-key': 'refname',
};
const OF_OPTION: Readonly<Record<string, string>> = {
  '--stat': '80,40',
  '-X': 'lines',
  '--dirstat': 'files',
  '--dirstat-by-file': 'lines',
  '-M': '90%',
  '--find-renames': '50%',
  '-C': '50%',
  '--find-copies': '50%',
  '-B': '50%/50%',
  '--break-rewrites': '50%',
  '--color-moved-ws': 'no',
  '--ws-error-highlight': 'all',
  '--date': 'iso',
  '--column': 'always',
  '-L': '1,1:a.txt',
  '--relative': 'src',
  '--diff-filter': 'AM',
  '--encoding': 'UTF-8',
  '--notes': 'commits',
  '--disambiguate': 'abcd',
};

/** Where the same letter means something else. */
const OF_PLACE: Readonly<Record<string, string>> = { 'git blame -L': '1,1' };

/**
 * Where git takes the next word although the rule reads it as an operand. A shape that asks for the option asks for that
 * word too, and the option keeps git from creating anything, whatever the word is.
 */
const TAKES_A_COMMIT: ReadonlySet<string> = new Set([
  ...['branch', 'tag', 'for-each-ref'].flatMap((name) =>
    ['--contains', '--no-contains', '--merged', '--no-merged'].map((option) => `git ${name} ${option}`),
  ),
  'git tag --points-at',
]);

/** git refuses the combination before it comes to the stranger; what it takes is shown by the other nodes of the group. */
const CONFLICTS = [
  'cannot be used together',
  'cannot combine',
  'cannot walk reflogs',
  'requires exactly one pathspec',
  'makes no sense without',
  "requires '--walk-reflogs'",
  'invalid option: --merge-base',
  'usage: git diff [<options>]',
];

/** rev-parse prints what it does not know; these options change what it prints, and take nothing (rev-parse.c, 2.39). */
const UNSEEN: ReadonlySet<string> = new Set(
  ['--verify', '--revs-only', '--no-flags', '--sq', '--short'].map((name) => `git rev-parse ${name}`),
);

/** One function of builtin/log.c reads the options of these and of git log; stash list starts git log itself. */
const SAME_AS_LOG: ReadonlySet<string> = new Set(['git show', 'git whatchanged', 'git reflog show', 'git stash list']);

let repository: Fixture;
beforeAll(() => {
  repository = makeFixture({ trapped: false });
});
afterAll(() => repository.remove());

/**
 * The first line of what git complains of, for each list of words; for rev-parse, which prints what it does not know, the
 * last it prints. One bash asks all of them: starting two thousand processes from here would take minutes.
 */
async function answers(questions: readonly (readonly string[])[]): Promise<readonly string[]> {
  const script = questions.map((words) => {
    const command = words.map((word) => `'${word}'`).join(' ');
    return words[1] === 'rev-parse'
      ? `said=$(${command} 2>&1); printf '%s\\0' "\${said##*$'\\n'}"`
      : `said=$(${command} 2>&1 >/dev/null); printf '%s\\0' "\${said%%$'\\n'*}"`;
  });
  const options = {
    cwd: repository.project,
    env: { ...repository.environment, GIT_OPTIONAL_LOCKS: '0' },
    ...UNPRIVILEGED,
  };
  return new Promise((resolve, reject) => {
    const words = ['--noprofile', '--norc', '-c', `exec </dev/null\n${script.join('\n')}`];
    execFile('bash', words, options, (error, stdout) => {
      if (error === null) resolve(stdout.split('\0').slice(0, -1));
      else reject(error);
    });
  });
}

type Placed = { readonly path: string; readonly spelling: string; readonly option: RuleOption };

function* placedOptions(node: RuleNode, path: string): Generator<Placed> {
  const tables = [...(node.use ?? []).map((group) => file.groups![group]!), node.options ?? {}];
  // The root's own options stand before the subcommand and are tried by the traps.
  if (path !== 'git') {
    for (const [key, option] of tables.flatMap((table) => Object.entries(table))) {
      for (const spelling of spellingsOf(key).flat()) yield { path, spelling, option };
    }
  }
  for (const [key, below] of Object.entries(node.subcommands ?? {})) {
    for (const name of namesOf(key)) yield* placedOptions(below, `${path} ${name}`);
  }
}

/** One thing to ask git, and what is wrong when the answer is not as the rule has it. */
type Question = {
  readonly words: readonly string[];
  readonly wrong: (said: string, complaint: string) => string | null;
};

function questionsAbout({ path, spelling, option }: Placed): readonly Question[] {
  const name = spelling === '-NUMBER' ? '-3' : spelling;
  const about = `${path} ${name}`;
  const known = (said: string, complaint: string) =>
    said === complaint ||
    /(?:unknown option|invalid option|unrecognized argument).*signalbox-stranger/.test(said) ||
    CONFLICTS.some((part) => said.includes(part)) ||
    UNSEEN.has(about);
  const ask = (words: readonly string[], wrong: Question['wrong']): Question => ({ words: asked(path, words), wrong });
  const complains = (text: string) => (said: string, complaint: string) =>
    known(said, complaint) ? null : `${path} ${text}: ${said}`;

  if (TAKES_A_COMMIT.has(about)) {
    return [
      ask([name], (said) => (said.includes('malformed object name') ? null : `${about} no longer takes it: ${said}`)),
    ];
  }
  const spaced = option.takes !== undefined && !option.optional && option.form !== 'joined';
  const questions: Question[] = [];
  if (spaced) questions.push(ask([name], (said, complaint) => (said === complaint ? `${about} takes no value` : null)));
  else if (option.form !== 'joined') questions.push(ask([name], complains(`${name} takes the next word`)));
  if (option.takes === undefined) return questions;

  const value = typeof option.takes === 'string' ? sampleFor(option.takes, path, name) : option.takes[0]!;
  const joined = name.startsWith('--') ? `${name}=${value}` : `${name}${value}`;
  if (option.form !== 'spaced') questions.push(ask([joined], complains(`${joined} is not one word`)));
  if (spaced) questions.push(ask([name, value], complains(`${name} ${value} is not two words`)));
  return questions;
}

const asked = (path: string, words: readonly string[]) => [
  ...path.split(' '),
  ...words,
  STRANGER,
  ...(OPERANDS[path] ?? []),
];

const sampleFor = (kind: string, path: string, name: string) =>
  OF_PLACE[`${path} ${name}`] ?? (kind === 'word' ? OF_OPTION[name] : undefined) ?? OF_KIND[kind]!;

describe('the arity of every option is the one that git gives it', () => {
  const placed = [...placedOptions(file.command, 'git')].filter(({ path }) => !SAME_AS_LOG.has(path));
  const paths = [...new Set(placed.map(({ path }) => path))];

  /** What is wrong about these options of one command, by git's own answers. */
  async function wrongAbout(path: string, options: readonly Placed[]): Promise<readonly string[]> {
    const questions = options.flatMap(questionsAbout);
    const [complaint, ...said] = await answers([asked(path, []), ...questions.map(({ words }) => words)]);
    expect(complaint).toMatch(/signalbox-stranger|^usage: git/);
    expect(said).toHaveLength(questions.length);
    return questions.flatMap((question, index) => question.wrong(said[index]!, complaint!) ?? []);
  }

  test.each(paths)('%s', async (path) => {
    expect(
      await wrongAbout(
        path,
        placed.filter((one) => one.path === path),
      ),
    ).toEqual([]);
  });

  test('a wrong one would be noticed', async () => {
    const doctored: readonly [spelling: string, takes: Partial<RuleOption>][] = [
      ['-U', { takes: 'number' }],
      ['--stat', { takes: 'word', form: 'joined' }],
      ['--patch', { takes: 'word' }],
      ['--word-diff-regex', { takes: 'word', optional: true }],
      ['--word-diff-regex', {}],
      ['--diff-filter', { takes: 'word', form: 'joined' }],
    ];
    const wrong = await Promise.all(
      doctored.map(([spelling, rest]) =>
        wrongAbout('git diff', [{ path: 'git diff', spelling, option: { why: 'wrong on purpose', ...rest } }]),
      ),
    );
    // A value that must be joined is stricter than git, and right: the second and the last.
    expect(wrong.map((lines) => lines.length > 0)).toEqual([true, false, true, true, true, false]);
  });
});
