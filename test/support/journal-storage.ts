import type { Storage } from '../../src/dispatcher/journal/storage.ts';
import { SignalboxError } from '../../src/errors.ts';

type Content = { bytes: Buffer; syncedBytes: number; isNamed: boolean };

/** What a crash leaves of the bytes of one file that were not synced. */
export type Remains = (unsynced: Buffer, name: string) => Buffer;

/** A disk in memory, which can lose whatever was not synced, and fail. */
export class MemoryStorage implements Storage {
  readonly place = '/memory';
  readonly files = new Map<string, Content>();
  /** Each deed in order: `append NAME BYTES`, `sync NAME` and so on. */
  readonly deeds: string[] = [];
  /** Called ahead of each deed: throws to have it fail. */
  fail: (deed: string) => void = () => {};
  /** Bytes that still fit; what does not is written as far as it does, and fails. */
  freeBytes = Number.POSITIVE_INFINITY;
  /** Awaited by every sync before it counts. */
  syncing: () => Promise<void> = async () => {};
  #isHeld = false;
  #life = 0;

  async hold() {
    this.#did('hold');
    if (this.#isHeld) throw new SignalboxError('JOURNAL_HELD', 'It is held');
    this.#isHeld = true;
    const life = this.#life;
    return async () => {
      if (life === this.#life) this.#isHeld = false;
    };
  }

  async list() {
    this.#did('list');
    return [...this.files.keys()].reverse();
  }

  async read(name: string) {
    this.#did(`read ${name}`);
    return Buffer.from(this.#content(name).bytes);
  }

  async create(name: string) {
    this.#did(`create ${name}`);
    if (this.files.has(name)) throw Object.assign(new Error('EEXIST: file already exists'), { code: 'EEXIST' });
    const content: Content = { bytes: Buffer.alloc(0), syncedBytes: 0, isNamed: false };
    this.files.set(name, content);
    const life = this.#life;
    const alive = () => {
      if (life !== this.#life) throw new Error('The process is dead');
    };
    return {
      append: async (bytes: Buffer) => {
        alive();
        this.#did(`append ${name} ${bytes.length}`);
        const fits = bytes.subarray(0, this.freeBytes);
        this.freeBytes -= fits.length;
        content.bytes = Buffer.concat([content.bytes, fits]);
        if (fits.length < bytes.length) {
          throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
        }
      },
      sync: async () => {
        alive();
        this.#did(`sync ${name}`);
        const { length } = content.bytes;
        await this.syncing();
        alive();
        content.syncedBytes = length;
      },
      close: async () => this.#did(`close ${name}`),
    };
  }

  async truncate(name: string, bytes: number) {
    this.#did(`truncate ${name} ${bytes}`);
    const content = this.#content(name);
    content.bytes = content.bytes.subarray(0, bytes);
    content.syncedBytes = bytes;
  }

  async remove(name: string) {
    this.#did(`remove ${name}`);
    this.files.delete(name);
  }

  async syncDirectory() {
    this.#did('sync directory');
    for (const content of this.files.values()) content.isNamed = true;
  }

  /** The disk as one process sees it: once that is killed, whatever it had in mind comes to nothing. */
  boot(): Storage {
    const life = this.#life;
    const alive = async () => {
      if (life !== this.#life) throw new Error('The process is dead');
    };
    return {
      place: this.place,
      hold: () => alive().then(() => this.hold()),
      list: () => alive().then(() => this.list()),
      read: (name) => alive().then(() => this.read(name)),
      create: (name) => alive().then(() => this.create(name)),
      truncate: (name, bytes) => alive().then(() => this.truncate(name, bytes)),
      remove: (name) => alive().then(() => this.remove(name)),
      syncDirectory: () => alive().then(() => this.syncDirectory()),
    };
  }

  /** The process dies and the machine with it: of what was not synced there is only what is said to remain. */
  crash(remains: Remains = () => Buffer.alloc(0)): void {
    this.#life++;
    this.#isHeld = false;
    for (const [name, content] of this.files) {
      if (!content.isNamed) {
        this.files.delete(name);
        continue;
      }
      const { bytes, syncedBytes } = content;
      const rest = remains(bytes.subarray(syncedBytes), name);
      content.bytes = Buffer.concat([bytes.subarray(0, syncedBytes), rest]);
      content.syncedBytes = content.bytes.length;
    }
  }

  /** Only the process dies: what it wrote is there, and still not synced. */
  kill(): void {
    this.#life++;
    this.#isHeld = false;
  }

  /** The same disk once more, as it stands. */
  copy(): MemoryStorage {
    const other = new MemoryStorage();
    for (const [name, { bytes, syncedBytes, isNamed }] of this.files) {
      other.files.set(name, { bytes: Buffer.from(bytes), syncedBytes, isNamed });
    }
    return other;
  }

  #did(deed: string): void {
    this.deeds.push(deed);
    this.fail(deed);
  }

  #content(name: string): Content {
    const content = this.files.get(name);
    if (content === undefined) throw Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' });
    return content;
  }
}
