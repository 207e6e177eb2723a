import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileStorage } from '../../src/dispatcher/journal/file-storage.ts';
import { openLog } from '../../src/dispatcher/journal/log.ts';
import type { Storage } from '../../src/dispatcher/journal/storage.ts';
import { MemoryStorage } from '../support/journal-storage.ts';

async function open(storage: Storage, segmentBytes?: number) {
  const records: unknown[] = [];
  const options = { storage, replay: (record: unknown) => records.push(record) };
  const log = await openLog(segmentBytes === undefined ? options : { ...options, segmentBytes });
  return { log, records };
}

async function reopened(storage: Storage): Promise<readonly unknown[]> {
  const { log, records } = await open(storage);
  await log.close();
  return records;
}

describe('a group', () => {
  test('is what was appended in one tick, and costs one write and one sync', async () => {
    const storage = new MemoryStorage();
    const { log } = await open(storage);
    await log.append('first');
    storage.deeds.length = 0;
    await Promise.all(Array.from({ length: 500 }, (_, at) => log.append(at)));
    expect(storage.deeds.map((deed) => deed.split(' ')[0])).toEqual(['append', 'sync']);
    await log.close();
  });

  test('is acknowledged only when it is durable; what comes meanwhile is the next', async () => {
    const storage = new MemoryStorage();
    const { log } = await open(storage);
    const syncs: (() => void)[] = [];
    const asked: (() => void)[] = [];
    storage.syncing = () => new Promise((resolve) => [syncs.push(resolve), asked.shift()?.()]);
    const sync = () => new Promise<void>((resolve) => asked.push(resolve));
    const told: string[] = [];
    const append = (record: string) => log.append(record).then(() => told.push(record));

    let begun = sync();
    const all = [append('a'), append('b')];
    await begun;
    all.push(append('c'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual([]);
    begun = sync();
    syncs.shift()?.();
    await begun;
    expect(told).toEqual(['a', 'b']);
    syncs.shift()?.();
    await Promise.all(all);
    expect(told).toEqual(['a', 'b', 'c']);
    await log.close();
  });

  test('holds records as they were when they were appended', async () => {
    const storage = new MemoryStorage();
    const { log } = await open(storage);
    const record = { state: 'running' };
    const done = log.append(record);
    record.state = 'exited';
    await done;
    await log.close();
    expect(await reopened(storage)).toEqual([{ state: 'running' }]);
  });

  test('is not harmed by a record that is no JSON', async () => {
    const storage = new MemoryStorage();
    const { log } = await open(storage);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const answers = await Promise.allSettled(
      [1, undefined, circle, 2n, () => 1, 3].map((record) => log.append(record)),
    );
    expect(answers.map((answer) => (answer.status === 'rejected' ? answer.reason.code : 'durable'))).toEqual([
      'durable',
      ...['OPTION_INVALID', 'OPTION_INVALID', 'OPTION_INVALID', 'OPTION_INVALID'],
      'durable',
    ]);
    await log.close();
    expect(await reopened(storage)).toEqual([1, 3]);
  });
});

describe('a log that failed', () => {
  test('on a full disk says so, takes nothing more, and still reads what it had acknowledged', async () => {
    const storage = new MemoryStorage();
    const { log } = await open(storage);
    await log.append('kept');
    storage.freeBytes = 10;
    await expect(log.append('too much')).rejects.toMatchObject({ code: 'JOURNAL_FULL', status: 507 });
    storage.freeBytes = 1e6;
    await expect(log.append('later')).rejects.toMatchObject({ code: 'JOURNAL_FULL' });
    await log.close();
    const again = await open(storage);
    expect(again.records).toEqual(['kept']);
    expect(again.log.cutBytes).toBe(10);
    await again.log.append('after');
    await again.log.close();
    expect(await reopened(storage)).toEqual(['kept', 'after']);
  });

  test.each(['append', 'sync records', 'create', 'sync directory'])(
    'in “%s” never acknowledges again',
    async (failing) => {
      const storage = new MemoryStorage();
      const { log } = await open(storage);
      let failures = 0;
      storage.fail = (deed) => {
        if (deed.startsWith(failing) && failures++ === 0)
          throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      };
      const answers = await Promise.allSettled([log.append(1), log.append(2)]);
      const deeds = storage.deeds.length;
      answers.push(...(await Promise.allSettled([log.append(3)])));
      for (const answer of answers)
        expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'JOURNAL_FAILED' } });
      expect(storage.deeds.length).toBe(deeds);
      expect(failures).toBe(1);
      await log.close();
    },
  );

  test('rejects what waited behind the group that failed', async () => {
    const storage = new MemoryStorage();
    const { log } = await open(storage);
    const waiting: Promise<void>[] = [];
    storage.syncing = async () => {
      waiting.push(log.append('behind'));
      throw new Error('EIO');
    };
    await expect(log.append('first')).rejects.toMatchObject({ code: 'JOURNAL_FAILED' });
    expect(waiting).toHaveLength(1);
    await expect(waiting[0]).rejects.toMatchObject({ code: 'JOURNAL_FAILED' });
    await log.close();
  });

  test('that cannot be read says why, and can be opened when it can', async () => {
    const storage = new MemoryStorage();
    storage.fail = (deed) => {
      if (deed === 'list') throw new Error('EIO');
    };
    await expect(open(storage)).rejects.toMatchObject({
      code: 'JOURNAL_FAILED',
      message: expect.stringContaining('EIO'),
    });
    storage.fail = () => {};
    expect(await reopened(storage)).toEqual([]);
  });
});

describe('a closed log', () => {
  test('has answered what it took, refuses more, and may be closed again', async () => {
    const storage = new MemoryStorage();
    const { log } = await open(storage);
    const last = log.append('last');
    const closed = log.close();
    await expect(log.append('late')).rejects.toMatchObject({ code: 'JOURNAL_FAILED' });
    await last;
    await closed;
    await log.close();
    expect(await reopened(storage)).toEqual(['last']);
  });
});

describe('segments', () => {
  const text = 'x'.repeat(600);
  async function threeSegments() {
    const storage = new MemoryStorage();
    const { log } = await open(storage, 1024);
    for (let at = 0; at < 6; at++) await log.append(`${at} ${text}`);
    await log.close();
    const names = [...storage.files.keys()].sort();
    expect(names).toHaveLength(3);
    return { storage, names };
  }

  test('are begun by size, and their names are durable before a record in them is', async () => {
    const { storage } = await threeSegments();
    const order = storage.deeds
      .filter((deed) => /^(create|sync|append)/.test(deed))
      .map((deed) => deed.split(' ', 2).join(' '));
    expect(order.slice(0, 4)).toEqual([
      'create records-0000000000000000.log',
      'sync directory',
      'append records-0000000000000000.log',
      'sync records-0000000000000000.log',
    ]);
    storage.crash();
    expect(await reopened(storage)).toEqual([0, 1, 2, 3, 4, 5].map((at) => `${at} ${text}`));
  });

  test('may be gone from the beginning, but not from the middle', async () => {
    const { storage, names } = await threeSegments();
    const old = storage.copy();
    old.files.delete(names[0] ?? '');
    expect(await reopened(old)).toHaveLength(4);
    storage.files.delete(names[1] ?? '');
    await expect(open(storage)).rejects.toMatchObject({
      code: 'JOURNAL_CORRUPT',
      message: expect.stringContaining(names[2] ?? ''),
    });
  });

  test('may end torn in the last file alone, and a refusal changes nothing', async () => {
    const { storage, names } = await threeSegments();
    const content = storage.files.get(names[0] ?? '');
    if (content === undefined) throw new Error('There is no file');
    content.bytes = content.bytes.subarray(0, -1);
    storage.deeds.length = 0;
    await expect(open(storage)).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    expect(storage.deeds.filter((deed) => !/^(hold|list|read)/.test(deed))).toEqual([]);
  });

  test('are refused under the name of another', async () => {
    const { storage, names } = await threeSegments();
    const [first, second] = names.map((name) => storage.files.get(name));
    if (first === undefined || second === undefined) throw new Error('There is no file');
    first.bytes = second.bytes;
    await expect(open(storage)).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
  });
});

test('what a killed process wrote without syncing is durable once it has been replayed', async () => {
  const storage = new MemoryStorage();
  const { log } = await open(storage);
  await log.append('durable');
  storage.syncing = () => new Promise(() => {});
  const written = new Promise<void>((resolve) => {
    storage.fail = (deed) => {
      if (deed.startsWith('sync records')) resolve();
    };
  });
  void log.append('written');
  await written;
  storage.kill();
  storage.syncing = async () => {};
  expect(await reopened(storage)).toEqual(['durable', 'written']);
  storage.crash();
  expect(await reopened(storage)).toEqual(['durable', 'written']);
});

test('misspelt or senseless options are refused', async () => {
  const storage = new MemoryStorage();
  const replay = () => {};
  for (const options of [{ segmentBytes: 1 }, { segmentbytes: 4096 }]) {
    await expect(openLog({ storage, replay, ...options })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  }
});

describe('on a file system', () => {
  let home: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'signalbox-journal-'));
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });

  test('the directory is made, for its owner alone, and holds what was appended', async () => {
    const storage = fileStorage(join(home, 'a/b/journal'));
    const { log } = await open(storage);
    await Promise.all([log.append({ text: 'ä\ud800' }), log.append([1, null])]);
    await log.close();
    expect(statSync(storage.place).mode & 0o777).toBe(0o700);
    const [name, ...others] = readdirSync(storage.place);
    expect(others).toEqual([]);
    expect(statSync(join(storage.place, name ?? '')).mode & 0o777).toBe(0o600);
    expect(await reopened(storage)).toEqual([{ text: 'ä\ud800' }, [1, null]]);
  });

  test('a torn end is cut from the file', async () => {
    const storage = fileStorage(home);
    const { log } = await open(storage);
    await log.append('whole');
    await log.close();
    const file = join(home, readdirSync(home)[0] ?? '');
    const whole = readFileSync(file);
    appendFileSync(file, whole.subarray(0, 20));
    const again = await open(storage);
    expect(again.log.cutBytes).toBe(20);
    await again.log.close();
    expect(readFileSync(file)).toEqual(whole);
  });

  test('a second open is refused by any name of the directory, however long, until the first is closed', async () => {
    const place = join(home, 'long'.repeat(40));
    mkdirSync(place);
    symlinkSync(place, join(home, 'link'));
    const { log } = await open(fileStorage(place));
    for (const name of [place, join(home, 'link')]) {
      await expect(open(fileStorage(name))).rejects.toMatchObject({
        code: 'JOURNAL_HELD',
        message: expect.stringContaining(`process ${process.pid} `),
      });
    }
    await log.append('undisturbed');
    await log.close();
    expect(await reopened(fileStorage(place))).toEqual(['undisturbed']);
  });

  test('of many that come at once at most one gets it, and later it can be had', async () => {
    const logs = await Promise.allSettled(Array.from({ length: 8 }, () => open(fileStorage(home))));
    const got = logs.flatMap((one) => (one.status === 'fulfilled' ? [one.value.log] : []));
    const refused = logs.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(got.length).toBeLessThanOrEqual(1);
    expect(new Set(refused)).toEqual(new Set(['JOURNAL_HELD']));
    for (const log of got) await log.close();
    expect(await reopened(fileStorage(home))).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
  });

  test('another process is refused; kill -9 frees the directory, and loses nothing that was acknowledged', async () => {
    const source = (name: string) =>
      JSON.stringify(fileURLToPath(new URL(`../../src/dispatcher/journal/${name}`, import.meta.url)));
    const script = `
      import { openLog } from ${source('log.ts')};
      import { fileStorage } from ${source('file-storage.ts')};
      const log = await openLog({ storage: fileStorage(${JSON.stringify(home)}), replay: () => {}, segmentBytes: 4096 });
      for (let at = 0; ; at += 3) {
        await Promise.all([at, at + 1, at + 2].map((n) => log.append({ n, text: 'x'.repeat(200) })));
        process.stdout.write((at + 2) + '\\n');
      }`;
    const arguments_ = ['--import', 'tsx', '--input-type=module', '--eval', script];
    const child = spawn(process.execPath, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    let told = '';
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error('The writer ended by itself')));
      child.stdout.on('data', (chunk: Buffer) => {
        told += chunk;
        if (told.split('\n').length > 100) resolve();
      });
    });
    await expect(open(fileStorage(home))).rejects.toMatchObject({
      code: 'JOURNAL_HELD',
      message: expect.stringContaining(`process ${child.pid} `),
    });
    child.removeAllListeners('exit');
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
    const acknowledged = Number(told.split('\n').at(-2));
    const numbers = (await reopened(fileStorage(home))).map((record) => (record as { n: number }).n);
    expect(numbers.length).toBeGreaterThan(acknowledged);
    expect(numbers).toEqual(numbers.map((_, at) => at));
    expect(readdirSync(home).filter((name) => !name.endsWith('.log'))).toEqual([]);
  });
});
