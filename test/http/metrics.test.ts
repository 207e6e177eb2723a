import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { LABELS } from '../../src/http/metrics.ts';
import { type Service, startService, until } from './service.ts';

type Sample = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** The samples of the text format. */
function samplesOf(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, inner]) => [key, inner]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });
}

let service: Service;
let samples: () => Promise<readonly Sample[]>;
/** The sum of all samples of that name with those labels. */
let count: (name: string, labels?: Record<string, string>) => Promise<number>;
beforeEach(async () => {
  service = await startService({ flags: { 'max-output-bytes': 100 } });
  samples = async () => samplesOf((await service.call('/metrics')).text);
  count = async (name, labels = {}) =>
    (await samples())
      .filter((each) => each.name === `signalbox_${name}`)
      .filter((each) => Object.entries(labels).every(([key, value]) => each.labels[key] === value))
      .reduce((sum, { value }) => sum + value, 0);
});

const wait = { prefer: 'wait=30' };
const BLOCKER = 'while [ ! -e go ]; do sleep 0.02; done';

test('the figures are in the text format of Prometheus, and nothing else is to be had', async () => {
  const answer = await service.call('/metrics', {
    headers: { accept: 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3' },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(answer.text).toMatch(/^# HELP signalbox_info /);
  expect((await service.call('/metrics', { headers: { accept: 'application/json' } })).status).toBe(406);
});

test('verdicts are counted by kind and code, of batches and of questions', async () => {
  await service.run({ commands: ['ls', 'pwd', 'touch a', 'ls; ls'] }, wait);
  const body = { commands: ['ls', 'touch a', null] };
  await service.call('/classify', { method: 'POST', body });
  const verdicts = async (labels: Record<string, string>) => count('verdicts_total', labels);
  expect(await verdicts({ asked: 'batch', kind: 'parallel', code: 'none' })).toBe(2);
  expect(await verdicts({ asked: 'batch', kind: 'serial' })).toBe(2);
  expect(await verdicts({ asked: 'question', kind: 'parallel' })).toBe(1);
  expect(await verdicts({ asked: 'question', code: 'INPUT_NOT_TEXT' })).toBe(1);
  // Looking changes nothing.
  expect(await verdicts({})).toBe(7);
  expect(await count('info', { version: '0.0.0-test' })).toBe(1);
});

test('commands and batches are counted where they are, and leave when they end', async () => {
  const { id } = await service.run({ open: true, commands: [BLOCKER, 'touch a', 'touch b'] });
  await until(async () => (await count('commands', { state: 'running' })) === 1);
  expect(await count('commands', { state: 'waiting' })).toBe(2);
  expect(await count('batches', { state: 'open' })).toBe(1);
  expect(await count('lock_waiters')).toBe(2);
  await service.call(`/batches/${id}/close`, { method: 'POST' });
  expect([await count('batches', { state: 'open' }), await count('batches', { state: 'running' })]).toEqual([0, 1]);
  writeFileSync(join(service.root, 'go'), '');
  await service.call(`/batches/${id}`, { headers: wait });
  for (const name of ['commands', 'batches']) expect(await count(name)).toBe(0);
  expect(await count('commands_ended_total', { state: 'exited' })).toBe(3);
  expect(await count('batches_ended_total', { state: 'finished' })).toBe(1);
  await until(async () => (await count('lock_hold_seconds_count')) === 3);
  expect(await count('lock_wait_seconds_count')).toBe(3);
  expect(await count('lock_hold_seconds_sum')).toBeGreaterThan(0);
});

test('those that were cancelled before they began leave the waiting ones', async () => {
  const { id } = await service.run({ commands: [BLOCKER, 'touch a', 'touch b'] });
  await until(async () => (await count('commands', { state: 'running' })) === 1);
  await service.call(`/batches/${id}`, { method: 'DELETE', headers: wait });
  expect([await count('commands', { state: 'waiting' }), await count('commands', { state: 'running' })]).toEqual([
    0, 0,
  ]);
  expect(await count('commands_ended_total', { state: 'cancelled' })).toBe(1);
  expect(await count('commands_ended_total', { state: 'not-started' })).toBe(2);
  expect(await count('batches_ended_total', { state: 'cancelled' })).toBe(1);
  expect(await count('lock_waiters')).toBe(0);
});

test('output that was cut is counted by its stream, and a command that could not be started', async () => {
  await service.run({ commands: ['printf %0200d 1', 'printf %0200d 1 >&2', 'printf x'] }, wait);
  expect(await count('truncations_total', { stream: 'stdout' })).toBe(1);
  expect(await count('truncations_total', { stream: 'stderr' })).toBe(1);
  expect(await count('spawn_failures_total')).toBe(0);
  // Its directory is gone by the time it may start.
  await service.run({ commands: ['mkdir gone'] }, wait);
  await service.run({ commands: ['rmdir gone', { command: 'true', cwd: 'gone' }] }, wait);
  expect(await count('spawn_failures_total')).toBe(1);
  expect(await count('commands_ended_total', { state: 'failed' })).toBe(1);
});

test('problems are counted by their code', async () => {
  await service.call('/nowhere');
  await service.call('/batches/none');
  await service.call('/batches', { method: 'POST', body: { commands: [] } });
  expect(await count('problems_total', { code: 'ROUTE_UNKNOWN' })).toBe(1);
  expect(await count('problems_total', { code: 'BATCH_UNKNOWN' })).toBe(1);
  expect(await count('problems_total', { code: 'COMMANDS_EMPTY' })).toBe(1);
});

test('every label comes from a closed list, and nothing of a command, a path, an id or a token is in the text', async () => {
  const secret = 'xyzzy-marker';
  const { id } = await service.run(
    {
      commands: [
        { id: `id-${secret}`, command: `echo ${secret}`, env: { A: secret }, lockKeys: [`key-${secret}`] },
        `cat /nowhere/${secret}`,
        `${secret} --version`,
        `touch ${secret}`,
      ],
    },
    wait,
  );
  await service.call(`/batches/${secret}`, { headers: { authorization: `Bearer ${secret}-0123456789` } });
  await service.call(`/${secret}?q=${secret}`, { method: 'PUT' });
  await service.call(`/classify?command=${secret}`);
  const { text } = await service.call('/metrics');
  for (const hidden of [secret, id, service.root]) expect(text).not.toContain(hidden);
  const wrong = samplesOf(text).flatMap(({ name, labels }) =>
    Object.entries(labels)
      .filter(([label]) => name !== 'signalbox_info' && label !== 'le')
      .filter(([label, value]) => !(LABELS[label] ?? []).includes(value))
      .map(([label, value]) => `${name} ${label}=${value}`),
  );
  expect(wrong).toEqual([]);
  const [info] = samplesOf(text).filter(({ name }) => name === 'signalbox_info');
  expect(Object.keys(info?.labels ?? {}).sort()).toEqual(['ruleset', 'version']);
});

test('two services of one process count apart', async () => {
  const other = await startService();
  await other.run({ commands: ['ls'] }, wait);
  expect(await count('verdicts_total')).toBe(0);
  expect(samplesOf((await other.call('/metrics')).text).length).toBeGreaterThan(10);
});
