import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Finding } from './evidence.ts';
import type { Ground } from './trees.ts';
import { MAX_OUTPUT_BYTES } from './writers.ts';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));

/** Milliseconds that the service has to end in once nothing runs any more, and that are kept for a slow machine. */
const SHUTDOWN_MS = 9_000;
const PATIENCE_MS = 20_000;

export type ServedProcess = {
  readonly pid: number;
  readonly port: number;
  /** What it complained about so far. */
  readonly complaints: () => string;
  readonly hasEnded: () => boolean;
  /** Asks it to end and says what was wrong with how it did. */
  readonly stop: () => Promise<readonly Finding[]>;
  readonly kill: () => void;
};

/**
 * Starts the built service as a process of its own, from a copy of the build: what is built meanwhile changes nothing.
 * It runs as nobody in particular where that can be had.
 */
export async function startServed(ground: Ground): Promise<ServedProcess> {
  const app = join(ground.top, 'app');
  mkdirSync(app);
  for (const name of ['dist', 'rules', 'docs', 'package.json']) {
    cpSync(join(PROJECT, name), join(app, name), { recursive: true });
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(app, 'node_modules'));
  const child = spawn(
    process.execPath,
    [join(app, 'dist/cli/main.js'), 'serve', '--port', '0', '--root', ground.root],
    {
      cwd: ground.home,
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: ground.home,
        LANG: 'C.UTF-8',
        TMPDIR: ground.temporary,
        SIGNALBOX_LOG_LEVEL: 'warn',
        SIGNALBOX_MAX_OUTPUT_BYTES: `${MAX_OUTPUT_BYTES}`,
        SIGNALBOX_RETENTION_MAX_BYTES: '33554432',
        SIGNALBOX_SHUTDOWN_DEADLINE_MS: `${SHUTDOWN_MS}`,
      },
      ...ground.owner,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints = `${complaints}${chunk}`.slice(-20_000);
  });
  const port = await portOf(child, () => complaints);
  return {
    pid: child.pid ?? 0,
    port,
    complaints: () => complaints,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    stop: () => stop(child),
    kill: () => child.kill('SIGKILL'),
  };
}

function portOf(child: ChildProcess, complaints: () => string): Promise<number> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The service ended before it listened: ${complaints()}`)));
    child.stdout?.on('data', (chunk) => {
      said += chunk;
      const port = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

async function stop(child: ChildProcess): Promise<readonly Finding[]> {
  const find = (detail: string): readonly Finding[] => [{ kind: 'service', batch: '', detail }];
  if (child.exitCode !== null || child.signalCode !== null) return find('the service had ended before it was asked to');
  const late = setTimeout(() => child.kill('SIGKILL'), SHUTDOWN_MS + PATIENCE_MS);
  child.kill('SIGTERM');
  const [code, signal] = await once(child, 'exit');
  clearTimeout(late);
  return code === 0 ? [] : find(`asked to end, the service ended with ${code ?? signal}`);
}
