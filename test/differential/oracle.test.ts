import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Oracles, openOracles } from '../support/bash-oracle.ts';
import { openProcessOracle } from '../support/bash-oracle-process.ts';

/** A judge that calls everything equal would make the other tests of this directory worthless. */
describe('the oracle tells one plain call from everything else', () => {
  let oracles: Oracles;
  beforeAll(() => {
    oracles = openOracles(['args', '[']);
  });
  afterAll(() => oracles.close());

  test.each([
    ['args a \'b c\' "d"\\ e', ['args', 'a', 'b c', 'd e']],
    ['args \'\' ""', ['args', '', '']],
    ["args 'a\nb'", ['args', 'a\nb']],
    ['args é 😀', ['args', 'é', '😀']],
    ['[ -f a ]', ['[', '-f', 'a', ']']],
    ["'unheard of' a", ['unheard of', 'a']],
    ['args done 0', ['args', 'done', '0']],
    ['args {a,b}', ['args', 'a', 'b']],
  ])('%j is a call', async (text, argv) => {
    expect(await oracles.ask([{ text }])).toEqual([{ kind: 'call', argv, values: [] }]);
  });

  test.each([
    ['args a; args b', '2 calls'],
    ['args a\nargs b', '2 calls'],
    ['args *', 'no call'],
    ['args [a]', 'no call'],
    ['args ~', 'differs'],
    ['args a=~', 'differs'],
    ['args $HOME', 'differs'],
    ['args &', 'process'],
    ['args | args', 'process'],
    ['(args)', 'process'],
    ['args </dev/tty', 'no call'],
    ['args <<<a', 'input'],
    ['args 2>&1', 'errors'],
    ['args >&2', 'no call'],
    ['args $(args)', 'complaint'],
    ['! args', 'status'],
    ['args || :', '2 calls'],
    ['args $a', 'no call'],
    ['args "', 'no call'],
    ['args ()', 'no call'],
    ['a=1', 'no call'],
    ['exit 7', 'no call'],
    ['set -f; args', 'state'],
    ['', 'no call'],
  ])('%j is something else: %s', async (text, why) => {
    expect(await oracles.ask([{ text }])).toEqual([{ kind: 'other', why: expect.stringContaining(why) }]);
  });

  test('a text that misbehaves does not spoil the answers of its neighbours', async () => {
    const kinds = (await oracles.ask([{ text: 'args a' }, { text: 'exit' }, { text: 'args b' }])).map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual(['call', 'other', 'call']);
  });

  test('a glob shows as it was read when pathname expansion is off', async () => {
    const [answer] = await oracles.ask([{ text: 'args a* [b]?', noGlob: true }]);
    expect(answer).toEqual({ kind: 'call', argv: ['args', 'a*', '[b]?'], values: [] });
  });

  test('an assignment is seen by the call and gone afterwards', async () => {
    const questions = [
      { text: 'a=1 b= args', variables: ['a', 'b', 'c'] },
      { text: 'a=1; args', variables: ['a'] },
    ];
    const [plain, lasting] = await oracles.ask(questions);
    expect(plain).toEqual({ kind: 'call', argv: ['args'], values: ['1', '', '<unset>'] });
    expect(lasting).toEqual({ kind: 'other', why: expect.stringContaining('variable') });
  });

  test('asked by process, a call is told from two, from none and from a complaint', () => {
    const byProcess = openProcessOracle(oracles.ground, ['args', 'printf']);
    expect(byProcess.ask("args 'a\nb'", 'empty', false)).toEqual(['args', 'a\nb']);
    expect(byProcess.ask('printf %s', 'empty', false)).toEqual(['printf', '%s']);
    expect(byProcess.ask('args a*', 'hostile', false)).toEqual(['args', 'a', 'a\nb', 'a b', 'a=b', 'ab']);
    expect(byProcess.ask('args a*', 'hostile', true)).toEqual(['args', 'a*']);
    expect(byProcess.ask('args; args', 'empty', false)).toBeNull();
    expect(byProcess.ask('unknown', 'empty', false)).toBeNull();
  });
});
