import { describe, expect, test } from 'vitest';
import { BatchStore, type Retention } from '../../src/dispatcher/store.ts';
import { parallel, testDispatcher } from '../support/dispatcher.ts';

type Kept = { readonly id: string; readonly keptBytes: number };

const batch = (id: string, keptBytes = 10): Kept => ({ id, keptBytes });

function storeWith(retention: Partial<Retention> = {}) {
  let at = 0;
  const store = new BatchStore<Kept>({ maxBatches: 100, maxAgeMs: 1000, maxBytes: 1000, ...retention }, () => at);
  return {
    store,
    ended: (id: string, bytes?: number): Kept => {
      const kept = batch(id, bytes);
      store.add(kept);
      store.end(kept);
      return kept;
    },
    pass: (ms: number) => {
      at += ms;
    },
    ids: () => store.all().map(({ id }) => id),
  };
}

describe('the bytes of ended batches', () => {
  test('stay within the budget: the oldest leave first, as many as must', () => {
    const { store, ended, ids } = storeWith({ maxBytes: 100 });
    for (const id of ['a', 'b', 'c']) ended(id, 30);
    expect([ids(), store.bytes]).toEqual([['a', 'b', 'c'], 90]);
    ended('d', 10);
    expect([ids(), store.bytes]).toEqual([['a', 'b', 'c', 'd'], 100]);
    ended('e', 50);
    expect([ids(), store.bytes]).toEqual([['c', 'd', 'e'], 90]);
  });

  test('count in the order of the ends, and not for what still runs', () => {
    const { store, ended, ids } = storeWith({ maxBytes: 100 });
    const first = batch('first', 60);
    store.add(first);
    ended('second', 60);
    expect([ids(), store.bytes]).toEqual([['first', 'second'], 60]);
    store.end(first);
    expect([ids(), store.bytes]).toEqual([['first'], 60]);
  });

  test('of the newest never make it leave, however many they are', () => {
    const { store, ended, ids } = storeWith({ maxBytes: 100 });
    ended('a', 10);
    ended('big', 500);
    expect([ids(), store.bytes]).toEqual([['big'], 500]);
    ended('b', 10);
    expect([ids(), store.bytes]).toEqual([['b'], 10]);
  });

  test('are given back when a batch leaves by number or by age', () => {
    const { store, ended, ids, pass } = storeWith({ maxBatches: 2 });
    for (const id of ['a', 'b', 'c']) ended(id);
    expect([ids(), store.bytes]).toEqual([['b', 'c'], 20]);
    pass(1001);
    expect([ids(), store.bytes]).toEqual([[], 0]);
  });

  test('of real batches are what was printed, once, and little else', async () => {
    const { dispatch } = testDispatcher();
    const printed = 300_000;
    const all = dispatch([parallel(`head -c ${printed} /dev/zero | tr '\\0' x; printf 漢`)]);
    const none = dispatch([parallel(`head -c ${printed} /dev/zero | tr '\\0' x > /dev/null`)]);
    const { commands } = await all.done;
    await none.done;
    expect(commands[0]?.stdout).toHaveLength(printed + 1);
    expect(none.keptBytes).toBeLessThan(20_000);
    expect(all.keptBytes).toBeGreaterThan(printed);
    // Kept twice, or as two bytes a character, it would be twice as much.
    expect(all.keptBytes).toBeLessThan(printed + 20_000);
  });

  test('hold for the dispatcher of the library too', async () => {
    const { dispatch, get } = testDispatcher({ retention: { maxBytes: 250_000 } });
    const batches = [];
    for (let index = 0; index < 4; index += 1) {
      const each = dispatch([parallel("head -c 100000 /dev/zero | tr '\\0' x")]);
      batches.push(each);
      await each.done;
    }
    expect(batches.map(({ id }) => get(id) !== undefined)).toEqual([false, false, true, true]);
  });
});

describe('a batch that left', () => {
  test('is told apart from one that never was, for the last ten thousand', () => {
    const { store, ended } = storeWith({ maxBatches: 1 });
    for (let index = 0; index < 10_002; index += 1) ended(`b${index}`);
    expect(['b0', 'b1', 'b10000', 'b10001', 'never'].map((id) => store.isGone(id))).toEqual([
      ...[false, true, true, false, false],
    ]);
    expect(store.get('b10000')).toBeUndefined();
  });

  test('counts while it is read, and no longer', () => {
    const { store, ended, pass } = storeWith();
    const read = ended('read', 70);
    const release = [store.hold(read, () => {}), store.hold(read, () => {})];
    pass(1001);
    expect([store.get('read'), store.bytes]).toEqual([undefined, 70]);
    release[0]?.();
    release[0]?.();
    expect(store.bytes).toBe(70);
    release[1]?.();
    expect(store.bytes).toBe(0);
  });

  test('is counted again when somebody begins to read it late', () => {
    const { store, ended, pass } = storeWith();
    const late = ended('late', 70);
    pass(1001);
    expect([store.get('late'), store.bytes]).toEqual([undefined, 0]);
    const release = store.hold(late, () => {});
    expect(store.bytes).toBe(70);
    release();
    expect(store.bytes).toBe(0);
  });

  test('has its readers broken off, once, when its bytes are needed, before newer ones leave', () => {
    const { store, ended, ids, pass } = storeWith({ maxBytes: 100 });
    const broken: string[] = [];
    const old = ended('old', 60);
    const release = store.hold(old, () => broken.push('old'));
    pass(1001);
    const newer = ended('newer', 40);
    store.hold(newer, () => broken.push('newer'));
    expect([broken, store.bytes]).toEqual([[], 100]);
    ended('c', 50);
    expect([broken, ids(), store.bytes]).toEqual([['old'], ['newer', 'c'], 90]);
    release();
    ended('d', 50);
    expect([broken, ids(), store.bytes]).toEqual([['old', 'newer'], ['c', 'd'], 100]);
  });

  test('by its bytes is not read on, also when it had not ended when the reading began', () => {
    const { store, ended } = storeWith({ maxBytes: 100 });
    const broken: string[] = [];
    const live = batch('live', 60);
    store.add(live);
    store.hold(live, () => broken.push('live'));
    store.end(live);
    ended('next', 60);
    expect([broken, store.bytes]).toEqual([['live'], 60]);
  });
});
