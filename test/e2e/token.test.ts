import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTokens } from '../../src/http/token.ts';
import { runCli, temporaryDirectory } from './cli.ts';

test('a token that was made is let in by the line that was made with it', async () => {
  const args = ['token', 'new', 'ci', '--scope', 'classify,run', '--expires', '2999-01-31T00:00:00Z'];
  const { code, stdout } = await runCli(args);
  expect(code).toBe(0);
  const [, token = '', , , line = ''] = stdout.split('\n').map((each) => each.trim());
  const file = join(temporaryDirectory(), 'tokens');
  writeFileSync(file, `${line}\n`);
  const principal = readTokens(file).find(token);
  expect(principal).toMatchObject({ name: 'ci', expiresAt: Date.parse('2999-01-31T00:00:00Z') });
  expect([...(principal?.scopes ?? [])]).toEqual(['classify', 'run']);
  expect(line).not.toContain(token);

  const other = JSON.parse((await runCli(['token', 'new', 'ci', '--scope', 'run', '--format', 'json'])).stdout);
  expect(other).toEqual({
    name: 'ci',
    scopes: ['run'],
    expires: null,
    token: expect.any(String),
    line: expect.any(String),
  });
  expect(other.token).not.toBe(token);
  expect(other.token).toMatch(/^[\w-]{43}$/);
});

test.each([
  [['new', '--scope', 'run'], "missing required argument 'name'"],
  [['new', 'ci'], "required option '--scope <scopes>' not specified"],
  [['new', 'a b', '--scope', 'run'], 'Expected 1 to 64 letters'],
  [['new', 'ci', '--scope', 'root'], 'Expected some of classify, run, vouch, metrics, admin'],
  [['new', 'ci', '--scope', 'run', '--expires', 'soon'], 'Expected a time in UTC'],
])('a call that is wrong makes none: %j', async (args, expected) => {
  const { code, stdout, stderr } = await runCli(['token', ...args]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(expected);
});
