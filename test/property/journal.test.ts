import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { openLog } from '../../src/dispatcher/journal/log.ts';
import type { SignalboxError } from '../../src/errors.ts';
import { MemoryStorage } from '../support/journal-storage.ts';

const SEGMENT_BYTES = 1024;

/** Records of one tick each; long ones make several segments. JSON has one zero. */
const record = fc.oneof(
  fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value))),
  fc.record({ id: fc.nat(), text: fc.string({ unit: 'binary', maxLength: 400 }) }),
);
const ticks = fc.array(fc.array(record, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 8 });

async function read(storage: MemoryStorage) {
  const records: unknown[] = [];
  const log = await openLog({
    storage: storage.boot(),
    replay: (one) => records.push(one),
    segmentBytes: SEGMENT_BYTES,
  });
  return { records, log };
}

/** What is read, or the code of why nothing is. */
async function outcome(storage: MemoryStorage) {
  try {
    const { records, log } = await read(storage);
    await log.close();
    return { records };
  } catch (error) {
    return { code: (error as SignalboxError).code, records: [] };
  }
}

async function written(groups: readonly (readonly unknown[])[]) {
  const storage = new MemoryStorage();
  const { log } = await read(storage);
  for (const group of groups) await Promise.all(group.map((one) => log.append(one)));
  await log.close();
  return storage;
}

function lastOf(storage: MemoryStorage) {
  const name = [...storage.files.keys()].sort().at(-1);
  const content = name === undefined ? undefined : storage.files.get(name);
  if (content === undefined) throw new Error('There is no file');
  return content;
}

test.prop([ticks])(
  'what was acknowledged is read back in order and exactly, however often it is opened',
  async (groups) => {
    const storage = await written(groups);
    expect((await outcome(storage)).records).toEqual(groups.flat());
    const { records, log } = await read(storage);
    await log.append('more');
    await log.close();
    expect(records).toEqual(groups.flat());
    expect((await outcome(storage)).records).toEqual([...groups.flat(), 'more']);
  },
);

test.prop([ticks, fc.array(record, { minLength: 1, maxLength: 4 })], { numRuns: 25 })(
  'a file that ends at any byte of its last write loses nothing before it and gives nothing that was not written',
  async (groups, last) => {
    const before = await written(groups);
    const { log } = await read(before);
    const sizes = new Map([...before.files].map(([name, { bytes }]) => [name, bytes.length]));
    await Promise.all(last.map((one) => log.append(one)));
    await log.close();
    const all = [...groups.flat(), ...last];
    const name = [...before.files.keys()].sort().at(-1) ?? '';
    const { length } = lastOf(before).bytes;
    for (let cut = sizes.get(name) ?? 0; cut < length; cut++) {
      const storage = before.copy();
      const content = lastOf(storage);
      content.bytes = content.bytes.subarray(0, cut);
      const { records } = await outcome(storage);
      expect(records.length).toBeGreaterThanOrEqual(all.length - last.length);
      expect(records.length).toBeLessThan(all.length);
      expect(records).toEqual(all.slice(0, records.length));
      // The cut is for good: what is appended now follows what was read.
      const again = await read(storage);
      await again.log.append('next');
      await again.log.close();
      expect((await outcome(storage)).records).toEqual([...records, 'next']);
    }
  },
);

test.prop([ticks, fc.nat(), fc.nat(7)], { numRuns: 300 })(
  'a flipped bit is refused, or costs no more than the last write; it never changes a record',
  async (groups, at, bit) => {
    const storage = await written(groups);
    const total = [...storage.files.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
    let place = at % total;
    for (const { bytes } of storage.files.values()) {
      if (place >= 0 && place < bytes.length) bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
      place -= bytes.length;
    }
    const { code, records } = await outcome(storage);
    if (code !== undefined) {
      expect(code).toBe('JOURNAL_CORRUPT');
      return;
    }
    const all = groups.flat();
    expect(records).toEqual(all.slice(0, records.length));
    expect(records.length).toBeLessThan(all.length);
    expect(records.length).toBeGreaterThanOrEqual(all.length - (groups.at(-1)?.length ?? 0));
  },
);

/** What a power cut leaves of what was not synced: some of it, with some pages never written. */
const remains = fc.record({ part: fc.double({ min: 0, max: 1, noNaN: true }), holes: fc.array(fc.nat(2000)) });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('append' as const), records: fc.array(record, { maxLength: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('turn' as const), turns: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('power-cut' as const), remains }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const) }) },
);

test.prop([fc.array(step, { maxLength: 60, size: 'max' })], { numRuns: 200 })(
  'over kills and power cuts that drop what was not synced, nothing acknowledged is lost and nothing is invented',
  async (steps) => {
    const storage = new MemoryStorage();
    storage.syncing = () => new Promise((resolve) => setImmediate(resolve));
    let { records, log } = await read(storage);
    /** What must be there; then what may be, in this order. */
    let durable: unknown[] = [];
    let asked: unknown[] = [];
    let life = 0;
    for (const one of [...steps, { kind: 'power-cut' as const, remains: { part: 0, holes: [] } }]) {
      if (one.kind === 'append') {
        for (const value of one.records) {
          const [mine, place] = [life, asked.push(value)];
          log.append(value).then(
            () => {
              if (mine === life) durable = asked.slice(0, place);
            },
            () => {},
          );
        }
        continue;
      }
      if (one.kind === 'turn') {
        for (let turn = 0; turn < one.turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      life++;
      if (one.kind === 'kill') storage.kill();
      else {
        storage.crash((unsynced) => {
          const left = Buffer.from(unsynced.subarray(0, Math.ceil(unsynced.length * one.remains.part)));
          for (const hole of one.remains.holes) left.subarray(hole, hole + 64).fill(0);
          return left;
        });
      }
      ({ records, log } = await read(storage));
      expect(records.slice(0, durable.length)).toEqual(durable);
      expect(records).toEqual(asked.slice(0, records.length));
      [durable, asked] = [[...records], [...records]];
    }
    await log.close();
  },
);
