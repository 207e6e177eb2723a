import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONFIG_SETTINGS, commandEnvironment, isLoopback, loadConfig } from '../../src/config.ts';
import { SignalboxError } from '../../src/errors.ts';

let dir: string;
beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-config-')));
  mkdirSync(join(dir, 'project'));
  symlinkSync(join(dir, 'project'), join(dir, 'link'));
  writeFileSync(join(dir, 'plain'), '');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const load = (sources: Parameters<typeof loadConfig>[0] = {}) => loadConfig({ cwd: dir, env: {}, ...sources });
const file = (content: unknown) => {
  const path = join(dir, 'signalbox.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};
const failure = (sources: Parameters<typeof loadConfig>[0]): SignalboxError => {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof SignalboxError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
};

describe('the defaults', () => {
  test('are loopback, port 7311, and the directory the server was started in', () => {
    const config = load();
    expect(config).toMatchObject({ host: '127.0.0.1', port: 7311, roots: [dir], tokenFile: null, allowedOrigins: [] });
    expect(config.limits).toMatchObject({ maxCommands: 1_000, maxBodyBytes: 1_048_576, maxParallel: 10 });
  });

  test('hand no variable to commands that is not named', () => {
    const env = { PATH: '/bin', HOME: '/h', SECRET_TOKEN: 'x', SIGNALBOX_TOKEN_FILE: 'y' };
    expect(commandEnvironment(load(), env)).toEqual({ PATH: '/bin', HOME: '/h' });
    expect(commandEnvironment(load({ flags: { environment: 'CI,toString' } }), { ...env, CI: '1' })).toEqual({
      CI: '1',
    });
  });

  test('read one command a text, unless the file, a variable or a flag says otherwise', () => {
    expect(load().mode).toBe('simple');
    expect(load({ file: file({ mode: 'compound' }) }).mode).toBe('compound');
    expect(load({ env: { SIGNALBOX_MODE: 'compound' } }).mode).toBe('compound');
    expect(load({ env: { SIGNALBOX_MODE: 'compound' }, flags: { mode: 'simple' } }).mode).toBe('simple');
    expect(failure({ env: { SIGNALBOX_MODE: 'fast' } }).message).toContain('SIGNALBOX_MODE');
  });

  test('are frozen all the way down', () => {
    const config = load();
    for (const value of [config, config.roots, config.limits, config.environment])
      expect(Object.isFrozen(value)).toBe(true);
  });
});

describe('the order of the sources', () => {
  test('is flags over variables over the file over the defaults, field by field', () => {
    const config = load({
      file: file({ port: 1, logLevel: 'warn', limits: { maxCommands: 5, maxParallel: 6 } }),
      env: { SIGNALBOX_PORT: '2', SIGNALBOX_MAX_PARALLEL: '7', SIGNALBOX_HOST: '' },
      flags: { port: '3' },
    });
    expect(config).toMatchObject({ host: '127.0.0.1', port: 3, logLevel: 'warn' });
    expect(config.limits).toMatchObject({ maxCommands: 5, maxParallel: 7, maxBodyBytes: 1_048_576 });
  });

  test('takes lists from variables and flags, and makes relative paths absolute', () => {
    const roots = ['link', dir].join(delimiter);
    const config = load({
      env: { SIGNALBOX_ROOTS: roots, SIGNALBOX_ALLOWED_HOSTS: 'Box.example,box:*', SIGNALBOX_TOKEN_FILE: 'token' },
    });
    expect(config.roots).toEqual([join(dir, 'project'), dir]);
    expect(config.allowedHosts).toEqual(['box.example', 'box:*']);
    expect(config.tokenFile).toBe(join(dir, 'token'));
    expect(load({ flags: { roots: ['project'] } }).roots).toEqual([join(dir, 'project')]);
  });

  test('takes true and false from variables and flags', () => {
    const allowed = (sources: Parameters<typeof load>[0]) => load(sources).allow;
    expect(allowed({})).toEqual({ network: true, daemon: true });
    expect(allowed({ env: { SIGNALBOX_ALLOW_NETWORK: 'false' } })).toEqual({ network: false, daemon: true });
    expect(
      allowed({ file: file({ allow: { network: false, daemon: false } }), flags: { 'allow-daemon': 'true' } }),
    ).toEqual({ network: false, daemon: true });
  });

  test('finds the file through a variable, and never by itself', () => {
    file({ port: 4 });
    expect(load().port).toBe(7311);
    expect(load({ env: { SIGNALBOX_CONFIG: 'signalbox.json' } }).port).toBe(4);
  });
});

describe('a bad configuration says what was expected, what came and where', () => {
  test.each([
    ['a word for a number', { env: { SIGNALBOX_PORT: 'abc' } }, ['number', '"abc"', 'SIGNALBOX_PORT']],
    ['a port that is none', { flags: { port: 70_000 } }, ['65535', '70000', '--port']],
    ['a limit of nothing', { env: { SIGNALBOX_MAX_COMMANDS: '0' } }, ['at least 1', '0', '/limits/maxCommands']],
    ['an unknown level', { flags: { 'log-level': 'loud' } }, ['"info"', '"loud"', '--log-level']],
    ['a variable that cannot be named', { flags: { environment: 'A=B' } }, ['environment variable', '"A=B"']],
    ['an origin without a scheme', { flags: { 'allowed-origins': 'example.org' } }, ['origin', '"example.org"']],
    ['a root that is missing', { flags: { roots: 'nowhere' } }, ['directory', 'nowhere', '--roots']],
    ['a root that is a file', { flags: { roots: 'plain' } }, ['directory', 'plain']],
    ['a batch that could never wait', { flags: { 'max-commands': 20_000 } }, ['at most', '20000', '10000']],
    ['a word for true', { env: { SIGNALBOX_ALLOW_NETWORK: 'no' } }, ['boolean', '"no"', 'SIGNALBOX_ALLOW_NETWORK']],
    ['a number for true', { env: { SIGNALBOX_ALLOW_DAEMON: '0' } }, ['boolean', '"0"', '/allow/daemon']],
    ['grace beyond the deadline', { flags: { 'shutdown-grace-ms': 9_000 } }, ['less than', '9000']],
  ])('%s', (_, sources, words) => {
    const error = failure(sources);
    expect(error.code).toBe('CONFIG_INVALID');
    for (const word of words) expect(error.message).toContain(word);
  });

  test.each([
    ['is missing', '', 'readable'],
    ['is not JSON', '{', 'JSON'],
    ['is a list', [], 'object'],
    ['has an unknown field', { prot: 1 }, '"prot"'],
    ['has an unknown field in a group', { limits: { maxCommand: 1 } }, '/limits/maxCommand'],
    ['has a key with another meaning in JavaScript', '{"__proto__": {"port": 1}}', '__proto__'],
    ['has a misspelt name among what is allowed', { allow: { netwrok: false } }, '/allow/netwrok'],
    ['has text for a group', { limits: 'none' }, '/limits'],
  ])('a file that %s', (_, content, word) => {
    const error = failure({ file: content === '' ? 'missing.json' : file(content) });
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain(word);
  });

  test('an unknown flag is misuse by the caller', () => {
    expect(failure({ flags: { prot: '1' } }).code).toBe('OPTION_INVALID');
  });
});

describe('an address that others can reach', () => {
  test.each(['0.0.0.0', '::', '192.168.1.5', 'box.example', '127.example', '0', '::ffff:127.0.0.1', ' 127.0.0.1'])(
    '%s needs a token file',
    (host) => {
      expect(isLoopback(host)).toBe(false);
      expect(failure({ flags: { host } })).toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('token file'),
      });
      expect(load({ flags: { host, 'token-file': 'token' } }).host).toBe(host);
    },
  );

  test.each(['127.0.0.1', '127.8.9.1', '::1', 'localhost'])('%s needs none', (host) => {
    expect(load({ flags: { host } }).tokenFile).toBe(null);
  });
});

test('every setting has one variable and one flag, and stands in the documentation', () => {
  const names = CONFIG_SETTINGS.map((setting) => setting.variable);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(CONFIG_SETTINGS.map((setting) => setting.flag)).size).toBe(names.length);
  const page = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8');
  for (const { variable, path, description } of CONFIG_SETTINGS) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${path.join('.')}\` | \`${variable}\` | `));
    expect(row, path.join('.')).toMatch(/ \|$/);
    expect(row).toContain(` | ${description} |`);
  }
});
