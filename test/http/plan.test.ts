import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plan } from '../../src/http/answers.ts';
import { makeFifos, temporaryDirectory } from '../support/dispatcher.ts';
import { openService, type Service, startService } from './service.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const ask = (body: object, on: Service = service) => on.call('/plan', { method: 'POST', body });

describe('POST /plan', () => {
  test('answers groups, verdicts and keys of the body that POST /batches takes, and runs nothing', async () => {
    const commands = ['ls', { id: 'here', command: 'pwd', lockKeys: ['db'] }, 'touch made', 'cat made'];
    const answer = await ask({ commands, maxParallel: 2, onFailure: 'stop', onDisconnect: 'cancel', open: true });
    expect(answer.status).toBe(200);
    const planned = plan.parse(answer.json);
    expect(planned.groups).toEqual([
      { kind: 'parallel', commandIds: ['c1', 'here'] },
      { kind: 'serial', commandIds: ['c3'] },
      { kind: 'parallel', commandIds: ['c4'] },
    ]);
    expect(planned.commands[1]?.locks).toContainEqual({ key: 'db', mode: 'exclusive' });
    expect(existsSync(join(service.root, 'made'))).toBe(false);
    expect((await service.call('/readyz')).status).toBe(200);
  });

  test('a thousand commands come whole', async () => {
    const commands = Array.from({ length: 1_000 }, (_, n) => `ls -la ${n}`);
    const answer = await ask({ commands });
    expect(plan.parse(answer.json).commands.map(({ command }) => command)).toEqual(commands);
  });

  test.each<[string, string, string | undefined, object]>([
    ['no command', 'COMMANDS_EMPTY', '/commands', { commands: [] }],
    ['no command in a batch that would be open', 'COMMANDS_EMPTY', '/commands', { commands: [], open: true }],
    ['too many', 'COMMANDS_TOO_MANY', '/commands', { commands: Array(1_001).fill('ls') }],
    ['an empty text', 'COMMAND_EMPTY', '/commands/1', { commands: ['ls', ''] }],
    ['a directory outside', 'DIRECTORY_OUTSIDE_ROOTS', '/cwd', { commands: ['ls'], cwd: '/' }],
    ['an id twice', 'COMMAND_ID_DUPLICATE', '/commands/1/id', { commands: ['ls', { id: 'c1', command: 'pwd' }] }],
    ['an unknown field', 'REQUEST_INVALID', '/comands', { comands: ['ls'], commands: ['ls'] }],
  ])('%s is refused', async (_name, code, pointer, body) => {
    const answer = await ask(body);
    expect(answer.json).toMatchObject({ code, pointer });
    expect(answer.status).toBeLessThan(500);
  });

  test('is announced, but not by a service that only judges, which refuses it: a plan tells what lies elsewhere', async () => {
    expect((await service.call('/capabilities')).json.capabilities).toContain('plan');
    const judging = await startService({ flags: { 'classify-only': 'true' } });
    expect((await ask({ commands: ['ls'] }, judging)).json).toMatchObject({ code: 'CLASSIFY_ONLY', status: 403 });
    expect((await judging.call('/capabilities')).json.capabilities).not.toContain('plan');
  });

  test('takes the scope that running takes: with less it would tell whether a file is there, outside of every root', async () => {
    const outside = temporaryDirectory();
    await makeFifos(outside, 'pipe');
    writeFileSync(join(outside, 'plain'), '');
    const file = join(outside, 'tokens');
    const tokens = { reader: 'reader-token-0123456789', runner: 'runner-token-0123456789' };
    const hashOf = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`;
    writeFileSync(file, `reader classify ${hashOf(tokens.reader)}\nrunner run ${hashOf(tokens.runner)}\n`);
    const guarded = await startService({ flags: { 'token-file': file } });
    const planAs = (name: keyof typeof tokens) =>
      guarded.call('/plan', {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens[name]}` },
        body: { commands: [`cat ${join(outside, 'plain')}`, `cat ${join(outside, 'pipe')}`] },
      });
    const refused = await planAs('reader');
    expect(refused.json).toMatchObject({ code: 'SCOPE_MISSING', status: 403 });
    expect(refused.text).not.toContain('pipe');
    // Whoever may run commands can look for themselves.
    expect((await planAs('runner')).json.groups.map(({ kind }: { kind: string }) => kind)).toEqual([
      'parallel',
      'serial',
    ]);
  });
});
