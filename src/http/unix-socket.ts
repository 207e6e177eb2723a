import { chmodSync, lstatSync, mkdtempSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { SignalboxError } from '../errors.ts';

/** Bytes of a path that a socket address takes (`sun_path` of Linux, without the NUL). */
const MAX_PATH_BYTES = 107;

/** What stands between the directory and the socket while it is made. */
const MADE_IN = '.signalbox-';

/**
 * Listens on a Unix socket that is never there with other rights than those asked for: it is made in a directory that is
 * nobody else's, and moved to its place. One that a dead server left is replaced.
 *
 * @param mode of the file, from 0 to 0o777; who may write it may connect.
 * @throws SignalboxError BIND_FAILED.
 */
export async function listenOnSocket(app: FastifyInstance, path: string, mode: number): Promise<void> {
  // Made in its directory under another name, which is as long as this.
  const longest = Math.max(Buffer.byteLength(path), Buffer.byteLength(join(dirname(path), `${MADE_IN}XXXXXX`, 's')));
  if (longest > MAX_PATH_BYTES) {
    throw refusal(
      `Expected a path of at most ${MAX_PATH_BYTES} bytes for the socket and what it is made from, got ${longest}`,
    );
  }
  await requireFree(path);
  const workshop = makeWorkshop(path);
  const made = join(workshop, 's');
  try {
    await app.listen({ path: made, listenTextResolver: () => 'listening on a Unix socket' });
    chmodSync(made, mode);
    renameSync(made, path);
  } catch (cause) {
    await app.close();
    throw refusal(`Cannot listen on ${path}: ${(cause as Error).message}`, cause);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
  const { ino } = lstatSync(path, { bigint: true });
  // Node removes what it made where it made it; another server may have taken the place meanwhile.
  app.server.once('close', () => {
    const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (there?.ino === ino) unlinkSync(path);
  });
}

/** Nothing may be there but a socket on which nobody listens. */
async function requireFree(path: string): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined) return;
  if (!there.isSocket()) throw refusal(`Expected ${path} to be free, or a socket, got another file`);
  if (await isAnswered(path)) throw refusal(`The socket ${path} is in use by another process`);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const tell = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => tell(true));
    // A socket without rights for us may well be somebody's.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => tell(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  });
}

function makeWorkshop(path: string): string {
  try {
    return mkdtempSync(join(dirname(path), MADE_IN));
  } catch (cause) {
    throw refusal(`Cannot make ${basename(path)} in ${dirname(path)}: ${(cause as Error).message}`, cause);
  }
}

function refusal(detail: string, cause?: unknown): SignalboxError {
  return new SignalboxError('BIND_FAILED', detail, { cause, hint: 'Choose another path with --socket' });
}
