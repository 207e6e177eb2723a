import { describe, expect, test } from 'vitest';
import * as library from '../../src/index.ts';

/**
 * Every function of the library, given what it cannot take, answers with an error of the one class that says what was
 * expected; what takes anything is listed as such. A new export has to be put into one of the lists.
 */

const BAD: readonly unknown[] = [null, 3, Symbol('x'), [], { nope: 1 }];
const NO_TEXT = BAD.filter((value) => value !== null);

const rules = library.loadRules();
const any = (value: unknown): never => value as never;

type Misused = readonly [call: (bad: unknown) => unknown, bad?: readonly unknown[]];

const MISUSED: Readonly<Record<string, Misused | readonly Misused[]>> = {
  classify: [(bad) => library.classify('ls', any(bad))],
  judge: [(bad) => library.judge('ls', any(bad))],
  createClassifier: [(bad) => library.createClassifier(any(bad))],
  createDispatcher: [(bad) => library.createDispatcher(any(bad))],
  createJudge: [(bad) => library.createJudge(any(bad))],
  createProbingJudge: [
    [(bad) => library.createProbingJudge(any(bad), { probe: library.probeRepository, environment: {} })],
    [(bad) => library.createProbingJudge(library.createJudge(rules), any(bad))],
  ],
  createRepositoryProbe: [(bad) => library.createRepositoryProbe(any(bad)), [null, 3, { nope: 1 }]],
  createSlots: [
    [(bad) => library.createSlots(any(bad))],
    [(bad) => library.createSlots({ limit: 1 }).pool(any(bad)), [null, 0, 1.5, 'x']],
  ],
  explain: [
    [(bad) => library.explain(any(bad), any(bad))],
    [(bad) => library.explain(library.classify('ls', { rules }), any(bad))],
  ],
  renderExplanation: [(bad) => library.renderExplanation(any(bad))],
  exportRules: [(bad) => library.exportRules(any(bad))],
  restoreRules: [(bad) => library.restoreRules(any(bad))],
  loadRules: [
    [(bad) => library.loadRules(any(bad)), [null, 3, 'x', { nope: 1 }]],
    [(bad) => library.loadRules({ extra: any(bad) }), [null, 3, 'x', [3], { nope: 1 }]],
    [(bad) => library.loadRules({ directory: any(bad) }), NO_TEXT],
    [(bad) => library.loadRules({ experimental: any(bad) }), [null, 3, 'strings', [3], ['nope']]],
  ],
  profilesOf: [(bad) => library.profilesOf(any(bad))],
  safeEnvironment: [
    [(bad) => library.safeEnvironment(any(bad), {})],
    [(bad) => library.safeEnvironment('git', any(bad)), [null, 3, 'x']],
    [(bad) => library.safeEnvironment('git', {}, any(bad)), [null, 3, 'x', { nope: 1 }]],
    [() => library.safeEnvironment('nobody', {}), [null]],
  ],
  probePlatform: [(bad) => library.probePlatform(any(bad)), NO_TEXT],
  probeRepository: [
    [(bad) => library.probeRepository(any(bad))],
    [(bad) => library.probeRepository('/', any(bad)), [null, 3, { nope: 1 }]],
    [(bad) => library.probeRepository('/', { environment: any(bad) }), [null, 3]],
  ],
  pathKey: [[(bad) => library.pathKey(any(bad))], [(bad) => library.pathKey('x', any(bad)), NO_TEXT]],
  fileLockKey: [(bad) => library.fileLockKey(any(bad))],
  workspaceKeys: [(bad) => library.workspaceKeys(any(bad))],
  schedule: [(bad) => library.schedule(any(bad))],
  KeyedLock: [
    [(bad) => new library.KeyedLock(any(bad)), [null, 3, { nope: 1 }]],
    [(bad) => new library.KeyedLock().acquire(any(bad)), [null, 3, { nope: 1 }, [3]]],
    [(bad) => new library.KeyedLock().acquire('a', any(bad)), [null, 3, { nope: 1 }]],
    [(bad) => new library.KeyedLock().run('a', any(bad))],
  ],
  StepGate: [
    [(bad) => new library.StepGate().share(any(bad)), [3, { nope: 1 }]],
    [(bad) => new library.StepGate().exclusive(any(bad)), [3, { nope: 1 }]],
  ],
};

/** They have an answer to anything, which is no. */
const TOTAL: Readonly<Record<string, (given: unknown) => unknown>> = {
  isConcurrencySafe: library.isConcurrencySafe,
  isCallSafe: (given) => library.isCallSafe(any(given), given),
  secondReading: (given) => library.secondReading(any(given), [any('x')]),
};

const NO_FUNCTIONS = ['ERROR_CODES', 'REASON_CODES', 'SignalboxError', 'toolLocks'];

test('every export is in one of the lists', () => {
  const listed = [...Object.keys(MISUSED), ...Object.keys(TOTAL), ...NO_FUNCTIONS];
  expect(Object.keys(library).filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.filter((name) => !(name in library))).toEqual([]);
});

describe('what cannot be taken is answered with the error that says what was expected', () => {
  const cases = Object.entries(MISUSED).flatMap(([name, given]) => {
    const list = (typeof given[0] === 'function' ? [given] : given) as readonly Misused[];
    return list.flatMap(([call, bad = BAD], index) =>
      bad.map((value) => ({ name: list.length > 1 ? `${name}, ${index + 1}` : name, call, value })),
    );
  });
  test.each(cases)('$name given $value', async ({ call, value }) => {
    const error = await (async () => call(value))().then(
      () => 'nothing was thrown',
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(library.SignalboxError);
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(OPTION|RULES)_INVALID$/),
      message: expect.stringMatching(/expected/i),
    });
  });
});

test.each(Object.entries(TOTAL))('%s has an answer to anything', (_, call) => {
  for (const value of [...BAD, undefined, '', 'x\0']) expect(call(value)).toBe(false);
});
