import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { exportRules } from '../../src/classifier/rule-set.ts';
import type { SignalboxError } from '../../src/errors.ts';
import { type LoadOptions, loadRules } from '../../src/rules/load.ts';
import { answer, fileWith, option, PROFILES } from '../rules/fixture.ts';

let directory: string;
let users: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-rules-'));
  users = join(directory, 'users');
  mkdirSync(users);
  write('profiles.json', PROFILES);
  write('tool.json', fileWith());
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function write(name: string, data: unknown): string {
  const path = join(directory, name);
  writeFileSync(path, typeof data === 'string' ? data : JSON.stringify(data));
  return path;
}

function messageOf(options: LoadOptions = {}): string {
  try {
    loadRules({ directory, ...options });
  } catch (error) {
    expect((error as SignalboxError).code).toBe('RULES_INVALID');
    return (error as Error).message;
  }
  return 'fine';
}

test("the package's own rules load, and answer", () => {
  const rules = loadRules();
  expect(rules.names).toContain('ls');
  expect(rules.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(answer(rules, 'ls -la')).toBe('parallel');
  expect(answer(rules, 'nobody')).toBe('COMMAND_UNKNOWN');
});

describe('a set from a directory', () => {
  test('holds every file in it, under each name, and leaves examples behind', () => {
    write(
      'two.json',
      fileWith({
        binary: 'two',
        also: ['deux'],
        examples: { parallel: ['deux x'], serial: [{ command: 'two --x', code: 'OPTION_UNKNOWN' }] },
      }),
    );
    write('notes.txt', 'not a rule');
    mkdirSync(join(directory, 'proposed'));
    write('proposed/two.json', '{');
    const rules = loadRules({ directory });
    expect(rules.names).toEqual(['deux', 'tool', 'two']);
    expect(JSON.stringify(exportRules(rules))).not.toContain('examples');
    expect(classify('deux x', { rules })).toMatchObject({
      rule: [{ binary: 'two', path: 'deux', origin: 'built-in' }],
    });
  });

  test('has a hash of what it says, not of how it is written', () => {
    const { hash } = loadRules({ directory });
    const { command, ...rest } = fileWith();
    write('tool.json', `\n${JSON.stringify({ command, ...rest }, null, 4)}\n`);
    expect(loadRules({ directory }).hash).toBe(hash);
    write('tool.json', fileWith({ portable: false }));
    expect(loadRules({ directory }).hash).not.toBe(hash);
    write('tool.json', fileWith());
    write('profiles.json', { ...PROFILES, assignments: { LANG: ['C'] } });
    expect(loadRules({ directory }).hash).not.toBe(hash);
  });

  test('has a hash of whose the files are', () => {
    const file = fileWith({
      binary: 'two',
      examples: { parallel: ['two'], serial: [{ command: 'two -x', code: 'OPTION_UNKNOWN' }] },
    });
    write('users/two.json', file);
    const theirs = loadRules({ directory, extra: [users] });
    write('two.json', file);
    const ours = loadRules({ directory });
    expect(theirs.names).toEqual(ours.names);
    expect(theirs.hash).not.toBe(ours.hash);
  });

  test('proves experimental binaries when they are asked for, and retired ones never', () => {
    const maturities = ['experimental', 'retired'] as const;
    for (const maturity of maturities) {
      const examples = {
        parallel: [maturity],
        serial: [{ command: `${maturity} -x`, code: 'OPTION_UNKNOWN' as const }],
      };
      write(`${maturity}.json`, fileWith({ binary: maturity, maturity, examples }));
    }
    expect(loadRules({ directory }).names).toEqual(['tool']);
    expect(loadRules({ directory, experimental: [...maturities] }).names).toEqual(['experimental', 'tool']);
  });
});

describe('a bad file means no rules', () => {
  test('whatever is wrong with it, the message names the file and the place', () => {
    const path = write('bad.json', '{');
    expect(messageOf()).toContain(`${path}: expected JSON, got `);
    write('bad.json', '{"a":1,"a":2}');
    expect(messageOf()).toBe(`${path} at /a: expected each key once, but this one stands twice`);
    write('bad.json', fileWith({ binary: 'Bad' }));
    expect(messageOf()).toContain(`${path} at /binary: expected a bare lower-case name`);
    write('bad.json', fileWith({ binary: 'bad', profile: 'loud' }));
    expect(messageOf()).toBe(`${path} at /profile: expected a profile of profiles.json, got "loud"`);
  });

  test('also when one of its own examples is not as stated', () => {
    const examples = {
      parallel: ['bad x', 'bad -x'],
      piped: ['bad'],
      serial: [
        { command: 'bad --x', code: 'OPTION_UNKNOWN' as const },
        { command: 'bad y', code: 'OPERAND_REFUSED' as const },
      ],
    };
    const path = write('bad.json', fileWith({ binary: 'bad', examples }));
    expect(messageOf().split('\n')).toEqual([
      `${path} at /examples/parallel/1: expected parallel for "bad -x", got OPTION_UNKNOWN`,
      `${path} at /examples/piped/0: expected STDIN_READ for "bad", got parallel`,
      `${path} at /examples/serial/1: expected OPERAND_REFUSED for "bad y", got parallel`,
    ]);
  });

  test('an example behind a pipe is asked both ways', () => {
    const examples = {
      parallel: ['inner f'],
      piped: ['inner'],
      serial: [{ command: 'inner', code: 'STDIN_READ' as const }],
    };
    write(
      'inner.json',
      fileWith({ binary: 'inner', command: { stdin: 'unless-operand', operands: ['path*'] }, examples }),
    );
    expect(messageOf()).toBe('fine');
    write(
      'inner.json',
      fileWith({
        binary: 'inner',
        command: { stdin: 'unless-operand', operands: ['path+'] },
        examples: { ...examples, serial: [{ command: 'inner', code: 'OPERAND_MISSING' }] },
      }),
    );
    expect(messageOf()).toContain('at /examples/piped/0: expected STDIN_READ for "inner", got OPERAND_MISSING');
  });

  test('examples of a binary without meaning outside pipes are asked behind one', () => {
    const examples = {
      parallel: ['inner f'],
      piped: ['inner'],
      serial: [{ command: 'inner -x', code: 'OPTION_UNKNOWN' as const }],
    };
    write('inner.json', fileWith({ binary: 'inner', only: 'compound', command: { stdin: 'always' }, examples }));
    expect(messageOf()).toBe('fine');
  });

  test('two files about one binary, or one name', () => {
    const path = write('again.json', fileWith());
    expect(messageOf()).toMatch(/at \/binary: expected one file for "tool", got another in /);
    rmSync(path);
    write(
      'other.json',
      fileWith({
        binary: 'other',
        also: ['tool'],
        examples: { parallel: ['other'], serial: [{ command: 'other -x', code: 'OPTION_UNKNOWN' }] },
      }),
    );
    expect(messageOf()).toContain('already has a rule, of ');
  });

  test('no profiles, or no directory', () => {
    expect(messageOf({ directory: join(directory, 'none') })).toContain('expected a readable file or directory');
    rmSync(join(directory, 'profiles.json'));
    expect(messageOf()).toContain('profiles.json: expected a readable file or directory');
  });

  test('an override where nothing is overridden', () => {
    write('tool.json', fileWith({ override: true }));
    expect(messageOf()).toContain('at /override: expected no override here');
    write('tool.json', fileWith({ command: { options: { '-a': { ...option(), override: true } } } }));
    expect(messageOf()).toContain('at /command/options/-a/override: expected no override here');
  });
});

describe('files of users', () => {
  const two = (given = {}) =>
    fileWith({
      binary: 'two',
      examples: { parallel: ['two'], serial: [{ command: 'two -x', code: 'OPTION_UNKNOWN' }] },
      ...given,
    });

  test('add binaries, by file or by directory', () => {
    const path = write('users/two.json', two());
    for (const extra of [[users], [path]]) {
      const rules = loadRules({ directory, extra });
      expect(rules.names).toEqual(['tool', 'two']);
      expect(classify('two', { rules })).toMatchObject({ rule: [{ origin: 'user' }] });
      expect(classify('tool', { rules })).toMatchObject({ rule: [{ origin: 'built-in' }] });
    }
  });

  test('are held against their examples as ours are', () => {
    write(
      'users/two.json',
      two({ examples: { parallel: ['two -x'], serial: [{ command: 'two', code: 'STDIN_READ' }] } }),
    );
    expect(messageOf({ extra: [users] })).toContain('expected parallel for "two -x", got OPTION_UNKNOWN');
  });

  test('are about one binary each', () => {
    write('users/two.json', two());
    expect(messageOf({ extra: [users, join(users, 'two.json')] })).toContain(
      'expected one file for "two", got another in ',
    );
    expect(messageOf({ extra: [join(users, 'none.json')] })).toContain('none.json: expected a readable file');
  });

  test('may take a name of none of ours', () => {
    write('users/two.json', two({ also: ['tool'] }));
    expect(messageOf({ extra: [users] })).toContain('"tool" already has a rule, of tool');
    write('users/two.json', two({ override: true }));
    expect(messageOf({ extra: [users] })).toContain('at /override: expected no override here');
  });

  test('take the place of a built-in file when they say less', () => {
    write('users/tool.json', fileWith({ command: { operands: ['word*'] } }));
    const rules = loadRules({ directory, extra: [users] });
    expect(classify('tool x', { rules })).toMatchObject({ rule: [{ origin: 'user' }] });
    expect(answer(rules, "tool ''")).toBe('OPERAND_REFUSED');
  });

  test('say more only with an override, which shows in the verdicts that rest on it', () => {
    write('users/tool.json', fileWith({ command: { options: { '-x': option() } } }));
    expect(messageOf({ extra: [users] })).toContain(
      'at /command/options: expected nothing that the built-in rule does not permit',
    );
    write('users/tool.json', fileWith({ command: { options: { '-x': { ...option(), override: true } } } }));
    const rules = loadRules({ directory, extra: [users] });
    expect(classify('tool -x', { rules })).toMatchObject({ kind: 'parallel', rule: [{ origin: 'override' }] });
    expect(classify('tool', { rules })).toMatchObject({ kind: 'parallel', rule: [{ origin: 'user' }] });
  });
});

test('an experimental file that a caller names is asked for by that', () => {
  const file = write(
    'users/madeup.json',
    fileWith({
      ...{ binary: 'madeup', maturity: 'experimental' },
      examples: { parallel: ['madeup'], serial: [{ command: 'madeup --none', code: 'OPTION_UNKNOWN' }] },
    }),
  );
  expect(classify('madeup', { rules: loadRules() })).toMatchObject({ reason: { code: 'COMMAND_UNKNOWN' } });
  expect(loadRules({ extra: [file] }).names).toContain('madeup');
});
