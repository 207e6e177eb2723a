import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileStorage } from '../src/dispatcher/journal/file-storage.ts';
import { openLog } from '../src/dispatcher/journal/log.ts';

/*
 * How many durable records a second the journal takes, by how many are appended in one tick, and how fast it is replayed. The
 * directory is a new one in TMPDIR: set that to a directory of the disk that counts.
 */

const ROUNDS = 5;
/** How many records one tick appends, and how many ticks a round has. */
const GROUPS = [
  { size: 1, ticks: 300 },
  { size: 10, ticks: 300 },
  { size: 100, ticks: 100 },
  { size: 1000, ticks: 30 },
];

/** A record of 235 bytes, such as an event has. */
const RECORD = { kind: 'started', batch: 'b'.repeat(36), command: 'c1', marker: 'm'.repeat(36), text: '' };
const SAMPLE = { ...RECORD, text: 'x'.repeat(235 - Buffer.byteLength(JSON.stringify(RECORD))) };

/** Runs the whole bench and prints its table. */
export async function benchJournal(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'signalbox-journal-'));
  try {
    console.log(`Records of ${Buffer.byteLength(JSON.stringify(SAMPLE))} bytes, durable, of ${ROUNDS} rounds.`);
    for (const { size, ticks } of GROUPS) {
      const rates: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const storage = fileStorage(join(home, `${size}-${round}`));
        const log = await openLog({ storage, replay: () => {} });
        const start = performance.now();
        for (let tick = 0; tick < ticks; tick++) {
          await Promise.all(Array.from({ length: size }, () => log.append(SAMPLE)));
        }
        rates.push((size * ticks * 1000) / (performance.now() - start));
        await log.close();
      }
      rates.sort((one, other) => one - other);
      const [least, most] = [rates[0] ?? 0, rates.at(-1) ?? 0].map((rate) => Math.round(rate).toLocaleString('en'));
      console.log(`${String(size).padStart(5)} in one tick: ${least} to ${most} records a second`);
    }
    let count = 0;
    const start = performance.now();
    const log = await openLog({ storage: fileStorage(join(home, '1000-0')), replay: () => count++ });
    const rate = Math.round((count * 1000) / (performance.now() - start)).toLocaleString('en');
    await log.close();
    console.log(`Opening one of ${count} records: ${rate} records a second`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
