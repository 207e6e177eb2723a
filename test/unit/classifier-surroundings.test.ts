import { describe, expect, test } from 'vitest';
import { type Allowance, checkAllowance, strictest } from '../../src/classifier/allowance.ts';
import { createClassifier } from '../../src/classifier/classifier.ts';
import { classify } from '../../src/classifier/classify.ts';
import type { ClassifyOptions, RepositoryFinding } from '../../src/classifier/judgement.ts';
import { fileWith, ruleSetWith } from '../rules/fixture.ts';

const rules = ruleSetWith(
  fileWith({ binary: 'plain', command: { observes: ['files'] } }),
  fileWith({ binary: 'read', command: { observes: ['repository'] } }),
  fileWith({ binary: 'start', command: { observes: ['repository'], effects: ['configured-programs'] } }),
  fileWith({ binary: 'index', command: { observes: ['index'] } }),
  fileWith({ binary: 'fetch', command: { observes: ['remote'] } }),
  fileWith({ binary: 'send', command: { effects: ['network'] } }),
  fileWith({ binary: 'ask', command: { observes: ['daemon'] } }),
  fileWith({ binary: 'both', command: { observes: ['daemon', 'remote'] } }),
);

const REPOSITORY = ['plain', 'read', 'start', 'index'];
const READERS = ['plain', 'fetch', 'send', 'ask', 'both'];

function serialOf(names: readonly string[], options: Partial<ClassifyOptions>): readonly string[] {
  return names.filter((name) => classify(`${name} x`, { rules, ...options }).kind === 'serial');
}

describe('what a probe found', () => {
  const finding = (affects: string, detail = 'it is odd'): RepositoryFinding =>
    ({ code: 'REPOSITORY_CONFIGURED', affects, detail }) as RepositoryFinding;
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['every-read', ['read', 'start', 'index']],
    ['configured-programs', ['start']],
    ['index-reads', ['index']],
    // A kind that a later version may bring counts for every read.
    ['made-up', ['read', 'start', 'index']],
  ];
  test.each(cases)('%s: takes the yes of %j', (affects, serial) => {
    expect(serialOf(REPOSITORY, { repository: { findings: [finding(affects)] } })).toEqual(serial);
    for (const name of serial) {
      expect(classify(`${name} x`, { rules, repository: { findings: [finding(affects, 'odd\u0007')] } })).toMatchObject(
        {
          reason: { check: 'environment', code: 'REPOSITORY_CONFIGURED', span: [0, name.length + 2] },
        },
      );
    }
  });

  test('is named when it is the one that counts', () => {
    const findings = [
      { code: 'REPOSITORY_CONFIGURED', affects: 'configured-programs', detail: 'a driver' },
      { code: 'REPOSITORY_STALE', affects: 'index-reads', detail: 'old times' },
      { code: 'REPOSITORY_LAYOUT', affects: 'every-read', detail: 'a bare one' },
    ] as const;
    const told = (name: string) => classify(`${name} x`, { rules, repository: { findings } });
    expect(told('start')).toMatchObject({
      reason: { code: 'REPOSITORY_CONFIGURED', message: expect.stringContaining('a driver') },
    });
    expect(told('index')).toMatchObject({
      reason: { code: 'REPOSITORY_STALE', message: expect.stringContaining('old times') },
    });
    expect(told('read')).toMatchObject({
      reason: { code: 'REPOSITORY_LAYOUT', message: expect.stringContaining('a bare one') },
    });
    expect(told('plain')).toMatchObject({ kind: 'parallel', assumes: [] });
  });

  test('is nothing: nothing is left to assume', () => {
    for (const name of REPOSITORY) {
      expect(classify(`${name} x`, { rules, repository: { findings: [] } }), name).toMatchObject({
        kind: 'parallel',
        assumes: [],
      });
    }
    expect(classify('index x', { rules })).toMatchObject({ assumes: ['repository-plain', 'index-fresh'] });
    expect(classify('read x', { rules })).toMatchObject({ assumes: ['repository-plain'] });
    expect(classify('plain x', { rules })).toMatchObject({ assumes: [] });
  });
});

describe('an allowance', () => {
  const cases: readonly (readonly [Allowance | undefined, readonly string[]])[] = [
    [undefined, []],
    [{}, []],
    [{ network: true, daemon: true }, []],
    [{ network: false }, ['fetch', 'send', 'both']],
    [{ daemon: false }, ['ask', 'both']],
    [{ network: false, daemon: false }, ['fetch', 'send', 'ask', 'both']],
  ];
  test.each(cases)('%j makes serial: %j', (allow, serial) => {
    expect(serialOf(READERS, allow === undefined ? {} : { allow })).toEqual(serial);
  });

  test('names the effect that it refused', () => {
    const told = (name: string, allow: Allowance) => classify(`${name} x`, { rules, allow });
    const refused = (effect: string, name: string) => ({
      reason: {
        check: 'environment',
        code: 'EFFECT_REFUSED',
        span: [0, name.length + 2],
        message: expect.stringContaining(effect),
      },
    });
    expect(told('ask', { daemon: false })).toMatchObject(refused('talks-to-daemon', 'ask'));
    expect(told('both', { daemon: false })).toMatchObject(refused('talks-to-daemon', 'both'));
    expect(told('both', { daemon: false, network: false })).toMatchObject(refused('reads-network', 'both'));
  });

  test('of two, the stricter counts', () => {
    const all = [
      undefined,
      {},
      { network: false },
      { daemon: false },
      { network: false, daemon: false },
      { network: true },
    ];
    for (const one of all) {
      for (const other of all) {
        expect(strictest(one, other)).toEqual({
          network: one?.network !== false && other?.network !== false,
          daemon: one?.daemon !== false && other?.daemon !== false,
        });
      }
    }
    const classifier = createClassifier({ rules, allow: { network: false } });
    const kinds = (allow?: Allowance) =>
      READERS.filter((name) => classifier.classify(name, allow === undefined ? {} : { allow }).kind === 'serial');
    expect(kinds()).toEqual(['fetch', 'send', 'both']);
    expect(kinds({ network: true })).toEqual(['fetch', 'send', 'both']);
    expect(kinds({ daemon: false })).toEqual(['fetch', 'send', 'ask', 'both']);
    expect(createClassifier({ rules }).classify('fetch', { allow: { network: false } }).kind).toBe('serial');
  });

  test('is an object of these two names with true or false', () => {
    const fine: readonly unknown[] = [
      undefined,
      {},
      { network: undefined },
      { daemon: false },
      { network: true, daemon: false },
    ];
    for (const allow of fine) expect(() => checkAllowance(allow)).not.toThrow();
    const misuse: readonly (readonly [unknown, string])[] = [
      [null, 'Expected allow to be an object, got null'],
      [[], 'Expected allow to be an object, got a list'],
      ['network', 'Expected allow to be an object, got a value of type string'],
      [{ netwrok: false }, 'Expected allow to name network or daemon, got "netwrok"'],
      [{ network: 0 }, 'Expected allow.network to be true or false, got a value of type number'],
      [{ network: null }, 'Expected allow.network to be true or false, got null'],
      [{ daemon: [] }, 'Expected allow.daemon to be true or false, got a list'],
    ];
    for (const [allow, message] of misuse) {
      const refusal = expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringContaining(message) });
      expect(() => checkAllowance(allow), message).toThrow(refusal);
      expect(() => classify('plain', { rules, allow: allow as never }), message).toThrow(refusal);
      expect(() => createClassifier({ rules, allow: allow as never }), message).toThrow(refusal);
      const classifier = createClassifier({ rules, allow: { daemon: false } });
      expect(() => classifier.classify('plain', { allow: allow as never }), message).toThrow(refusal);
    }
  });
});

describe('options of a call', () => {
  const thrown = (options: object): string => {
    try {
      classify('plain', { rules, ...options });
    } catch (error) {
      return (error as Error).message;
    }
    return 'nothing thrown';
  };

  test('say what was expected and what came', () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ mode: 'both' }, 'Expected mode to be simple or compound, got `both`'],
      [{ mod: 'compound' }, 'Expected the classifier to be given rules, mode, cwd, env'],
      [{ limits: { maxChar: 5 } }, 'Expected limits to be given maxChars, maxWords, maxParts; got `maxChar`'],
      [{ limits: 5 }, 'Expected the options of limits to be an object'],
      [{ mode: 5 }, 'Expected mode to be simple or compound, got 5'],
      [{ mode: null }, 'Expected mode to be simple or compound, got a value of type object'],
      [{ env: null }, 'Expected env to be an object of names and values'],
      [{ env: 'A=1' }, 'Expected env to be an object of names and values'],
      [{ repository: null }, 'Expected repository to be what a probe answered'],
      [{ repository: {} }, 'Expected repository to be what a probe answered'],
      [{ repository: { findings: [null] } }, 'Expected repository to be what a probe answered'],
      [{ repository: { findings: [{ code: 'REPOSITORY_STALE' }] } }, 'Expected repository to be what a probe answered'],
      [
        { repository: { findings: [{ code: 'TEXT_EMPTY', detail: 'x' }] } },
        'Expected repository to be what a probe answered',
      ],
      [
        {
          repository: {
            findings: [
              { code: 'REPOSITORY_STALE', detail: 'x' },
              { code: 'x', detail: 'x' },
            ],
          },
        },
        'Expected repository to be what a probe answered',
      ],
      [{ roots: '/x' }, 'Expected roots to be a list of absolute paths'],
      [{ roots: ['x'] }, 'Expected roots to be a list of absolute paths'],
      [{ roots: ['/x', 'y'] }, 'Expected roots to be a list of absolute paths'],
      [{ roots: ['/x', 5] }, 'Expected roots to be a list of absolute paths'],
      [{ roots: null }, 'Expected roots to be a list of absolute paths'],
      [{ homeDirectory: 'x' }, 'Expected homeDirectory to be an absolute path'],
      [{ homeDirectory: null }, 'Expected homeDirectory to be an absolute path'],
      [{ cwd: 'x' }, 'Expected cwd to be an absolute path, got `x`'],
      [{ cwd: '' }, 'Expected cwd to be an absolute path, got ``'],
      [{ cwd: 5 }, 'Expected cwd to be an absolute path, got 5'],
      [{ cwd: null }, 'Expected cwd to be an absolute path, got a value of type object'],
      [{ limits: { maxChars: 0 } }, 'Expected limits.maxChars to be a positive integer, got 0'],
      [{ limits: { maxWords: 1.5 } }, 'Expected limits.maxWords to be a positive integer, got 1.5'],
      [{ limits: { maxParts: '5' } }, 'Expected limits.maxParts to be a positive integer, got `5`'],
      [{ limits: { maxParts: -1 } }, 'Expected limits.maxParts to be a positive integer, got -1'],
    ];
    for (const [options, message] of cases) expect(thrown(options), JSON.stringify(options)).toContain(message);
    for (const fine of [
      { mode: 'simple' },
      { mode: undefined, env: undefined, repository: undefined, roots: undefined, allow: undefined, cwd: undefined },
      { limits: undefined },
      { limits: { maxChars: undefined, maxWords: 1 } },
      { roots: [] },
      { roots: ['/x'], env: {}, cwd: '/', homeDirectory: '/home' },
    ])
      expect(thrown(fine), JSON.stringify(fine)).toBe('nothing thrown');
  });

  test('a directory is taken as it is written, and normalised where it has to be', () => {
    const device = (cwd: string) => classify('plain x', { rules, cwd }).kind === 'serial';
    for (const cwd of [
      '/dev',
      '/dev/',
      '/dev/shm',
      '//dev',
      '/./dev',
      '/x/../proc',
      '/sys//x',
      '/../dev',
      '/x/../dev/',
    ])
      expect(device(cwd), cwd).toBe(true);
    for (const cwd of ['/', '/devx', '/x/dev', '/dev/..', '/dev/../x', '/.dev', '/de', '/x/./dev'])
      expect(device(cwd), cwd).toBe(false);
  });

  test('a variable is known with the value that the profile sets, or one that may stand before a command', () => {
    const quiet = ruleSetWith(fileWith({ profile: 'quiet' }));
    const told = (env: Record<string, string>) => {
      const verdict = classify('tool x', { rules: quiet, env });
      return verdict.kind === 'parallel' ? 'parallel' : `${verdict.reason.code} ${verdict.reason.message}`;
    };
    expect(told({})).toBe('parallel');
    expect(told({ QUIET: '1', PAGER: 'cat', LANG: 'C' })).toBe('parallel');
    expect(told({ LANG: '' })).toBe('parallel');
    expect(told({ QUIET: '2' })).toMatch(/^VARIABLE_UNKNOWN .*`QUIET`/);
    expect(told({ QUIET: '1', WHERE: 'x' })).toMatch(/^VARIABLE_UNKNOWN .*`WHERE`/);
    expect(told({ LANG: 'C.UTF-8' })).toMatch(/^VARIABLE_UNKNOWN .*`LANG`/);
    expect(told({ toString: 'x', constructor: 'y' })).toMatch(/^VARIABLE_UNKNOWN/);
  });
});
