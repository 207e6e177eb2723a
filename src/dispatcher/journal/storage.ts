/**
 * What the log asks of a disk. A seam: tests bring one that loses whatever was not synced, and one that is full. Names are
 * those of files in the log's one directory. Everything may reject with the system's own error.
 */
export interface Storage {
  /** Where it is, for messages. */
  readonly place: string;
  /**
   * Makes the directory if it is missing, and takes it for this process alone until the given function is called or the process
   * ends, however it does. @throws SignalboxError JOURNAL_HELD when somebody has it.
   */
  hold(): Promise<() => Promise<void>>;
  list(): Promise<readonly string[]>;
  read(name: string): Promise<Buffer>;
  /** Makes a new, empty file; rejects when there is one. Its name is durable after `syncDirectory`. */
  create(name: string): Promise<AppendFile>;
  /** Cuts a file and makes what is left of it durable. */
  truncate(name: string, bytes: number): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes durable which names there are. */
  syncDirectory(): Promise<void>;
}

/** A file that only grows. */
export interface AppendFile {
  /** Writes all of it behind what is there. */
  append(bytes: Buffer): Promise<void>;
  /** What was appended before is durable when this resolves. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
