import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { explain } from '../../src/classifier/explain.ts';
import { exportRules, type RuleSet, restoreRules } from '../../src/classifier/rule-set.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { Never } from '../../src/rules/never-schema.ts';
import { readNever, rulePathsOf } from '../../src/rules/sources.ts';
import { fileWith } from '../rules/fixture.ts';

const built = fileURLToPath(new URL('../../rules/', import.meta.url));
const rules = loadRules();
const names = Object.keys(readNever(built));

const top = mkdtempSync(join(tmpdir(), 'signalbox-never-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** The same rules without any note on names. */
function without(ruleSet: RuleSet): RuleSet {
  return restoreRules({ ...exportRules(ruleSet), never: {} });
}

let directories = 0;
/** A directory with profiles, the names of a never file, and rule files. */
function directoryWith(never: unknown, ...files: readonly ReturnType<typeof fileWith>[]): string {
  const directory = join(top, `rules-${directories++}`);
  mkdirSync(directory);
  writeFileSync(join(directory, 'profiles.json'), readFileSync(join(built, 'profiles.json')));
  if (never !== undefined) writeFileSync(join(directory, 'never.json'), JSON.stringify(never));
  for (const file of files) writeFileSync(join(directory, `${file.binary}.json`), JSON.stringify(file));
  return directory;
}

const NEVER: Never = { schema: 1, names: { 'tool, other': 'writes whatever it is asked' } };
const said = (verdict: Verdict) => (verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code);
const ask = (ruleSet: RuleSet, command: string) => said(classify(command, { rules: ruleSet }));

describe('the names of never.json', () => {
  test('hold the wrappers, the languages and the writers that everybody asks about', () => {
    const asked = ['timeout', 'time', 'nice', 'nohup', 'watch', 'sudo', 'awk', 'less', 'man', 'ssh', 'make'];
    expect(names).toEqual(expect.arrayContaining([...asked, 'npx', 'yarn', 'tee', 'dd', 'cp', 'mv', 'rm', 'java']));
  });

  test.each(names)('%s is serial, and the reason says what it does', (name) => {
    const verdict = classify(`${name} x`, { rules });
    // These two are words of the grammar: the lexer stops there, and what is known is said all the same.
    const isKeyword = ['time', 'coproc'].includes(name);
    const code = isKeyword ? 'TEXT_KEYWORD' : 'COMMAND_REFUSED';
    expect(verdict).toMatchObject({
      kind: 'serial',
      reason: { code, knowledge: 'known-unsafe', span: [0, name.length] },
    });
    expect(explain(verdict, `${name} x`).message).toContain(`known to be unsafe: ${readNever(built)[name]}`);
  });

  test('are told by their spelling alone: in quotes, in capitals or as a path they are no names', () => {
    for (const spelling of ["'sudo'", 's\\udo', '/usr/bin/sudo'])
      expect(ask(rules, spelling)).toBe('COMMAND_NOT_PLAIN');
    for (const spelling of ['SUDO', 'sud', 'constructor', '__proto__'])
      expect(ask(rules, spelling)).toBe('COMMAND_UNKNOWN');
  });

  test('explain and never decide: without them every vector and every name is on the same side', () => {
    const bare = without(rules);
    const lines = ['hostile', 'parallel'].flatMap((name) =>
      readFileSync(new URL(`../vectors/${name}.jsonl`, import.meta.url), 'utf8')
        .trim()
        .split('\n'),
    );
    const vectors = lines.map((line): string => JSON.parse(line).cmd);
    const commands = [...vectors, ...names, ...names.flatMap((name) => [`${name} --version`, `${name} README.md`])];
    expect(commands.length).toBeGreaterThan(1500);
    for (const command of commands) {
      expect([command, classify(command, { rules: bare }).kind]).toEqual([command, classify(command, { rules }).kind]);
    }
    expect(ask(bare, 'sudo ls')).toBe('COMMAND_UNKNOWN');
  });

  test('are part of the hash', () => {
    const [one, other, none] = [NEVER, { ...NEVER, names: { tool: 'locks whatever it is asked' } }, undefined].map(
      (never) => loadRules({ directory: directoryWith(never) }).hash,
    );
    expect(new Set([one, other, none]).size).toBe(3);
  });
});

describe('a never file', () => {
  test('is no rule file, and need not be there', () => {
    expect(rulePathsOf(built).some((path) => path.endsWith('never.json'))).toBe(false);
    expect(ask(loadRules({ directory: directoryWith(undefined, fileWith()) }), 'tool')).toBe('parallel');
  });

  test.each([
    [
      'a name that is none',
      { schema: 1, names: { 'sudo, /bin/su': 'runs a command as another user' } },
      'a bare lower-case',
    ],
    ['a reason that is none', { schema: 1, names: { sudo: 'unsafe' } }, 'at least 8 characters'],
    [
      'a name that stands twice',
      { schema: 1, names: { 'a, b': 'runs a command', 'b, c': 'writes a file' } },
      'each name once',
    ],
    ['a key that nobody knows', { ...NEVER, regexps: [] }, 'no key of this name'],
  ])('does not load with %s', (_, never, message) => {
    expect(() => loadRules({ directory: directoryWith(never) })).toThrow(message);
  });

  test.each([
    ['as its binary', fileWith()],
    ['as another name of it', fileWith({ binary: 'mine', also: ['other'] })],
    ['even a retired one', fileWith({ maturity: 'retired' })],
  ])('names nothing that has a rule file %s', (_, file) => {
    expect(() => loadRules({ directory: directoryWith(NEVER, file) })).toThrow('stands in never.json');
  });

  test("gives a name to a user's file only with override, and every verdict shows that", () => {
    const directory = directoryWith(NEVER);
    const load = (file: ReturnType<typeof fileWith>) =>
      loadRules({ directory, extra: [directoryWith(undefined, file)] });
    expect(() => load(fileWith())).toThrow('stands in never.json');
    const ruleSet = load(fileWith({ override: true }));
    expect(classify('tool', { rules: ruleSet })).toMatchObject({ kind: 'parallel', rule: [{ origin: 'override' }] });
    expect(ask(ruleSet, 'other')).toBe('COMMAND_REFUSED');
    expect(() => load(fileWith({ binary: 'mine', override: true }))).toThrow('expected no override here');
  });
});

test('explains a command that may not be handed on, where its name is known', () => {
  const compound = { rules, mode: 'compound', secondReading } as const;
  for (const name of ['rm', 'sh', 'tee']) {
    expect(classify(`ls | xargs ${name}`, compound)).toMatchObject({
      reason: { code: 'DELEGATE_REFUSED', knowledge: 'known-unsafe' },
    });
  }
  for (const name of ['nobody-knows', 'tac', "'rm'"]) {
    expect(classify(`ls | xargs ${name}`, compound)).toMatchObject({
      reason: { code: 'DELEGATE_REFUSED', knowledge: 'unrecognised' },
    });
  }
});
