import { describe, expect, test } from 'vitest';
import { type Allowance, strictest } from '../../src/classifier/allowance.ts';
import { createClassifier } from '../../src/classifier/classifier.ts';
import { classify, judge } from '../../src/classifier/classify.ts';
import type { Judge } from '../../src/classifier/judgement.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { loadConfig } from '../../src/config.ts';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { createJudge } from '../../src/dispatcher/judge.ts';
import { createServiceJudge } from '../../src/http/service-dispatcher.ts';
import { loadRules } from '../../src/rules/load.ts';
import { judgementOf, testDispatcher, verdictOf } from '../support/dispatcher.ts';

const rules = loadRules();

const NETWORK = 'npm view react';
const DAEMON = 'systemctl status sshd';
const BOTH = 'docker ps';
const NEITHER = 'git status';
const ALL = [NETWORK, DAEMON, BOTH, NEITHER];

/** `parallel`, or the code and the effect that was refused. */
function told(verdict: Verdict): string {
  if (verdict.kind === 'parallel') return 'parallel';
  const { check, code, message } = verdict.reason;
  const effect = ['reads-network', 'talks-to-daemon'].find((each) => message.includes(`\`${each}\``));
  return `${check} ${code} ${effect}`;
}

const OFF_NETWORK = 'environment EFFECT_REFUSED reads-network';
const OFF_DAEMON = 'environment EFFECT_REFUSED talks-to-daemon';

/** The verdicts on the four commands. */
type Row = readonly [network: string, daemon: string, both: string, neither: string];
const CASES: readonly (readonly [Allowance | undefined, Row])[] = [
  [undefined, ['parallel', 'parallel', 'parallel', 'parallel']],
  [{}, ['parallel', 'parallel', 'parallel', 'parallel']],
  [{ network: true, daemon: true }, ['parallel', 'parallel', 'parallel', 'parallel']],
  [{ network: false }, [OFF_NETWORK, 'parallel', OFF_NETWORK, 'parallel']],
  [{ daemon: false }, ['parallel', OFF_DAEMON, OFF_DAEMON, 'parallel']],
  [{ network: true, daemon: false }, ['parallel', OFF_DAEMON, OFF_DAEMON, 'parallel']],
  [{ network: false, daemon: false }, [OFF_NETWORK, OFF_DAEMON, OFF_NETWORK, 'parallel']],
];

/** What is no allowance, whoever is given it. */
const MISUSE: readonly (readonly [unknown, string])[] = [
  [{ netwrok: false }, 'Expected allow to name network or daemon, got "netwrok"'],
  [{ Network: false }, 'Expected allow to name network or daemon, got "Network"'],
  [{ toString: false }, 'Expected allow to name network or daemon, got "toString"'],
  [{ 'reads-network': false }, 'Expected allow to name network or daemon, got "reads-network"'],
  [{ network: 'false' }, 'Expected allow.network to be true or false, got a value of type string'],
  [{ network: 0 }, 'Expected allow.network to be true or false, got a value of type number'],
  [{ daemon: null }, 'Expected allow.daemon to be true or false, got null'],
  [{ daemon: [] }, 'Expected allow.daemon to be true or false, got a list'],
  [null, 'Expected allow to be an object, got null'],
  [false, 'Expected allow to be an object, got a value of type boolean'],
  [['network'], 'Expected allow to be an object, got a list'],
];
const misuse = (message: string) => expect.objectContaining({ code: 'OPTION_INVALID', message });

describe.each(CASES)('with allow %j', (allow, row) => {
  const given = allow === undefined ? {} : { allow };
  const asks: readonly (readonly [string, (command: string) => Verdict])[] = [
    ['classify', (command) => classify(command, { rules, ...given })],
    ['judge', (command) => judge(command, { rules, ...given }).verdict],
    ['a classifier that is bound to it', createClassifier({ rules, ...given }).classify],
    ['a classifier that is asked with it', (command) => createClassifier({ rules }).classify(command, given)],
    ['the judge of a dispatcher that is bound to it', (command) => createJudge(rules, allow)(command, CONTEXT).verdict],
    ['the judge of a dispatcher', (command) => createJudge(rules)(command, { ...CONTEXT, ...given }).verdict],
  ];
  test.each(asks)('%s refuses exactly the readers that are not allowed', (_, ask) => {
    expect(ALL.map((command) => told(ask(command)))).toEqual(row);
  });

  test('the boolean of a classifier says the same', () => {
    const { isConcurrencySafe } = createClassifier({ rules, ...given });
    expect(ALL.map(isConcurrencySafe)).toEqual(row.map((each) => each === 'parallel'));
  });
});

const CONTEXT = { cwd: '/' };

test.each([
  ['ls && npm view react', { network: false }, OFF_NETWORK, [6, 20]],
  ['npm view react | head -5', { network: false }, OFF_NETWORK, [0, 14]],
  ['cd sub && docker ps; ls', { daemon: false }, OFF_DAEMON, [10, 19]],
  ['git status && docker ps', { network: false }, OFF_NETWORK, [14, 23]],
] as const)('in %j the part is refused that has the effect', (command, allow, expected, span) => {
  const verdict = classify(command, { rules, cwd: '/repo', mode: 'compound', allow });
  expect([told(verdict), verdict]).toMatchObject([expected, { reason: { span } }]);
  expect(told(classify(command, { rules, cwd: '/repo', mode: 'compound' }))).toBe('parallel');
});

test('a refused effect is told after what the text itself is refused for', () => {
  const refused = classify('npm view react --registry=http://x', { rules, allow: { network: false } });
  expect(told(refused)).toMatch(/^subcommand OPTION_UNKNOWN/);
});

test('what is refused spans the whole command and says what would help', () => {
  const refused = classify(NETWORK, { rules, allow: { network: false } });
  expect(refused).toMatchObject({
    reason: { span: [0, NETWORK.length], knowledge: 'unrecognised', hint: expect.any(String) },
  });
});

describe.each(MISUSE)('%j is no allowance', (allow, message) => {
  const given = { allow: allow as Allowance };
  test.each<[string, () => unknown]>([
    ['classify', () => classify('ls', { rules, ...given })],
    ['classify, whatever the command is', () => classify(7, { rules, ...given })],
    ['createClassifier', () => createClassifier({ rules, ...given })],
    ['a classifier', () => createClassifier({ rules }).classify('ls', given)],
    ['a classifier that refuses something', () => createClassifier({ rules, allow: {} }).classify('ls', given)],
    ['createJudge', () => createJudge(rules, given.allow)],
    ['a judge', () => createJudge(rules)('ls', { ...CONTEXT, ...given })],
    ['createDispatcher', () => createDispatcher({ rules, ...given })],
    ['a batch', () => testDispatcher().dispatch(['ls'], given)],
    ['an open batch', () => testDispatcher().open(given)],
    ['a plan', () => testDispatcher().plan(['ls'], given)],
  ])('for %s', (_, act) => {
    expect(act).toThrow(misuse(message));
  });
});

describe('two that have a say', () => {
  const VALUES: readonly (Allowance | undefined)[] = [
    undefined,
    {},
    { network: false },
    { daemon: false },
    { network: true, daemon: false },
  ];
  const pairs = VALUES.flatMap((one) => VALUES.map((other) => [one, other] as const));

  test.each(pairs)('%j and %j: what one refuses, the other cannot allow', (one, other) => {
    const row = strictest(one, other);
    expect(row).toEqual({
      network: one?.network !== false && other?.network !== false,
      daemon: one?.daemon !== false && other?.daemon !== false,
    });
  });

  test('a classifier and its question', () => {
    const { classify: ask } = createClassifier({ rules, allow: { network: false } });
    const row = ALL.map((command) => told(ask(command, { allow: { network: true, daemon: false } })));
    expect(row).toEqual([OFF_NETWORK, OFF_DAEMON, OFF_NETWORK, 'parallel']);
  });

  test('a dispatcher and its batch', () => {
    const planOf = (allow: Allowance, batch?: Allowance) =>
      testDispatcher({ judge: createJudge(rules), allow })
        .plan([NETWORK, DAEMON], batch === undefined ? {} : { allow: batch })
        .commands.map(({ verdict }) => told(verdict));
    expect(planOf({ network: false })[0]).toBe(OFF_NETWORK);
    expect(planOf({ network: false }, { network: true })[0]).toBe(OFF_NETWORK);
    expect(planOf({}, { daemon: false })[1]).toBe(OFF_DAEMON);
    expect(planOf({ network: false }, { daemon: false })).toEqual([OFF_NETWORK, OFF_DAEMON]);
  });
});

describe('the dispatcher', () => {
  /** A judge that knows nothing of what is allowed. */
  const heedless: Judge = () => {
    const verdict = verdictOf('parallel');
    return judgementOf(verdict.kind === 'parallel' ? { ...verdict, effects: ['reads-network'] } : verdict);
  };

  test('does not rely on its judge', () => {
    const kinds = (allow: Allowance) =>
      testDispatcher({ judge: heedless, allow })
        .plan([':'])
        .commands.map(({ verdict }) => verdict.kind);
    expect(kinds({ network: false })).toEqual(['serial']);
    expect(kinds({ daemon: false })).toEqual(['parallel']);
  });

  test('runs a reader that is refused alone, and binds it to that verdict', async () => {
    const batch = testDispatcher({ judge: heedless }).dispatch([':', ':'], { allow: { network: false } });
    const { commands } = await batch.done;
    expect(commands.map(({ verdict, exitCode }) => [told(verdict).split(' ')[1], exitCode])).toEqual([
      ['EFFECT_REFUSED', 0],
      ['EFFECT_REFUSED', 0],
    ]);
  });
});

test('the service refuses what its configuration does, whatever a request allows', () => {
  const config = loadConfig({ cwd: '/', env: { SIGNALBOX_ALLOW_NETWORK: 'false' } });
  const ask = createServiceJudge(config, rules, {});
  expect(told(ask(NETWORK, { cwd: '/', allow: { network: true } }).verdict)).toBe(OFF_NETWORK);
  expect(told(ask(DAEMON, { cwd: '/' }).verdict)).toBe('parallel');
  expect(told(ask(DAEMON, { cwd: '/', allow: { daemon: false } }).verdict)).toBe(OFF_DAEMON);
});
