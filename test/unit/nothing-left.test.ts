import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/dispatcher.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHILD = fileURLToPath(new URL('../support/mixed-run.ts', import.meta.url));

test('after a mixed run no timer, handle, listener, key or slot is left, every wait ended with its signal, and the process ends by itself', async () => {
  const temporary = temporaryDirectory();
  const options = { cwd: ROOT, env: { ...process.env, TMPDIR: temporary }, timeout: 50_000 };
  // It fails when the process has to be killed in the end.
  const args = ['--import', 'tsx', CHILD, temporaryDirectory()];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
  const { before, after, listeners, locks, slots, complaints } = JSON.parse(stdout);
  expect(complaints).toEqual([]);
  expect(after).toEqual(before);
  expect(listeners.length).toBeGreaterThan(20);
  expect(listeners.filter((count: number) => count > 0)).toEqual([]);
  expect([locks, slots]).toEqual([0, [0, 0]]);
  expect(stderr).toBe('');
  expect(readdirSync(temporary).filter((name) => name.startsWith('signalbox'))).toEqual([]);
});

test('nothing that belongs to the library ends the process', () => {
  const directory = new URL('../../src/dispatcher/', import.meta.url);
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const sources = names.map((name) => readFileSync(new URL(name, directory), 'utf8'));
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.filter((source) => /process\.exit\b|process\.exitCode/.test(source))).toEqual([]);
});
