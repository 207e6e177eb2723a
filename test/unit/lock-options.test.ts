import { describe, expect, test } from 'vitest';
import type { AcquireOptions, Held } from '../../src/dispatcher/acquire-options.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import { settled } from '../support/locks.ts';

const invalid = (message: string | RegExp) =>
  expect.objectContaining({
    code: 'OPTION_INVALID',
    message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  });

/** What came of it, thrown or rejected. */
async function faultOf(act: () => unknown): Promise<unknown> {
  try {
    return await act();
  } catch (error) {
    return error;
  }
}

describe('a misspelt option is refused by its name', () => {
  test('of the lock itself', () => {
    expect(() => new KeyedLock({ implict: true } as object)).toThrow(
      invalid('Expected KeyedLock to be given now, implicit; got `implict`'),
    );
    expect(() => new KeyedLock(null as unknown as object)).toThrow(invalid('options of KeyedLock'));
    expect(() => new KeyedLock({ now: 5 as never })).toThrow(invalid('Expected now to be a function, got number'));
    expect(() => new KeyedLock({ implicit: 'yes' as never })).toThrow(
      invalid('Expected implicit to be true or false, got string'),
    );
    expect(() => new KeyedLock({ implicit: null as never })).toThrow(invalid('got null'));
  });

  test.each<[string, (lock: KeyedLock, held: Held, options: object) => unknown]>([
    ['acquire', (lock, _, options) => lock.acquire('l', options)],
    ['acquire', (lock, _, options) => lock.run('l', () => 'ran', options)],
    ['tryAcquire', (lock, _, options) => lock.tryAcquire('l', options)],
    ['held.run', (_, held, options) => held.run('l', () => 'ran', options)],
    ['held.restate', (_, held, options) => held.restate('l', options)],
  ])('of %s, and nothing is joined or given up', async (method, act) => {
    const lock = new KeyedLock();
    const held = await lock.acquire('k');
    expect(await faultOf(() => act(lock, held, { onwait: () => {} }))).toEqual(
      invalid(new RegExp(`^Expected ${method} to be given .*; got \`onwait\`$`)),
    );
    // Inherited ones count.
    expect(await faultOf(() => act(lock, held, Object.create({ timeoutMs: 5 })))).toEqual(invalid('got `timeoutMs`'));
    expect(await faultOf(() => act(lock, held, null as unknown as object))).toEqual(invalid(`options of ${method}`));
    expect(lock.snapshot().map(({ key }) => key)).toEqual(['k']);
    expect(lock.draw()).toBe(2);
  });

  test.each<[string, string, (lock: KeyedLock, held: Held) => unknown]>([
    ['tryAcquire', 'ticket', (lock) => lock.tryAcquire('l', { ticket: 1 } as object)],
    ['tryAcquire', 'signal', (lock) => lock.tryAcquire('l', { signal: AbortSignal.abort() } as object)],
    ['held.run', 'lineage', (_, held) => held.run('l', () => 'ran', { lineage: null } as object)],
    ['held.restate', 'ticket', (_, held) => held.restate('l', { ticket: 1 } as object)],
    ['held.restate', 'label', (_, held) => held.restate('l', { label: 'l' } as object)],
    ['held.restate', 'lineage', (_, held) => held.restate('l', { lineage: null } as object)],
  ])('%s knows no %s', async (method, name, act) => {
    const lock = new KeyedLock();
    const held = await lock.acquire('k');
    expect(await faultOf(() => act(lock, held))).toEqual(
      invalid(new RegExp(`^Expected ${method} to be given .*; got \`${name}\`$`)),
    );
    expect(lock.size).toBe(1);
  });

  test('a signal is no option of tryAcquire, which never waits', () => {
    const { signal } = new AbortController();
    expect(() => new KeyedLock().tryAcquire('k', signal as object)).toThrow(
      invalid('Expected tryAcquire to be given options, got a signal; it never waits'),
    );
  });

  test('every name that there is counts, inherited or not', async () => {
    const lock = new KeyedLock();
    const ticket = lock.draw();
    const { signal } = new AbortController();
    const outer = await lock.acquire('k');
    const all: AcquireOptions = { signal, ticket, label: 'all', lineage: outer, onWait: () => {} };
    expect((await lock.acquire('k', Object.create(all))).label).toBe('all');
    const { lineage: _, ...inside } = all;
    expect(await outer.run('l', ({ label }) => label, inside)).toBe('all');
    expect(lock.tryAcquire('m', { label: 'tried', lineage: outer })?.label).toBe('tried');
    (await outer.restate('n', { signal, onWait: () => {} }))();
  });
});

test('without a clock of its own a lock tells ages by that of the process', async () => {
  const before = performance.now();
  const lock = new KeyedLock();
  await lock.acquire('k');
  await settled();
  const [age] = lock.snapshot().flatMap(({ holders }) => holders.map(({ ageMs }) => ageMs));
  expect(age).toBeGreaterThan(0);
  expect(age).toBeLessThanOrEqual(performance.now() - before);
});

describe('misuse', () => {
  test.each<[string, unknown, string]>([
    ['ticket', 2, 'Expected ticket to be one of the 1 drawn so far, got 2'],
    ['ticket', '1', 'Expected ticket to be one of the 1 drawn so far, got string'],
    ['ticket', null, 'Expected ticket to be one of the 1 drawn so far, got null'],
    ['signal', {}, 'Expected signal to be an AbortSignal'],
    ['signal', { aborted: false }, 'Expected signal to be an AbortSignal'],
    ['signal', { addEventListener: () => {} }, 'Expected signal to be an AbortSignal'],
    ['signal', 'soon', 'Expected signal to be an AbortSignal'],
    ['onWait', 'soon', 'Expected onWait to be a function, got string'],
    ['lineage', 7, 'Expected lineage to be a hold or its token, got number'],
    ['lineage', () => {}, 'Expected lineage to be a hold of this lock, got function'],
  ])('%s: %j is refused', async (name, value, message) => {
    const lock = new KeyedLock();
    lock.draw();
    await expect(lock.acquire('k', { [name]: value })).rejects.toEqual(invalid(message));
    expect(lock.size).toBe(0);
  });

  test('work that cannot be called is refused before any key is taken', async () => {
    const lock = new KeyedLock();
    const held = await lock.acquire('k');
    for (const act of [() => lock.run('k', 'work' as never), () => held.run('k', null as never)]) {
      await expect(act()).rejects.toEqual(invalid(/^Expected the work of run to be a function, got (string|null)$/));
    }
    expect(lock.snapshot()).toHaveLength(1);
    held();
    expect(lock.size).toBe(0);
  });

  test('a method apart from its hold is refused: it would ask as a stranger', async () => {
    const held = await new KeyedLock().acquire('k');
    const { run, restate, token } = held;
    await expect(run('l', () => 'ran')).rejects.toEqual(
      invalid('Expected run to be called on its hold, got undefined'),
    );
    await expect(restate('l')).rejects.toEqual(invalid('Expected restate to be called on its hold, got undefined'));
    expect(() => token()).toThrow(invalid('Expected token to be called on its hold, got undefined'));
    const stranger = await new KeyedLock().acquire('k');
    await expect(run.call(stranger, 'l', () => 'ran')).rejects.toEqual(invalid('called on its hold, got function'));
  });

  test('a released hold cannot be restated', async () => {
    const held = await new KeyedLock().acquire('k');
    held();
    await expect(held.restate('l')).rejects.toEqual(
      invalid('Expected a hold that is still held to be restated, got a released one'),
    );
  });

  test('a lone signal stands for options in run and restate of a hold too', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('k');
    await lock.acquire('l');
    const controller = new AbortController();
    const waits = [outer.run('l', () => 'ran', controller.signal), outer.restate('l', controller.signal)];
    const seen = Promise.allSettled(waits);
    controller.abort('enough');
    expect((await seen).map((each) => each.status === 'rejected' && each.reason)).toEqual(['enough', 'enough']);
  });

  test('a token asked for after the end leads nowhere, also not to what is around the hold', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('k');
    const inner = await lock.acquire('k', { lineage: outer });
    inner();
    expect(lock.tryAcquire('k', { lineage: inner.token() })).toBeNull();
    expect(lock.tryAcquire('k', { lineage: inner })).not.toBeNull();
    await settled();
    outer();
  });

  test('a token that was asked for before leads nowhere after the end either', async () => {
    const lock = new KeyedLock();
    const outer = await lock.acquire('k');
    const inner = await lock.acquire('k', { lineage: outer });
    const [token, around] = [inner.token(), outer.token()];
    lock.tryAcquire('k', { lineage: token })?.();
    inner();
    expect(lock.tryAcquire('l', { lineage: around })).not.toBeNull();
    expect(lock.tryAcquire('k', { lineage: token })).toBeNull();
  });
});
