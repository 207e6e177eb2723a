import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchEvent, batchResult } from '../../src/http/answers.ts';
import { temporaryDirectory } from '../support/dispatcher.ts';
import { openService, parseLines, type Service, send, startService, until } from './service.ts';
import { isEvent, startUpload } from './upload.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const asking = (id: string, command: string) => ({ id, command, approval: 'required' });
const answer = (batchId: string, approvals: unknown, on: Service = service, headers: Record<string, string> = {}) =>
  on.call(`/batches/${batchId}/approvals`, { method: 'POST', body: { approvals }, headers });
const approve = (id: string) => ({ id, decision: 'approve' });
const decline = (id: string, reason?: string) => ({
  id,
  decision: 'decline',
  ...(reason === undefined ? {} : { reason }),
});

describe('POST /batches/{id}/approvals', () => {
  test('a batch that is complete waits for every answer, says for what, and runs the rest in order', async () => {
    const batch = await service.run({
      commands: ['echo 1', asking('publish', 'echo 2'), asking('wipe', 'touch wiped'), 'echo 4'],
    });
    expect(batchResult.parse(batch)).toMatchObject({ state: 'running', paused: true, asks: ['publish', 'wipe'] });
    expect(batch.commands.map(({ state }) => state)).toEqual(Array(4).fill('queued'));
    const half = await answer(batch.id, [approve('publish')]);
    expect(half.status).toBe(200);
    expect(batchResult.parse(half.json)).toMatchObject({ paused: true, asks: ['wipe'] });
    const whole = await answer(batch.id, [decline('wipe', 'keep it')], service, { prefer: 'wait=30' });
    expect(whole.headers['preference-applied']).toBe('wait=30');
    const ended = batchResult.parse(whole.json);
    expect(ended).toMatchObject({ state: 'finished', paused: false, asks: [] });
    expect(ended.commands.map(({ state, stdout, note }) => [state, stdout, note])).toEqual([
      ['exited', '1\n', null],
      ['exited', '2\n', null],
      ['not-started', '', 'Declined: keep it'],
      ['exited', '4\n', null],
    ]);
    expect(existsSync(join(service.root, 'wiped'))).toBe(false);
    const { text: lines } = await service.call(`/batches/${batch.id}/events`, {
      headers: { accept: 'application/x-ndjson' },
    });
    const told = parseLines(lines).map((event) => batchEvent.parse(event));
    expect(
      told.flatMap((event) => (event.type === 'asking' || event.type === 'answered' ? [event] : [])),
    ).toMatchObject([
      { type: 'asking', commandId: 'publish' },
      { type: 'asking', commandId: 'wipe' },
      { type: 'answered', commandId: 'publish', decision: 'approve' },
      { type: 'answered', commandId: 'wipe', decision: 'decline', reason: 'keep it' },
    ]);
    expect(service.logs()).toContain('"msg":"command answered"');
  });

  test('is all or none, the same answer again changes nothing, and another one conflicts', async () => {
    const { id } = await service.run({
      commands: [asking('a', 'echo a'), asking('b', 'echo b'), { id: 'c', command: 'echo c' }],
    });
    const codes = async (...approvals: unknown[]) => {
      const { status, json } = await answer(id, approvals);
      return status === 200 ? json.asks : [status, json.code, json.pointer];
    };
    expect(await codes(approve('a'), approve('nobody'))).toEqual([404, 'APPROVAL_UNKNOWN', '/approvals/1/id']);
    expect(await codes(approve('a'), approve('c'))).toEqual([404, 'APPROVAL_UNKNOWN', '/approvals/1/id']);
    expect(await codes(approve('a'), decline('a'))).toEqual([409, 'APPROVAL_CONFLICT', '/approvals/1/decision']);
    expect(await codes(approve('a'))).toEqual(['b']);
    expect(await codes(approve('a'))).toEqual(['b']);
    expect(await codes(decline('a'), decline('b'))).toEqual([409, 'APPROVAL_CONFLICT', '/approvals/0/decision']);
    expect(await codes(approve('a'), decline('b'))).toEqual([]);
    // Also when it has ended.
    await until(async () => (await service.call(`/batches/${id}`)).json.state === 'finished');
    expect(await codes(decline('b'), approve('a'))).toEqual([]);
    expect(await codes(approve('b'))).toEqual([409, 'APPROVAL_CONFLICT', '/approvals/0/decision']);
  });

  test.each<[string, unknown, number, string]>([
    ['no approvals', {}, 400, 'REQUEST_INVALID'],
    ['an empty list', { approvals: [] }, 400, 'REQUEST_INVALID'],
    ['another decision', { approvals: [{ id: 'a', decision: 'maybe' }] }, 400, 'REQUEST_INVALID'],
    ['a decision that is merely true', { approvals: [{ id: 'a', decision: true }] }, 400, 'REQUEST_INVALID'],
    ['an unknown field', { approvals: [{ id: 'a', decision: 'approve', by: 'me' }] }, 400, 'REQUEST_INVALID'],
    [
      'a long reason',
      { approvals: [{ id: 'a', decision: 'decline', reason: 'x'.repeat(1025) }] },
      400,
      'REQUEST_INVALID',
    ],
  ])('%s approves nothing', async (_what, body, status, code) => {
    const { id } = await service.run({ commands: [asking('a', 'touch approved')] });
    const refused = await service.call(`/batches/${id}/approvals`, { method: 'POST', body: body as object });
    expect([refused.status, refused.json.code]).toEqual([status, code]);
    expect((await service.call(`/batches/${id}`)).json.asks).toEqual(['a']);
    const cancelled = await service.call(`/batches/${id}`, { method: 'DELETE', headers: { prefer: 'wait=30' } });
    expect(cancelled.json).toMatchObject({ state: 'cancelled', paused: false, asks: [] });
    expect((await answer(id, [approve('a')])).json).toMatchObject({ status: 409, code: 'APPROVAL_CONFLICT' });
    expect(existsSync(join(service.root, 'approved'))).toBe(false);
  });

  test('a batch that nobody knows is told as everywhere', async () => {
    expect((await answer('nothing', [approve('a')])).json).toMatchObject({ status: 404, code: 'BATCH_UNKNOWN' });
  });

  test('an asking line of an upload stops later ones until it is answered, while it goes on being read', async () => {
    const upload = startUpload(service);
    upload.lines('echo 1', asking('ask', 'echo 2'), 'echo 3');
    const asked = await upload.until((told) => told.type === 'asking');
    await upload.until(isEvent('accepted', 'c3'));
    expect((await service.call(`/batches/${asked.batchId}`)).json).toMatchObject({ paused: true, asks: ['ask'] });
    expect((await answer(asked.batchId, [approve('ask')])).status).toBe(200);
    upload.end();
    const told = await upload.whole();
    expect(told.at(-1)).toMatchObject({ type: 'batch-finished', state: 'finished' });
    expect(told.flatMap((event) => (event.type === 'output' ? [event.text] : [])).sort()).toEqual([
      '1\n',
      '2\n',
      '3\n',
    ]);
    const at = (type: 'answered' | 'started', id: string) => told.findIndex(isEvent(type, id));
    expect(at('answered', 'ask')).toBeGreaterThan(0);
    expect(at('answered', 'ask')).toBeLessThan(at('started', 'ask'));
    expect(at('answered', 'ask')).toBeLessThan(at('started', 'c3'));
  });

  test('commands for a batch that grows may ask, and one that is sent again asks once', async () => {
    const { id } = await service.run({ commands: [], open: true });
    const add = (...commands: unknown[]) =>
      service.call(`/batches/${id}/commands`, { method: 'POST', body: { commands } });
    expect((await add(asking('a', 'echo a'))).status).toBe(200);
    expect((await add(asking('a', 'echo a'))).json.commands).toEqual([{ id: 'a', known: true }]);
    expect((await add({ id: 'a', command: 'echo a' })).json.code).toBe('COMMAND_ID_CONFLICT');
    expect((await answer(id, [approve('a')])).json.asks).toEqual([]);
    await service.call(`/batches/${id}/close`, { method: 'POST' });
    await until(async () => (await service.call(`/batches/${id}`)).json.state === 'finished');
  });

  test('the shutdown of a service ends what asks', async () => {
    const ending = await openService();
    const { id } = await ending.run({ commands: [asking('a', 'echo a')] });
    const events = await send(ending.port, `/batches/${id}/events`, { headers: { accept: 'application/x-ndjson' } });
    const [told] = await Promise.all([text(events).then(parseLines), ending.close()]);
    expect(told.find(({ type }) => type === 'finished')).toMatchObject({ state: 'not-started' });
  });

  test('is announced, and plans are made as if everything were approved', async () => {
    const { capabilities } = (await service.call('/capabilities')).json;
    expect(capabilities).toEqual(expect.arrayContaining(['approvals', 'vouch']));
    const planned = await service.call('/plan', { method: 'POST', body: { commands: [asking('a', 'ls')] } });
    expect(planned.json.groups).toEqual([{ kind: 'parallel', commandIds: ['a'] }]);
  });
});

describe('tokens', () => {
  const tokens = {
    runner: 'runner-token-0123456789',
    voucher: 'voucher-token-0123456789',
    chief: 'chief-token-0123456789',
  };
  const as = (name: keyof typeof tokens) => ({ authorization: `Bearer ${tokens[name]}` });
  let guarded: Service;
  const prepare = async () => {
    const file = join(temporaryDirectory(), 'tokens');
    const line = (name: keyof typeof tokens, scopes: string) =>
      `${name} ${scopes} sha256:${createHash('sha256').update(tokens[name]).digest('hex')}`;
    writeFileSync(file, [line('runner', 'run'), line('voucher', 'run,vouch'), line('chief', 'admin')].join('\n'));
    guarded = await startService({ flags: { 'token-file': file } });
  };
  const vouched = { command: 'touch made', lockKeys: ['k'], assume: 'parallel' };

  test('only the owner of a batch answers for it; who oversees it reads what it asks', async () => {
    await prepare();
    const { id } = await guarded.run({ commands: [asking('a', 'echo a')] }, as('runner'));
    expect((await answer(id, [approve('a')], guarded, as('voucher'))).json.code).toBe('BATCH_UNKNOWN');
    expect((await answer(id, [approve('a')], guarded, as('chief'))).status).toBe(403);
    expect((await guarded.call(`/batches/${id}`, { headers: as('chief') })).json.asks).toEqual(['a']);
    expect((await answer(id, [approve('a')], guarded, as('runner'))).status).toBe(200);
  });

  test('vouching takes its scope, at every address that takes commands; nothing of a refused request runs', async () => {
    await prepare();
    const post = (path: string, name: keyof typeof tokens, body: object) =>
      guarded.call(path, { method: 'POST', headers: as(name), body });
    const open = await guarded.run({ commands: [], open: true }, as('runner'));
    for (const path of ['/batches', '/plan', `/batches/${open.id}/commands`]) {
      const refused = await post(path, 'runner', { commands: ['touch other', vouched] });
      expect([path, refused.status, refused.json.code, refused.json.pointer]).toEqual([
        ...[path, 403, 'SCOPE_MISSING', '/commands/1/assume'],
      ]);
    }
    const upload = startUpload(guarded, '/batches', as('runner'));
    upload.lines('true', vouched);
    expect(await upload.until((told) => told.type === 'error')).toMatchObject({ code: 'SCOPE_MISSING', line: 2 });
    await upload.whole();
    expect(['made', 'other'].some((name) => existsSync(join(guarded.root, name)))).toBe(false);
    const { status, json } = await guarded.call('/batches', {
      ...{ method: 'POST', headers: { ...as('voucher'), prefer: 'wait=30' }, body: { commands: [vouched] } },
    });
    expect(status).toBe(201);
    expect(batchResult.parse(json).commands[0]).toMatchObject({
      vouched: true,
      exitCode: 0,
      verdict: { kind: 'serial' },
    });
    expect((await post('/plan', 'voucher', { commands: ['ls', vouched] })).json.groups).toHaveLength(1);
    const keyless = await post('/batches', 'voucher', { commands: [{ command: 'true', assume: 'parallel' }] });
    expect(keyless.json).toMatchObject({ status: 400, code: 'VOUCH_WITHOUT_KEYS', pointer: '/commands/0/lockKeys' });
  });

  test('where there are no tokens nobody vouches', async () => {
    const refused = await service.call('/batches', { method: 'POST', body: { commands: [vouched] } });
    expect(refused.json).toMatchObject({ status: 403, code: 'SCOPE_MISSING' });
    expect(existsSync(join(service.root, 'made'))).toBe(false);
  });
});
