import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { holdDirectory } from './directory-hold.ts';
import type { AppendFile, Storage } from './storage.ts';

/** What commands say and print is nobody else's: neither files nor directories can be read by others. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** The storage that is a directory of the file system. @param directory made with its parents when it is missing */
export function fileStorage(directory: string): Storage {
  const place = resolve(directory);
  const path = (name: string) => join(place, name);
  return Object.freeze({
    place,
    async hold() {
      await makeDirectory(place);
      return holdDirectory(place);
    },
    list: () => readdir(place),
    read: (name: string) => readFile(path(name)),
    async create(name: string) {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;
      return appendFile(await open(path(name), flags, FILE_MODE));
    },
    async truncate(name: string, bytes: number) {
      await withHandle(path(name), 'r+', async (handle) => {
        await handle.truncate(bytes);
        await handle.sync();
      });
    },
    remove: (name: string) => unlink(path(name)),
    syncDirectory: () => syncDirectory(place),
  });
}

function appendFile(handle: FileHandle): AppendFile {
  return Object.freeze({
    async append(bytes: Buffer) {
      // A write may take less than it was given; a disk that fills up does so before it says that it is full.
      for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten;
    },
    sync: () => handle.datasync(),
    close: () => handle.close(),
  });
}

/** Each new directory's name is durable too: a journal whose directory is gone after a power cut is lost with it. */
async function makeDirectory(place: string): Promise<void> {
  const first = await mkdir(place, { recursive: true, mode: DIRECTORY_MODE });
  if (first === undefined) return;
  for (let made = place; ; made = dirname(made)) {
    await syncDirectory(dirname(made));
    if (made === first) return;
  }
}

function syncDirectory(place: string): Promise<void> {
  return withHandle(place, 'r', (handle) => handle.sync());
}

async function withHandle(path: string, flags: string, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(path, flags);
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}
