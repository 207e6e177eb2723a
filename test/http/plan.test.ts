import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plan } from '../../src/http/answers.ts';
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

  test('is answered by a service that only judges, which announces it', async () => {
    const judging = await startService({ flags: { 'classify-only': 'true' } });
    expect((await ask({ commands: ['ls'] }, judging)).status).toBe(200);
    expect((await judging.call('/capabilities')).json.capabilities).toContain('plan');
  });
});
