import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A throw-away home with repositories in it, and a real git that knows nothing but this home. */
export type Place = {
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly git: (directory: string, ...args: readonly string[]) => string;
  readonly write: (path: string, text: string | Buffer) => string;
  /** A repository with one commit of `a.txt` and `sub/b.bin`. */
  readonly repository: (name?: string) => string;
  /** A program that leaves a mark and passes its input on. */
  readonly trap: string;
  /** Whether the trap was started since it was last asked. */
  readonly sprung: () => boolean;
};

export function makePlace(): Place {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-repository-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: home,
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.org',
    GIT_ALLOW_PROTOCOL: 'file',
  };
  const git = (directory: string, ...args: readonly string[]): string =>
    execFileSync('git', args, {
      cwd: directory,
      env: environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const write = (path: string, text: string | Buffer): string => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const mark = join(home, 'mark');
  const trap = write(
    join(home, 'trap'),
    `#!/bin/sh\n: > '${mark}'\nif [ $# -gt 0 ] && [ -f "$1" ]; then cat "$1"; else cat; fi\n`,
  );
  chmodSync(trap, 0o755);
  return {
    home,
    environment,
    git,
    write,
    trap,
    sprung: () => {
      const was = existsSync(mark);
      rmSync(mark, { force: true });
      return was;
    },
    repository: (name = 'repo') => {
      const top = join(home, name);
      write(join(top, 'a.txt'), 'one\n');
      write(join(top, 'sub/b.bin'), 'two\n');
      git(top, 'init', '--quiet');
      git(top, 'add', '.');
      git(top, 'commit', '--quiet', '-m', 'first');
      return top;
    },
  };
}
