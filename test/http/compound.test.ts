import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { batchResult } from '../../src/http/answers.ts';
import { verdict as verdictSchema } from '../../src/http/verdict-answers.ts';
import { type Service, startService } from './service.ts';

const codeOf = (verdict: Verdict): string => (verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code);

const PIPE = 'cat three.txt | head -1';

/** A service whose root holds a file and a directory, and links to one outside and one inside. */
async function serviceWith(flags: Readonly<Record<string, string>> = {}): Promise<Service> {
  const service = await startService({ flags });
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-outside-')));
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  writeFileSync(join(service.root, 'three.txt'), 'one\ntwo\nthree\n');
  mkdirSync(join(service.root, 'sub/deeper'), { recursive: true });
  writeFileSync(join(service.root, 'sub/in.txt'), 'inside\n');
  symlinkSync(outside, join(service.root, 'out'));
  symlinkSync('sub', join(service.root, 'within'));
  return service;
}

const classified = async (service: Service, body: object): Promise<Verdict> =>
  verdictSchema.parse((await service.call('/classify', { method: 'POST', body })).json);

describe('a question', () => {
  test('is answered in the mode that it names, and in simple mode when it names none', async () => {
    const service = await serviceWith();
    expect(codeOf(await classified(service, { command: PIPE }))).toBe('TEXT_OPERATOR');
    expect(codeOf(await classified(service, { command: PIPE, mode: 'simple' }))).toBe('TEXT_OPERATOR');
    const verdict = await classified(service, { command: PIPE, mode: 'compound' });
    expect(verdict).toMatchObject({
      kind: 'parallel',
      run: { form: 'bash' },
      parts: [
        { span: [0, 13], stdin: 'null' },
        { span: [16, 23], stdin: 'pipe' },
      ],
    });
    expect((await service.call(`/classify?command=${encodeURIComponent(PIPE)}`)).json.kind).toBe('serial');
    expect((await service.call(`/classify?mode=compound&command=${encodeURIComponent(PIPE)}`)).json).toEqual(verdict);
    const { verdicts } = (
      await service.call('/classify', {
        method: 'POST',
        body: { mode: 'compound', commands: [PIPE, 'rm a | cat', { command: 'true; false' }] },
      })
    ).json;
    expect(verdicts.map(codeOf)).toEqual(['parallel', 'COMMAND_REFUSED', 'parallel']);
  });

  test('is answered in the configured mode, unless it names another', async () => {
    const service = await serviceWith({ mode: 'compound' });
    expect(codeOf(await classified(service, { command: PIPE }))).toBe('parallel');
    expect(codeOf(await classified(service, { command: PIPE, mode: 'simple' }))).toBe('TEXT_OPERATOR');
    expect((await service.call('/capabilities')).json).toMatchObject({
      mode: 'compound',
      modes: ['simple', 'compound'],
    });
  });

  test('about a change of directory is held to the roots by its text', async () => {
    const service = await serviceWith({ mode: 'compound' });
    const ask = async (command: string) => codeOf(await classified(service, { command }));
    expect(await ask('cd sub && ls')).toBe('parallel');
    expect(await ask('cd nowhere && ls')).toBe('parallel');
    expect(await ask(`cd ${service.root}/sub && ls`)).toBe('parallel');
    expect(await ask('cd .. && ls')).toBe('CD_OUTSIDE_ROOTS');
    expect(await ask('cd / && ls')).toBe('CD_OUTSIDE_ROOTS');
  });
});

describe('a batch', () => {
  test('runs in the mode that it names; its verdicts carry the parts, live and at the end', async () => {
    const service = await serviceWith();
    const commands = [
      PIPE,
      'cd sub && cat in.txt; pwd',
      'cat three.txt | wc -l > lines.txt',
      'grep nothing three.txt | cat; cat lines.txt',
    ];
    const batch = batchResult.parse(await service.run({ mode: 'compound', commands }, { prefer: 'wait=30' }));
    expect(batch.commands.map(({ verdict }) => codeOf(verdict))).toEqual([
      'parallel',
      'parallel',
      'TEXT_REDIRECTION',
      'parallel',
    ]);
    expect(batch.commands.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual([
      [0, 'one\n'],
      [0, `inside\n${service.root}/sub\n`],
      [0, ''],
      [0, '3\n'],
    ]);
    const events = await service.call(`/batches/${batch.id}/events`, { headers: { accept: 'application/x-ndjson' } });
    const started = events.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'started');
    expect(started.find(({ commandId }) => commandId === 'c1').verdict.parts).toHaveLength(2);
    const simple = await service.run({ commands: [PIPE] }, { prefer: 'wait=30' });
    expect(simple.commands.map(({ verdict, stdout }) => [codeOf(verdict), stdout])).toEqual([
      ['TEXT_OPERATOR', 'one\n'],
    ]);
  });

  test('is judged where a change of directory really leads', async () => {
    const service = await serviceWith({ mode: 'compound' });
    const { commands } = await service.run(
      {
        commands: [
          'cd within && pwd -P',
          'cd out && pwd -P',
          'cd gone && pwd',
          'cd sub/deeper && cat ../in.txt',
          { command: 'cd ../sub && pwd', cwd: 'sub' },
        ],
      },
      { prefer: 'wait=30' },
    );
    expect(commands.map(({ verdict }) => codeOf(verdict))).toEqual([
      'parallel',
      'CD_OUTSIDE_ROOTS',
      'CD_UNCERTAIN',
      'parallel',
      'parallel',
    ]);
    expect(commands.map(({ exitCode }) => exitCode)).toEqual([0, 0, 1, 0, 0]);
    expect(commands[0]?.stdout).toBe(`${service.root}/sub\n`);
  });

  test('of another writer waits where a compound reads, and not where it only started', async () => {
    const service = await serviceWith({ mode: 'compound' });
    for (const name of ['a', 'b']) mkdirSync(join(service.root, name));
    const writer = await service.run({ cwd: 'a', commands: ['mkfifo gate && read line < gate'] });
    const elsewhere = await service.run({ cwd: 'a', commands: ['cd ../b && pwd'] }, { prefer: 'wait=30' });
    expect(elsewhere.commands[0]).toMatchObject({ state: 'exited', stdout: `${service.root}/b\n` });
    const reader = await service.run({ cwd: 'b', commands: ['cd ../a && pwd'] });
    const waiting = (await service.call(`/batches/${reader.id}`)).json;
    expect(waiting.commands[0].state).toBe('waiting');
    await service.call(`/batches/${writer.id}`, { method: 'DELETE' });
    const done = (await service.call(`/batches/${reader.id}`, { headers: { prefer: 'wait=30' } })).json;
    expect(done.commands[0]).toMatchObject({ state: 'exited', stdout: `${service.root}/a\n` });
  });
});
