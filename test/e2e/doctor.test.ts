import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Diagnosis } from '../../src/cli/doctor-diagnosis.ts';
import { runCli, temporaryDirectory } from './cli.ts';

/** A PATH of its own, with links to what is installed here, and an empty HOME: nothing of this machine is in the way. */
function surroundings(names: readonly string[] = ['git', 'grep', 'wc']) {
  const home = realpathSync(temporaryDirectory());
  const bin = join(home, 'bin');
  mkdirSync(bin);
  for (const name of names) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  const work = join(home, 'work');
  mkdirSync(work);
  return { home, bin, work, env: { PATH: bin, HOME: home } };
}

async function diagnosed(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await runCli(['doctor', '--format', 'json', ...args], { cwd, env });
  expect(stderr).toBe('');
  return { code, diagnosis: JSON.parse(stdout) as Diagnosis };
}

/** Without asking programs for their versions, which takes longer than everything else. */
const QUICK = ['--no-versions'] as const;

describe('signalbox doctor', () => {
  test('where everything is proved: exit code 0, and a version and a place of what is here', async () => {
    const { work, bin, env } = surroundings();
    const { code, diagnosis } = await diagnosed([], work, env);
    expect(diagnosis.findings).toEqual([]);
    expect(code).toBe(0);
    const of = (name: string) => diagnosis.programs.find((one) => one.name === name);
    expect(of('git')).toMatchObject({ state: 'proved', path: join(bin, 'git') });
    expect(of('git')?.version).toMatch(/^git version \d/);
    expect(of('wc')?.version).toMatch(/^wc \(GNU coreutils\)/);
    expect(of('ls')).toMatchObject({ state: 'missing', path: null, version: null });
    expect(of('echo')).toMatchObject({ state: 'builtin' });
    expect(diagnosis.facts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['system', 'bash', 'Node', 'open files', 'processes', 'procfs']),
    );
    expect(diagnosis.variables).toContainEqual(
      expect.objectContaining({ name: 'GIT_DIR', profiles: expect.arrayContaining(['git']), set: [] }),
    );
  });

  test('says the same in words', async () => {
    const { work, bin, env } = surroundings();
    const { code, stdout, stderr } = await runCli(['doctor', '--all', ...QUICK], { cwd: work, env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^bash +5\.\S+ at \/\S+$/m);
    expect(stdout).toMatch(new RegExp(`^grep +proved +${bin}/grep$`, 'm'));
    expect(stdout).toMatch(/^bash answers itself: .*echo/m);
    expect(stdout).toMatch(/^not on PATH: .*\bls\b/m);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('Everything that the rules prove is proved here.');
  });

  test('programs with nothing to tell are only named unless all are asked for', async () => {
    const { work, env } = surroundings();
    const { stdout } = await runCli(['doctor', ...QUICK], { cwd: work, env });
    expect(stdout).toMatch(/^proved, with nothing to tell \(--all .*\): git, grep, wc$/m);
    expect(stdout).not.toMatch(/^program +state/m);
  });

  test('names a program of another userland, and what becomes serial', async () => {
    const { work, bin, env } = surroundings(['wc']);
    writeFileSync(join(bin, 'busybox'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    symlinkSync('busybox', join(bin, 'grep'));
    const { code, diagnosis } = await diagnosed(QUICK, work, env);
    expect(code).toBe(1);
    expect(diagnosis.findings).toEqual([
      {
        code: 'PLATFORM_UNPROVEN',
        found: `${join(bin, 'grep')}, which is ${join(bin, 'busybox')}, is not the grep that was proved: busybox is every command, by its first operand`,
        serial: 'every command of grep',
      },
    ]);
    const text = await runCli(['doctor', ...QUICK], { cwd: work, env });
    expect(text.code).toBe(1);
    expect(text.stdout).toContain('\nPLATFORM_UNPROVEN  ');
    expect(text.stdout).toContain('\n  serial because of it: every command of grep\n');
    expect(text.stdout).toContain('\n1 thing makes commands serial here.');
  });

  test.each([
    ['a relative entry', (bin: string) => `bin:${bin}`, 'the entry "bin" of PATH is relative to the working directory'],
    ['an empty entry', (bin: string) => `${bin}:`, 'the entry "" of PATH is empty, which means the working directory'],
    ['an entry in the workspace', (bin: string, work: string) => `${bin}:${work}`, 'of PATH lies in the workspace'],
  ])('%s of PATH is told', async (_title, pathOf, told) => {
    const { work, bin, env } = surroundings();
    const { code, diagnosis } = await diagnosed(QUICK, work, { ...env, PATH: pathOf(bin, work) });
    expect(code).toBe(1);
    expect(diagnosis.findings).toContainEqual(
      expect.objectContaining({ code: 'PROGRAM_UNTRUSTED', found: expect.stringContaining(told) }),
    );
  });

  test('a directory of PATH that anybody can write is told, with the programs in it, and so is what another one hides', async () => {
    const { work, bin, home, env } = surroundings();
    const open = join(home, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    for (const name of ['grep', 'wc']) writeFileSync(join(open, name), '#!/bin/sh\n', { mode: 0o755 });
    const behind = await diagnosed(QUICK, work, { ...env, PATH: `${bin}:${open}` });
    expect(behind.diagnosis.programs.find(({ name }) => name === 'grep')).toMatchObject({
      state: 'proved',
      shadowed: [join(open, 'grep')],
    });
    const { diagnosis } = await diagnosed(QUICK, work, { ...env, PATH: `${open}:${bin}` });
    expect(diagnosis.path).toContainEqual({ entry: open, isThere: true, surprise: 'can be written by anybody' });
    expect(diagnosis.findings.map(({ serial }) => serial)).toEqual([
      'a command whose program is found there first (of those with a rule, 2 now)',
      'every command of grep',
      'every command of wc',
    ]);
  });

  test('a variable that a profile minds is told, and one that no command gets', async () => {
    const { work, env } = surroundings();
    const { code, diagnosis } = await diagnosed(QUICK, work, {
      ...env,
      GIT_DIR: work,
      GIT_CONFIG_GLOBAL: 'x',
      ENV: 'y',
    });
    expect(code).toBe(1);
    const told = diagnosis.findings.filter((one) => one.code === 'VARIABLE_UNKNOWN');
    expect(told.map(({ found }) => found)).toEqual(
      expect.arrayContaining(['GIT_DIR is set', 'GIT_CONFIG_GLOBAL is set']),
    );
    expect(told[0]?.serial).toMatch(/^every command with the profile git/);
    expect(diagnosis.facts).toContainEqual(
      expect.objectContaining({ name: 'variables that no command gets', value: 'ENV' }),
    );
  });

  test('configuration of the user that makes reads serial is told, with its code and its file', async () => {
    const { work, home, env } = surroundings();
    writeFileSync(join(home, '.gitconfig'), '[diff]\n\texternal = difft\n');
    const { code, diagnosis } = await diagnosed(QUICK, work, env);
    expect(code).toBe(1);
    expect(diagnosis.findings).toEqual([
      {
        code: 'REPOSITORY_CONFIGURED',
        found: `diff.external in ${join(home, '.gitconfig')}`,
        serial: expect.stringContaining('reads that may start configured programs'),
      },
    ]);
  });

  test('so is a repository whose reads are serial', async () => {
    const { work, home, env } = surroundings();
    mkdirSync(join(work, '.git', 'objects'), { recursive: true });
    mkdirSync(join(work, '.git', 'refs'));
    writeFileSync(join(work, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(work, '.git', 'config'), '[core]\n\tbare = false\n[remote "origin"]\n\tpromisor = true\n');
    const { diagnosis } = await diagnosed([...QUICK, '--cwd', work], home, env);
    expect(diagnosis.findings).toEqual([
      {
        code: 'REPOSITORY_PARTIAL',
        found: expect.stringContaining(`of the repository around ${work}`),
        serial: expect.stringMatching(/^every read of this repository \(.*\bgit\b/),
      },
    ]);
  });

  test('runs nothing that is not proved: a stranger on PATH is not even asked for its version', async () => {
    const { work, bin, home, env } = surroundings(['wc']);
    const mark = join(home, 'mark');
    writeFileSync(join(bin, 'grep'), `#!/bin/sh\necho ran > ${mark}\n`, { mode: 0o755 });
    const { diagnosis } = await diagnosed([], work, env);
    expect(diagnosis.programs.find(({ name }) => name === 'grep')).toMatchObject({ state: 'serial', version: null });
    expect(() => realpathSync(mark)).toThrow('ENOENT');
  });

  test.each([
    [['doctor', '--format', 'xml'], 'Allowed choices'],
    [['doctor', '--cwd', 'nowhere'], 'nowhere'],
    [['doctor', '--rules', 'nowhere'], 'nowhere'],
  ])('%j is a usage error: exit code 2 and a sentence on standard error', async (args, said) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^signalbox: /);
    expect(stderr).toContain(said);
  });
});
