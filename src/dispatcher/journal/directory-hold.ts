import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { SignalboxError } from '../../errors.ts';

const OWNER = /^owner-([0-9]+)-[0-9a-f]{16}\.sock$/;

/**
 * Takes a directory for this process alone, and gives the function that frees it. Who has it listens on a socket in it: the
 * kernel closes that when the process ends, by `kill -9` too, and then refuses whoever calls.
 *
 * Each owner first shows a socket of a name that never comes again, and that listens already; then it looks for others. So of
 * two who come at once at least one sees the other and gives way (both may), and a socket that nobody answers stays dead and
 * can be taken away by anybody. It holds between all processes of one machine that see the directory, in containers too.
 *
 * @throws SignalboxError JOURNAL_HELD
 */
export async function holdDirectory(directory: string): Promise<() => Promise<void>> {
  const handle = await open(directory, 'r');
  // A socket's path may have 107 bytes and no more; by way of the open directory any fits.
  const base = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : directory;
  const unique = randomBytes(8).toString('hex');
  const [hidden, name] = [`new-${unique}`, `owner-${process.pid}-${unique}.sock`];
  // One that only asks needs no answer.
  const server = createServer((connection) => connection.destroy());
  const free = () => release(server, handle, [join(directory, name), join(directory, hidden)]);
  try {
    await listening(server, join(base, hidden));
    server.unref();
    await rename(join(base, hidden), join(base, name));
    for (const other of (await readdir(directory)).filter((one) => OWNER.test(one) && one !== name)) {
      if (await answers(join(base, other))) throw held(directory, other);
      await rm(join(directory, other), { force: true });
    }
  } catch (error) {
    await free();
    throw error;
  }
  let freed: Promise<void> | undefined;
  return () => {
    freed ??= free();
    return freed;
  };
}

function held(directory: string, owner: string): SignalboxError {
  const pid = OWNER.exec(owner)?.[1];
  return new SignalboxError(
    'JOURNAL_HELD',
    `Expected the journal in ${JSON.stringify(directory)} to be nobody's, but process ${pid} has it open`,
    { hint: 'End that process, or give this one a directory of its own.' },
  );
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Only a clear no counts as one: an owner whose queue is full, or whom we may not call, is there. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(path);
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
    connection.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    );
  });
}

async function release(server: Server, handle: FileHandle, paths: readonly string[]): Promise<void> {
  // Without a callback that is given the error of a server that never came to listen.
  await new Promise<void>((resolve) => server.close(() => resolve()));
  for (const path of paths) await rm(path, { force: true });
  await handle.close();
}
