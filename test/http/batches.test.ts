import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchResult, problem } from '../../src/http/answers.ts';
import { openService, type Service, startService, until } from './service.ts';

let service: Awaited<ReturnType<typeof openService>>;
beforeAll(async () => {
  service = await openService();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: service.root });
  git('init', '--quiet');
  git('-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '--quiet', '--allow-empty', '-m', 'first');
  writeFileSync(join(service.root, 'README.md'), 'one\ntwo\n');
  mkdirSync(join(service.root, 'inner'));
  mkdirSync(join(service.root, 'src'));
  writeFileSync(join(service.root, 'src', 'a.ts'), 'export const a = 1;\n');
});
afterAll(() => service.close());

const post = (body: object | string, headers: Record<string, string> = {}, on: Service = service) =>
  on.call('/batches', { method: 'POST', body, headers });

describe('POST /batches', () => {
  test('judges, runs and answers a real batch in call order', async () => {
    const answer = await post(
      {
        commands: [
          'git log --oneline -5',
          'git status',
          'ls -la',
          'grep -rn "export" src',
          'wc -l README.md',
          'echo written > scratch.txt',
          { id: 'read', command: 'cat scratch.txt' },
        ],
      },
      { prefer: 'wait=30' },
    );
    expect(answer.status).toBe(201);
    expect(answer.headers['preference-applied']).toBe('wait=30');
    const batch = batchResult.parse(answer.json);
    expect(answer.headers.location).toBe(`/batches/${batch.id}`);
    expect(batch.state).toBe('finished');
    expect(batch.commands.map(({ id }) => id)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'read']);
    expect(batch.commands.map(({ verdict }) => verdict.kind)).toEqual([
      ...['parallel', 'parallel', 'parallel', 'parallel', 'parallel', 'serial', 'parallel'],
    ]);
    expect(batch.commands.map(({ state, exitCode }) => [state, exitCode])).toEqual(Array(7).fill(['exited', 0]));
    const [log, , , grep, , , read] = batch.commands;
    expect(log?.stdout).toMatch(/^[0-9a-f]+ first\n$/);
    expect(grep?.stdout).toBe('src/a.ts:1:export const a = 1;\n');
    expect(read?.stdout).toBe('written\n');
    for (const { queuedMs, waitedMs, ranMs } of batch.commands) {
      for (const ms of [queuedMs, waitedMs, ranMs]) expect(ms).toBeGreaterThanOrEqual(0);
    }
  });

  test('answers at once, with every verdict, before the commands have ended', async () => {
    const release = join(service.root, 'go');
    const answer = await post({ commands: [`while [ ! -e ${release} ]; do sleep 0.02; done`, 'cat README.md'] });
    expect(answer.status).toBe(201);
    expect(answer.headers['preference-applied']).toBeUndefined();
    const batch = batchResult.parse(answer.json);
    expect(batch.state).toBe('running');
    expect(batch.commands.map(({ verdict }) => verdict.kind)).toEqual(['serial', 'parallel']);
    expect(batch.commands[1]).toMatchObject({ exitCode: null, ranMs: null });

    writeFileSync(release, '');
    const later = await service.call(`/batches/${batch.id}`, { headers: { prefer: 'wait=30' } });
    expect(later.status).toBe(200);
    expect(batchResult.parse(later.json)).toMatchObject({
      state: 'finished',
      commands: [{ exitCode: 0 }, { stdout: 'one\ntwo\n' }],
    });
  });

  test('a wait that runs out answers with the state so far', async () => {
    const answer = await post({ commands: ['sleep 30'] }, { prefer: 'respond-async, wait=0' });
    expect(answer.headers['preference-applied']).toBe('wait=0');
    expect(answer.json.state).toBe('running');
    await service.call(`/batches/${answer.json.id}`, { method: 'DELETE' });
  });

  test('a wait is no longer than the service allows', async () => {
    const brief = await startService({ flags: { 'max-wait-seconds': 1 } });
    const answer = await post({ commands: ['sleep 30'] }, { prefer: 'wait=600' }, brief);
    expect(answer.headers['preference-applied']).toBe('wait=1');
    expect(answer.json.state).toBe('running');
  });

  test('a wait that cannot be read is no wait', async () => {
    for (const prefer of ['wait=soon', 'wait', 'wait=-1', 'handling=strict']) {
      const answer = await post({ commands: ['echo x'] }, { prefer });
      expect(answer.status).toBe(201);
      expect(answer.headers['preference-applied']).toBeUndefined();
    }
  });

  test('an unknown program answers 127 as bash does, and a failure stops nobody', async () => {
    const batch = await service.run({ commands: ['no-such-program-here', 'exit 3', 'echo on'] }, { prefer: 'wait=30' });
    expect(batch.commands.map(({ exitCode }) => exitCode)).toEqual([127, 3, 0]);
    expect(batch.commands[0]?.stderr).toContain('command not found');
  });

  test('hands on what the caller sets: environment, standard input, directory, time, policy', async () => {
    const batch = await service.run(
      {
        cwd: 'src',
        onFailure: 'stop',
        maxParallel: 1,
        commands: [
          { command: 'pwd', cwd: '../inner' },
          {
            command: 'cat; echo "$GREETING"; pwd',
            env: { GREETING: 'hello' },
            stdin: 'typed ',
            lockKeys: ['door', { key: 'hall', mode: 'shared' }],
          },
          { command: 'sleep 30', timeoutMs: 50 },
          'echo never',
        ],
      },
      { prefer: 'wait=30' },
    );
    expect(batch.commands.map(({ state }) => state)).toEqual(['exited', 'exited', 'timed-out', 'skipped']);
    expect(batch.commands[0]?.stdout).toBe(`${join(service.root, 'inner')}\n`);
    expect(batch.commands[1]?.stdout).toBe(`typed hello\n${join(service.root, 'src')}\n`);
  });

  test('a reader that the batch refuses runs alone', async () => {
    const body = { commands: ['getent hosts localhost', 'ls'], allow: { network: false } };
    const { commands } = await service.run(body, { prefer: 'wait=30' });
    expect(commands[0]).toMatchObject({ state: 'exited', verdict: { reason: { code: 'EFFECT_REFUSED' } } });
    expect(commands[1]).toMatchObject({ state: 'exited', verdict: { kind: 'parallel' } });
  });

  test('a deadline ends the batch', async () => {
    const batch = await service.run({ deadlineMs: 500, commands: ['sleep 60', 'echo never'] }, { prefer: 'wait=30' });
    const [first, second] = batch.commands;
    // On a machine that is busy enough, even the first has not started by then.
    expect(['timed-out', 'not-started']).toContain(first?.state);
    expect(first?.note).toContain('500 ms');
    expect(second?.state).toBe('not-started');
  });

  test('commands do not see what the server has and nobody named', async () => {
    const sealed = await startService({
      env: { SECRET_OF_SERVER: 'canary', NAMED: 'shown' },
      flags: { environment: 'PATH,NAMED' },
    });
    const batch = await sealed.run({ commands: ['echo "[$SECRET_OF_SERVER][$NAMED]"', 'env'] }, { prefer: 'wait=30' });
    expect(batch.commands[0]?.stdout).toBe('[][shown]\n');
    expect(batch.commands[1]?.stdout).not.toContain('SECRET_OF_SERVER');
  });

  test('D14: the batch goes on when the client that waits leaves', async () => {
    const mark = join(service.root, 'left');
    const gone = new AbortController();
    const asking = fetch(`http://127.0.0.1:${service.port}/batches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'wait=60' },
      body: JSON.stringify({ commands: [`echo a > ${mark}; sleep 0.3; echo b >> ${mark}`] }),
      signal: gone.signal,
    });
    await until(() => existsSync(mark));
    gone.abort();
    await expect(asking).rejects.toThrow();
    await until(() => readFileSync(mark, 'utf8') === 'a\nb\n');
  });

  test('D2: a serial batch and a parallel one in one repository never overlap, whichever comes first', async () => {
    const repository = join(service.root, 'shared');
    mkdirSync(repository);
    execFileSync('git', ['init', '--quiet'], { cwd: repository });
    mkdirSync(join(repository, 'deep'));
    const word = join(repository, 'word');
    execFileSync('mkfifo', ['gate'], { cwd: repository });
    writeFileSync(word, 'before\n');
    // The writer leaves nothing whole until it has been let go; it works in another directory of the repository.
    const write = 'echo hal > ../word; read < ../gate; echo after > ../word';
    const read = { cwd: repository, commands: ['cat word', 'grep -c . word'] };
    const first = await service.run(read, { prefer: 'wait=30' });
    const writer = await service.run({ cwd: join(repository, 'deep'), commands: [write] });
    await until(() => readFileSync(word, 'utf8') === 'hal\n');
    const reader = await service.run(read);
    await until(async () => {
      const { commands } = (await service.call(`/batches/${reader.id}`)).json;
      return commands.every(({ state }: { state: string }) => state === 'waiting');
    });
    writeFileSync(join(repository, 'gate'), 'go\n');
    const [ended, wrote] = await Promise.all(
      [reader, writer].map(
        async ({ id }) => (await service.call(`/batches/${id}`, { headers: { prefer: 'wait=30' } })).json,
      ),
    );
    expect(first.commands.map(({ stdout, verdict }) => [stdout, verdict.kind])).toEqual([
      ...[
        ['before\n', 'parallel'],
        ['1\n', 'parallel'],
      ],
    ]);
    expect(ended.commands[0]).toMatchObject({ stdout: 'after\n', verdict: { kind: 'parallel' } });
    expect(wrote.commands[0]).toMatchObject({ exitCode: 0, verdict: { kind: 'serial' } });
  });

  test('two serial batches in one repository never overlap', async () => {
    const file = join(service.root, 'log.txt');
    const slow = (name: string) => `echo ${name}1 >> ${file}; sleep 0.2; echo ${name}2 >> ${file}`;
    const [a, b] = await Promise.all([
      service.run({ commands: [slow('a')] }, { prefer: 'wait=30' }),
      service.run({ commands: [slow('b')] }, { prefer: 'wait=30' }),
    ]);
    expect([a.state, b.state]).toEqual(['finished', 'finished']);
    expect(['a1\na2\nb1\nb2\n', 'b1\nb2\na1\na2\n']).toContain(readFileSync(file, 'utf8'));
  });
});

describe('DELETE /batches/:id', () => {
  test('ends what runs, starts nothing more, and the batch can still be read', async () => {
    const { id } = await service.run({ commands: ['sleep 30', 'touch never'] });
    await until(async () => (await service.call(`/batches/${id}`)).json.commands[0].state === 'running');
    const answer = await service.call(`/batches/${id}`, { method: 'DELETE', headers: { prefer: 'wait=30' } });
    expect(answer.status).toBe(200);
    const batch = batchResult.parse(answer.json);
    expect(batch.state).toBe('cancelled');
    expect(batch.commands.map(({ state }) => state)).toEqual(['cancelled', 'not-started']);
    expect(batch.commands[0]?.note).toContain('Cancelled');
    expect(existsSync(join(service.root, 'never'))).toBe(false);
    expect((await service.call(`/batches/${id}`, { method: 'DELETE' })).json).toEqual(batch);
    expect((await service.call(`/batches/${id}`)).json).toEqual(batch);
  });

  test('of an ended batch changes nothing', async () => {
    const batch = await service.run({ commands: ['echo x'] }, { prefer: 'wait=30' });
    expect((await service.call(`/batches/${batch.id}`, { method: 'DELETE' })).json).toEqual(batch);
  });
});

describe('batches are kept', () => {
  test('by number, the running ones always', async () => {
    const small = await startService({ flags: { 'retention-max-batches': 2 } });
    const running = await small.run({ commands: ['sleep 30'] });
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1)
      ids.push((await small.run({ commands: [`echo ${n}`], cwd: '.' }, { prefer: 'wait=0' })).id);
    await small.call(`/batches/${running.id}`, { method: 'DELETE', headers: { prefer: 'wait=30' } });
    for (const id of ids) await small.call(`/batches/${id}`, { headers: { prefer: 'wait=30' } });
    const statuses = async () =>
      Promise.all([running.id, ...ids].map(async (id) => (await small.call(`/batches/${id}`)).status));
    expect((await statuses()).filter((status) => status === 200)).toHaveLength(2);
    expect((await statuses()).filter((status) => status === 410)).toHaveLength(2);
  });

  test('by age', async () => {
    const brief = await startService({ flags: { 'retention-max-age-ms': 1 } });
    const { id } = await brief.run({ commands: ['echo x'] }, { prefer: 'wait=30' });
    await until(async () => (await brief.call(`/batches/${id}`)).status === 410);
  });
});

describe('a bad request is refused with a pointer, and nothing of it runs', () => {
  const mark = 'ran.txt';
  const good = `touch ${mark}`;
  const half = String.fromCharCode(0xd800);

  test.each<[string, string, object, string, string?]>([
    ['no commands', 'COMMANDS_EMPTY', { commands: [] }, '/commands'],
    ['no list of commands', 'REQUEST_INVALID', {}, '/commands'],
    ['commands that are no list', 'REQUEST_INVALID', { commands: good }, '/commands'],
    ['a command that is no text', 'REQUEST_INVALID', { commands: [good, 5] }, '/commands/1'],
    ['a command that is null', 'REQUEST_INVALID', { commands: [good, null] }, '/commands/1'],
    ['a command without its text', 'REQUEST_INVALID', { commands: [good, { id: 'x' }] }, '/commands/1/command'],
    ['an unknown field', 'REQUEST_INVALID', { commands: [good], maxparallel: 2 }, '/maxparallel'],
    [
      'an unknown field of a command',
      'REQUEST_INVALID',
      { commands: [good, { command: good, timeout: 5 }] },
      '/commands/1/timeout',
    ],
    ['a name that every object has', 'REQUEST_INVALID', { commands: [good], constructor: 1 }, '/constructor'],
    ['an empty command', 'COMMAND_EMPTY', { commands: [good, ''] }, '/commands/1'],
    ['an empty command in an object', 'COMMAND_EMPTY', { commands: [good, { command: '' }] }, '/commands/1/command'],
    ['a NUL', 'COMMAND_HAS_NUL', { commands: [good, 'echo a\0b'] }, '/commands/1'],
    ['a NUL in an object', 'COMMAND_HAS_NUL', { commands: [good, { command: 'echo a\0b' }] }, '/commands/1/command'],
    ['half a surrogate pair', 'TEXT_UNREPRESENTABLE', { commands: [good, `echo ${half}`] }, '/commands/1'],
    [
      'half a pair on standard input',
      'TEXT_UNREPRESENTABLE',
      { commands: [good, { command: 'cat', stdin: half }] },
      '/commands/1/stdin',
    ],
    [
      'an id twice',
      'COMMAND_ID_DUPLICATE',
      {
        commands: [
          { id: 'a', command: good },
          { id: 'a', command: good },
        ],
      },
      '/commands/1/id',
    ],
    [
      'an id that another gets by its place',
      'COMMAND_ID_DUPLICATE',
      { commands: [{ id: 'c2', command: good }, good] },
      '/commands/1/id',
    ],
    ['an empty id', 'REQUEST_INVALID', { commands: [{ id: '', command: good }] }, '/commands/0/id'],
    ['a long id', 'REQUEST_INVALID', { commands: [{ id: 'x'.repeat(129), command: good }] }, '/commands/0/id'],
    [
      'a variable that is no name',
      'REQUEST_INVALID',
      { commands: [good, { command: good, env: { 'A=B': 'x' } }] },
      '/commands/1/env/A=B',
    ],
    [
      'a variable without a name',
      'REQUEST_INVALID',
      { commands: [good, { command: good, env: { '': 'x' } }] },
      '/commands/1/env/',
    ],
    [
      'a variable that is no text',
      'REQUEST_INVALID',
      { commands: [good, { command: good, env: { A: 1 } }] },
      '/commands/1/env/A',
    ],
    [
      'a variable with a NUL',
      'REQUEST_INVALID',
      { commands: [good, { command: good, env: { A: 'a\0' } }] },
      '/commands/1/env/A',
    ],
    [
      'a pointer that must be escaped',
      'REQUEST_INVALID',
      { commands: [good, { command: good, env: { 'a/b~': 1 } }] },
      '/commands/1/env/a~1b~0',
    ],
    ['no time', 'REQUEST_INVALID', { commands: [good, { command: good, timeoutMs: 0 }] }, '/commands/1/timeoutMs'],
    ['half a millisecond', 'REQUEST_INVALID', { commands: [good], deadlineMs: 0.5 }, '/deadlineMs'],
    ['too much at once', 'REQUEST_INVALID', { commands: [good], maxParallel: 257 }, '/maxParallel'],
    [
      'a misspelt name among what is allowed',
      'REQUEST_INVALID',
      { commands: [good], allow: { netwrok: false } },
      '/allow/netwrok',
    ],
    ['a word for true', 'REQUEST_INVALID', { commands: [good], allow: { network: 'no' } }, '/allow/network'],
    ['an unknown policy', 'REQUEST_INVALID', { commands: [good], onFailure: 'ignore' }, '/onFailure'],
    ['an unknown mode', 'REQUEST_INVALID', { commands: [good], mode: 'fast' }, '/mode'],
    [
      'a lock key that is empty',
      'REQUEST_INVALID',
      { commands: [good, { command: good, lockKeys: [''] }] },
      '/commands/1/lockKeys/0',
    ],
    [
      'a lock in an unknown mode',
      'REQUEST_INVALID',
      { commands: [good, { command: good, lockKeys: [{ key: 'k', mode: 'x' }] }] },
      '/commands/1/lockKeys/0/mode',
    ],
    ['a directory that is missing', 'DIRECTORY_MISSING', { commands: [good], cwd: 'nowhere' }, '/cwd'],
    [
      'a directory of a command that is missing',
      'DIRECTORY_MISSING',
      { commands: [good, { command: good, cwd: './nowhere' }] },
      '/commands/1/cwd',
    ],
    ['a file as a directory', 'DIRECTORY_MISSING', { commands: [good], cwd: 'README.md' }, '/cwd'],
    ['a directory outside', 'DIRECTORY_OUTSIDE_ROOTS', { commands: [good], cwd: '/' }, '/cwd'],
    ['a missing directory outside', 'DIRECTORY_OUTSIDE_ROOTS', { commands: [good], cwd: '/no/such/place' }, '/cwd'],
    [
      'a way out by dots',
      'DIRECTORY_OUTSIDE_ROOTS',
      { commands: [good, { command: good, cwd: '..' }] },
      '/commands/1/cwd',
    ],
    ['an empty directory', 'REQUEST_INVALID', { commands: [good], cwd: '' }, '/cwd'],
    ['a NUL in a directory', 'REQUEST_INVALID', { commands: [good], cwd: 'a\0' }, '/cwd'],
  ])('%s', async (_, code, body, pointer) => {
    const answer = await post(body);
    const found = problem.parse(answer.json);
    expect(found).toMatchObject({ code, pointer, status: answer.status });
    expect(found.detail).not.toBe('');
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(existsSync(join(service.root, mark))).toBe(false);
  });

  test('D7: an id twice in one batch is a 400, and nothing of it runs', async () => {
    const commands = [
      { id: 'twice', command: good },
      { id: 'twice', command: good },
    ];
    expect(await post({ commands })).toMatchObject({ status: 400, json: { code: 'COMMAND_ID_DUPLICATE' } });
    expect(existsSync(join(service.root, mark))).toBe(false);
  });

  test('a way out by a link is no way', async () => {
    symlinkSync('/', join(service.root, 'way-out'));
    symlinkSync(join(service.root, 'inner'), join(service.root, 'way-in'));
    expect((await post({ commands: [good], cwd: 'way-out' })).json).toMatchObject({
      code: 'DIRECTORY_OUTSIDE_ROOTS',
      pointer: '/cwd',
    });
    expect((await post({ commands: [good], cwd: 'way-out/no/such/place' })).status).toBe(400);
    const batch = await service.run({ commands: ['pwd'], cwd: 'way-in' }, { prefer: 'wait=30' });
    expect(batch.commands[0]?.stdout).toBe(`${join(service.root, 'inner')}\n`);
    expect(existsSync(join(service.root, mark))).toBe(false);
  });

  test('a directory that contains a root is refused, unless it is one', async () => {
    const deep = join(service.root, 'deep');
    mkdirSync(join(deep, 'middle', 'root'), { recursive: true });
    const nested = await startService({ flags: { roots: [deep, join(deep, 'middle', 'root')] } });
    expect((await post({ commands: [good], cwd: 'middle' }, {}, nested)).json).toMatchObject({
      code: 'DIRECTORY_CONTAINS_ROOT',
      pointer: '/cwd',
    });
    expect((await post({ commands: ['pwd'] }, {}, nested)).status).toBe(201);
    expect((await post({ commands: ['pwd'], cwd: 'middle/root' }, {}, nested)).status).toBe(201);
    expect(existsSync(join(deep, 'middle', mark))).toBe(false);
  });

  test('more commands than the limit, and exactly as many', async () => {
    const answer = await post({ commands: Array(1_001).fill(good) });
    expect(answer.json).toMatchObject({
      code: 'COMMANDS_TOO_MANY',
      pointer: '/commands',
      detail: expect.stringContaining('1001'),
    });
    const small = await startService({ flags: { 'max-commands': 2 } });
    expect((await post({ commands: ['echo 1', 'echo 2', 'echo 3'] }, {}, small)).json.code).toBe('COMMANDS_TOO_MANY');
    expect((await post({ commands: ['echo 1', 'echo 2'] }, {}, small)).status).toBe(201);
  });

  test('several faults are told together', async () => {
    const { errors } = (await post({ commands: [good, { command: 1, x: 2 }], y: 3 })).json;
    expect(errors.map((each: { pointer: string }) => each.pointer)).toEqual([
      '/commands/1/command',
      '/commands/1/x',
      '/y',
    ]);
  });

  test('a key with another meaning in JavaScript, however it is spelt', async () => {
    for (const key of ['__proto__', '\\u005f\\u005fproto__']) {
      const body = `{"commands": [{"command": "touch ${mark}", "env": {"${key}": "x"}}]}`;
      const answer = await post(body, { 'content-type': 'application/json' });
      expect(answer.json.code).toBe('BODY_NOT_JSON');
    }
    expect(existsSync(join(service.root, mark))).toBe(false);
  });
});
