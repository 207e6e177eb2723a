import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

/** What was told by the first fields of an answer, and how many they are. */
export type Told<Value> = { readonly value: Value; readonly length: number };

type Waiting<Value> = { readonly resolve: (value: Value) => void; readonly reject: (error: Error) => void };

const PATIENCE_MS = 120_000;

/** A bash that is asked one thing after the other: fields that end with a NUL go in, and fields that end so come out. */
export class AskedBash<Value> {
  readonly #name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #read: (fields: readonly string[]) => Told<Value> | null;
  #waiting: Waiting<Value> | null = null;
  #fields: string[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #complaint = '';
  #isClosed = false;

  /**
   * @param name what it is, for messages.
   * @param words the program and its arguments; a process group of its own.
   * @param read what the fields that have come so far tell; null while more has to come. It throws where they are none.
   */
  constructor(
    name: string,
    [program, ...words]: readonly [string, ...string[]],
    env: Readonly<Record<string, string>>,
    read: (fields: readonly string[]) => Told<Value> | null,
  ) {
    this.#name = name;
    this.#read = read;
    this.#child = spawn(program, words, { stdio: 'pipe', detached: true, env });
    this.#child.stdout.on('data', (data: Buffer) => this.#receive(data));
    this.#child.stderr.on('data', (data: Buffer) => {
      this.#complaint += data.toString();
    });
    this.#child.on('error', (error) => this.#fail(error.message));
    this.#child.on('exit', (code, signal) => this.#fail(`bash ended with ${code ?? signal}`));
    // A write to a bash that has ended is told by its end.
    this.#child.stdin.on('error', () => {});
  }

  /** @param texts what is asked about, for the message when no answer comes. */
  async ask(fields: readonly (string | number)[], texts: readonly string[]): Promise<Value> {
    if (this.#isClosed) throw new Error(`${this.#name} is closed. ${this.#complaint}`);
    const asked = texts.map((text) => JSON.stringify(text)).join(', ');
    const timer = setTimeout(() => this.#fail(`no answer in ${PATIENCE_MS} ms to ${asked}`), PATIENCE_MS);
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
        this.#child.stdin.write(`${fields.join('\0')}\0`);
      });
    } finally {
      clearTimeout(timer);
      this.#waiting = null;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // The group, because a text may have started something.
    const hasEnded = this.#child.exitCode !== null || this.#child.signalCode !== null;
    if (this.#child.pid !== undefined && !hasEnded) process.kill(-this.#child.pid, 'SIGKILL');
  }

  #fail(why: string): void {
    this.#waiting?.reject(new Error(`${this.#name} failed: ${why}. ${this.#complaint}`));
    this.close();
  }

  #receive(data: Buffer): void {
    const buffer = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    const end = buffer.lastIndexOf(0);
    this.#rest = buffer.subarray(end + 1);
    if (end >= 0) this.#fields.push(...buffer.toString('utf8', 0, end).split('\0'));
    try {
      const told = this.#read(this.#fields);
      if (told === null) return;
      this.#fields = this.#fields.slice(told.length);
      this.#waiting?.resolve(told.value);
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }
}
