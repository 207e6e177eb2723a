import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verdict, verdicts } from '../../src/http/verdict-answers.ts';
import { openService, startService } from './service.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const ask = (body: object | string) => service.call('/classify', { method: 'POST', body });
const quick = (query: string) => service.call(`/classify?${query}`);
const code = (found: { kind: string; reason?: { code: string } }) => found.reason?.code ?? found.kind;

describe('POST /classify', () => {
  test('one command gets one verdict, in full', async () => {
    const answer = await ask({ command: 'git log --oneline -5' });
    expect(answer.status).toBe(200);
    expect(verdict.parse(answer.json)).toMatchObject({
      kind: 'parallel',
      run: { form: 'argv', argv: expect.arrayContaining(['git', '--oneline']) },
      ruleset: (await service.call('/capabilities')).json.ruleset,
    });
  });

  test('a serial verdict says where and why', async () => {
    const found = verdict.parse((await ask({ command: 'ls; id' })).json);
    expect(found).toMatchObject({
      kind: 'serial',
      reason: { check: 'metacharacters', code: 'TEXT_OPERATOR', span: [2, 3] },
    });
  });

  test('which readers may be parallel holds for all commands of the request', async () => {
    const commands = ['npm view react', { command: 'systemctl status sshd' }, 'ls'];
    const codes = async (allow: object) =>
      verdicts.parse((await ask({ commands, allow })).json).verdicts.map((each) => code(each));
    expect(await codes({ network: false })).toEqual(['EFFECT_REFUSED', 'parallel', 'parallel']);
    expect(await codes({ network: false, daemon: false })).toEqual(['EFFECT_REFUSED', 'EFFECT_REFUSED', 'parallel']);
    expect(code((await ask({ command: 'npm view react', allow: { network: false } })).json)).toBe('EFFECT_REFUSED');
  });

  test.each([[{ netwrok: false }], [{ network: 'no' }], [null], [[]]])('%j says nothing of readers', async (allow) => {
    const answer = await ask({ command: 'ls', allow });
    expect([answer.status, answer.json.code]).toEqual([400, 'REQUEST_INVALID']);
    expect(answer.json.pointer).toMatch(/^\/allow/);
  });

  test('many get theirs in order, and nothing of them runs', async () => {
    const commands = ['touch ran.txt', 'ls -la', { command: 'echo x > ran.txt' }, 'git status'];
    const found = verdicts.parse((await ask({ commands })).json).verdicts;
    expect(found.map(({ kind }) => kind)).toEqual(['serial', 'parallel', 'serial', 'parallel']);
    expect(existsSync(join(service.root, 'ran.txt'))).toBe(false);
  });

  test.each([null, 5, true, [], ['ls'], {}, { command: 'ls' }])(
    'a command that is %j is serial and costs no other its verdict',
    async (value) => {
      expect(code((await ask({ command: value })).json)).toBe('INPUT_NOT_TEXT');
      const many = (await ask({ commands: ['ls', { command: value }, 'pwd'] })).json.verdicts;
      expect(many.map(code)).toEqual(['parallel', 'INPUT_NOT_TEXT', 'parallel']);
    },
  );

  test('an element that is no text is serial in its place', async () => {
    const many = (await ask({ commands: ['ls', null, 5, false, ['ls'], 'pwd'] })).json.verdicts;
    expect(many.map(code)).toEqual(['parallel', ...Array(4).fill('INPUT_NOT_TEXT'), 'parallel']);
  });

  test('text that cannot be run is text, and serial', async () => {
    const texts = ['', ' ', 'ls\n', 'ls\0', `echo ${String.fromCharCode(0xdc00)}`, 'x'.repeat(20_000)];
    const many = (await ask({ commands: texts })).json.verdicts;
    expect(many.map(({ kind }: { kind: string }) => kind)).toEqual(texts.map(() => 'serial'));
    expect(many.map(code)).toContain('TEXT_NOT_WELL_FORMED');
  });

  test('the directory counts, is taken as text, and each command may have its own', async () => {
    expect((await ask({ command: 'ls', cwd: '/nowhere/at/all' })).json.kind).toBe('parallel');
    expect(code((await ask({ command: 'ls', cwd: '/proc/self' })).json)).toBe('DIRECTORY_DEVICE');
    const commands = [{ command: 'ls', cwd: '/dev' }, 'ls'];
    expect((await ask({ commands, cwd: '/tmp' })).json.verdicts.map(code)).toEqual(['DIRECTORY_DEVICE', 'parallel']);
    expect(
      (await ask({ commands: ['ls', { command: 'ls', cwd: '/tmp' }], cwd: '/sys' })).json.verdicts.map(code),
    ).toEqual(['DIRECTORY_DEVICE', 'parallel']);
  });

  test('a variable that no profile knows makes it serial', async () => {
    expect(code((await ask({ command: 'ls', env: { LS_SOMETHING_ELSE: '1' } })).json)).toBe('VARIABLE_UNKNOWN');
    expect(code((await ask({ commands: [{ command: 'ls', env: { LS_SOMETHING_ELSE: '1' } }] })).json.verdicts[0])).toBe(
      'VARIABLE_UNKNOWN',
    );
  });

  test.each<[string, string, object, string?]>([
    ['nothing', 'REQUEST_INVALID', {}, ''],
    ['both kinds at once', 'REQUEST_INVALID', { command: 'ls', commands: ['ls'] }, ''],
    ['an empty list', 'COMMANDS_EMPTY', { commands: [] }, '/commands'],
    ['an object without a command', 'REQUEST_INVALID', { commands: ['ls', {}] }, '/commands/1/command'],
    [
      'an object with another field',
      'REQUEST_INVALID',
      { commands: [{ command: 'ls', timeoutMs: 5 }] },
      '/commands/0/timeoutMs',
    ],
    ['an unknown field', 'REQUEST_INVALID', { command: 'ls', comand: 'ls' }, '/comand'],
    ['a directory that is no text', 'REQUEST_INVALID', { command: 'ls', cwd: 5 }, '/cwd'],
    ['an unknown mode', 'REQUEST_INVALID', { command: 'ls', mode: 'x' }, '/mode'],
    ['a mode that is no text', 'REQUEST_INVALID', { command: 'ls', mode: true }, '/mode'],
    ['too many', 'COMMANDS_TOO_MANY', { commands: Array(1_001).fill('ls') }, '/commands'],
  ])('%s is refused', async (_, expected, body, pointer) => {
    const answer = await ask(body);
    expect(answer.json).toMatchObject({ status: 400, code: expected, pointer });
  });

  test('a thousand commands are answered at once', async () => {
    const { verdicts: many } = (await ask({ commands: Array.from({ length: 1_000 }, (_, n) => `cat file-${n}`) })).json;
    expect(many).toHaveLength(1_000);
    expect(new Set(many.map(code))).toEqual(new Set(['parallel']));
  });
});

describe('GET /classify', () => {
  test('judges the command of the query, in both spellings of a blank', async () => {
    const { json } = await ask({ command: 'grep -rn "a|b" src' });
    expect((await quick(`command=${encodeURIComponent('grep -rn "a|b" src')}`)).json).toEqual(json);
    expect((await quick('command=grep+-rn+%22a%7Cb%22+src')).json).toEqual(json);
  });

  test('knows the directory', async () => {
    expect(code((await quick('command=ls&cwd=/proc')).json)).toBe('DIRECTORY_DEVICE');
    expect((await quick('command=ls&mode=simple')).json.kind).toBe('parallel');
  });

  test.each([
    ['', 'REQUEST_INVALID'],
    ['command=ls&command=pwd', 'REQUEST_INVALID'],
    ['command=ls&x=1', 'REQUEST_INVALID'],
    ['comand=ls', 'REQUEST_INVALID'],
    ['command=ls&mode=fast', 'REQUEST_INVALID'],
    ['command=%ff', 'URL_MALFORMED'],
    ['command=%', 'URL_MALFORMED'],
    ['command=%zz', 'URL_MALFORMED'],
    ['command=%ed%a0%80', 'URL_MALFORMED'],
  ])('%j is refused', async (query, expected) => {
    expect((await quick(query)).json).toMatchObject({ status: 400, code: expected });
  });
});

test('the number of questions is limited as that of commands', async () => {
  const small = await startService({ flags: { 'max-commands': 1 } });
  expect((await small.call('/classify', { method: 'POST', body: { commands: ['ls', 'ls'] } })).json.code).toBe(
    'COMMANDS_TOO_MANY',
  );
});
