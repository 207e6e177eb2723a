import { closeSync, constants, openSync, readSync } from 'node:fs';

/** Bytes of a first line that are looked at; the kernel reads as many. */
const FIRST_LINE = 256;

/**
 * The words behind `#!` in the first line of a script; none for any other program, also for one that may be run without
 * being readable, since that is no script. Null when it could not be read for another reason.
 */
export function scriptLine(file: string): readonly string[] | null {
  let handle: number | null = null;
  try {
    // Not blocking, so that a FIFO in the place of a program cannot hold us.
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(FIRST_LINE);
    const line = buffer.toString('latin1', 0, readSync(handle, buffer, 0, FIRST_LINE, 0)).split('\n', 1)[0] as string;
    if (!line.startsWith('#!')) return [];
    return line
      .slice(2)
      .split(/[ \t]+/)
      .filter((word) => word !== '');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? [] : null;
  } finally {
    if (handle !== null) closeSync(handle);
  }
}
