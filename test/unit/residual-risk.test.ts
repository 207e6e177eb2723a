import { spawn as nodeSpawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import type { Effect, Verdict } from '../../src/classifier/verdict.ts';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { KeyedLock } from '../../src/dispatcher/keyed-lock.ts';
import type { DispatcherOptions } from '../../src/dispatcher/options.ts';
import { profilesOf } from '../../src/dispatcher/profiles.ts';
import type { Spawn } from '../../src/dispatcher/runner.ts';
import type { CommandInput, CommandResult, Dispatcher } from '../../src/dispatcher/types.ts';
import { loadRules } from '../../src/rules/load.ts';
import { eventOf, isAlive, makeFifos, openGate, temporaryDirectory } from '../support/dispatcher.ts';
import { makePlace } from '../support/repositories.ts';

/**
 * docs/residual-risk.md, risk by risk: each test shows that the risk is as the page describes it. One that fails is a
 * reason to change the page, and perhaps to be glad.
 */

const page = readFileSync(new URL('../../docs/residual-risk.md', import.meta.url), 'utf8');
const rules = loadRules();

/** A real dispatcher in a directory, which is shut down with the test. */
function dispatcherIn(cwd: string, options: Partial<DispatcherOptions> = {}): Dispatcher {
  const environment = { PATH: process.env.PATH, HOME: cwd };
  const dispatcher = createDispatcher({ rules, cwd, environment, ...options });
  onTestFinished(() => dispatcher.shutdown({ graceMs: 0 }));
  return dispatcher;
}

async function runIn(
  cwd: string,
  command: string | CommandInput,
  options: Partial<DispatcherOptions> = {},
): Promise<CommandResult> {
  const { commands } = await dispatcherIn(cwd, options).dispatch([command]).done;
  return commands[0] as CommandResult;
}

const kindOf = (command: string, cwd = '/repo'): Verdict['kind'] => classify(command, { rules, cwd }).kind;
const codeOf = ({ verdict }: Pick<CommandResult, 'verdict'>): string =>
  verdict.kind === 'serial' ? verdict.reason.code : verdict.kind;

function effectsOf(command: string): readonly Effect[] {
  const verdict = classify(command, { rules, cwd: '/repo' });
  if (verdict.kind === 'serial') throw new Error(`Expected ${command} to be parallel, got ${verdict.reason.code}`);
  return verdict.effects;
}

function executable(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

describe('the risks', () => {
  test('R1: reading a secret is parallel, since a verdict is no permission', () => {
    for (const command of [
      'cat /home/me/.ssh/id_rsa',
      'printenv TOKEN',
      'env',
      'git log -p',
      'grep -r password /etc',
    ]) {
      expect(kindOf(command), command).toBe('parallel');
    }
  });

  test('R2: a program of that name earlier on PATH, in a directory that is trusted, is what runs', async () => {
    const bin = temporaryDirectory();
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'a.txt'), 'a\n');
    // It holds the text by which the one that was proved is known.
    const { identity } = JSON.parse(readFileSync(new URL('../../rules/wc.json', import.meta.url), 'utf8'));
    executable(join(bin, 'wc'), `#!/bin/sh\n# ${identity[0]}\necho mine\n`);
    const environment = { PATH: `${bin}:${process.env.PATH}`, HOME: cwd };
    const result = await runIn(cwd, 'wc -l a.txt', { environment });
    expect([codeOf(result), result.stdout]).toEqual(['parallel', 'mine\n']);

    executable(join(cwd, 'wc'), '#!/bin/sh\necho mine\n');
    const inWorkspace = { PATH: `${cwd}:${process.env.PATH}`, HOME: cwd };
    expect(codeOf(await runIn(cwd, 'wc -l a.txt', { environment: inWorkspace }))).toBe('PROGRAM_UNTRUSTED');
  });

  test('R3: a program that the configuration names runs in a parallel read of a repository that is trusted', async () => {
    const place = makePlace();
    const top = place.repository();
    appendFileSync(join(top, '.git/config'), `[diff "x"]\n\ttextconv = ${place.trap}\n`);
    writeFileSync(join(top, '.gitattributes'), '*.txt diff=x\n');
    writeFileSync(join(top, 'a.txt'), 'changed in length\n');
    const environment = { PATH: process.env.PATH, HOME: place.home };
    const careful = await runIn(top, 'git diff', { environment });
    expect(codeOf(careful)).toBe('REPOSITORY_CONFIGURED');
    place.sprung();
    const trusting = await runIn(top, 'git diff', { environment, trustRepository: true });
    expect([codeOf(trusting), place.sprung()]).toEqual(['parallel', true]);
  });

  test('R4: a FIFO that a program opens by itself holds it up to its time limit', async () => {
    const place = makePlace();
    const top = place.repository();
    await makeFifos(join(top, 'sub'), '.gitignore');
    const environment = { PATH: process.env.PATH, HOME: place.home };
    const result = await runIn(top, { command: 'git status', timeoutMs: 500 }, { environment });
    expect([codeOf(result), result.state]).toEqual(['parallel', 'timed-out']);
  });

  test('R5: what lies behind a link below a directory that is walked has not been looked at', () => {
    const cwd = temporaryDirectory();
    for (const name of ['sub', 'other']) {
      mkdirSync(join(cwd, name));
      symlinkSync('/', join(cwd, name, 'link'));
    }
    symlinkSync('/', join(cwd, 'root'));
    const ask = (command: string) => dispatcherIn(cwd).plan([command]).commands[0] as Pick<CommandResult, 'verdict'>;
    for (const command of ['find -L sub -name x', 'diff -r sub other']) {
      expect(codeOf(ask(command)), command).toBe('parallel');
    }
    // Where the text names it, it has; and what opens all files that it meets does not follow links.
    expect(codeOf(ask('grep -r needle root'))).toBe('OPERAND_NOT_REGULAR');
    for (const command of ['grep -R needle sub', 'rg -L needle sub']) {
      expect(codeOf(ask(command)), command).toBe('OPTION_UNKNOWN');
    }
    expect(codeOf(ask('cat root/proc/version'))).toBe('OPERAND_NOT_REGULAR');
  });

  test('R6: a path under which something may be mounted is a path like any other', () => {
    for (const command of ['ls /net/box', 'cat /mnt/share/f', 'cat /mnt/proc/kmsg', 'du -s /afs']) {
      expect(kindOf(command), command).toBe('parallel');
    }
    expect(kindOf('cat /proc/kmsg')).toBe('serial');
  });

  test('R7: what a command prints beyond its limit is lost, and the result says how much', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'big'), 'x'.repeat(3_000_000));
    const limits = { maxOutputBytesPerCommand: 1_000 };
    const { commands } = await dispatcherIn(cwd, { limits }).dispatch(['cat big', 'cat ./big']).done;
    for (const each of commands) {
      expect(codeOf(each)).toBe('parallel');
      expect(each.stdout.length).toBeLessThan(2_000);
      expect(each.truncated?.stdoutBytes).toBeGreaterThan(2_990_000);
    }
  });

  test('R8: a pattern or a number that asks for much is parallel all the same', () => {
    for (const command of [
      "grep -E '(a+)+(b*)*c' f",
      "grep -E '((x{1,250}){1,250}){1,250}' f",
      "grep 'a.*b.*c.*d.*e.*f' f",
      'head -n 999999999999 f',
      'git log --all -p',
      'find . -regex ".*.*.*.*x"',
    ]) {
      expect(kindOf(command), command).toBe('parallel');
    }
  });

  test('R9: where nothing is proved everything is serial, unless somebody says that it is believed', async () => {
    const cwd = temporaryDirectory();
    const platform = { unproven: 'another userland', bash: '/bin/bash', builtins: new Set<string>() };
    expect(codeOf(await runIn(cwd, 'ls', { platform }))).toBe('PLATFORM_UNPROVEN');
    expect(codeOf(await runIn(cwd, 'ls', { platform, allowUnprovenPlatform: true }))).toBe('parallel');
  });

  test('R10: what becomes a FIFO between the look and the start is opened', async () => {
    const cwd = temporaryDirectory();
    const file = join(cwd, 'a.txt');
    writeFileSync(file, 'a\n');
    await makeFifos(cwd, 'pipe');
    expect(codeOf(await runIn(cwd, 'cat pipe', { limits: { timeoutMs: 500 } }))).toBe('OPERAND_NOT_REGULAR');
    const spawn = ((program: string, args: string[], options: object) => {
      rmSync(file);
      symlinkSync('pipe', file);
      return nodeSpawn(program, args, options);
    }) as unknown as Spawn;
    const result = await runIn(cwd, { command: 'cat a.txt', timeoutMs: 500 }, { spawn });
    expect([codeOf(result), result.state]).toEqual(['parallel', 'timed-out']);
  });

  test('R11: which toolchain answers for its version is not looked at; the profile keeps it from being fetched', () => {
    const setOf = (command: string) => {
      const verdict = classify(command, { rules, cwd: '/repo' });
      return verdict.kind === 'parallel' ? profilesOf(rules).get(verdict.profile)?.set : null;
    };
    expect(setOf('rustc --version')).toMatchObject({ RUSTUP_AUTO_INSTALL: '0' });
    expect(setOf('cargo --version')).toMatchObject({ RUSTUP_AUTO_INSTALL: '0' });
    expect(setOf('go version')).toMatchObject({ GOTOOLCHAIN: 'local' });
    for (const command of ['yarn --version', 'pnpm --version', 'mvn --version']) expect(setOf(command)).toBe(null);
  });

  test('R12: another process, or a dispatcher with a lock of its own, is not held by our locks', async () => {
    const cwd = temporaryDirectory();
    await makeFifos(cwd, 'gate');
    const writer = dispatcherIn(cwd).dispatch(['read line < gate; echo "$line" > a.txt']);
    await eventOf(writer, 'started');
    const reader = await runIn(cwd, 'ls', { lock: new KeyedLock() });
    expect([codeOf(reader), reader.stdout]).toEqual(['parallel', 'gate\n']);
    // Without one, all dispatchers of the process wait for each other.
    const sharing = runIn(cwd, 'cat a.txt');
    await openGate(cwd, 'gate');
    await writer.done;
    expect((await sharing).stdout).toBe('go\n');
    expect(existsSync(join(cwd, 'a.txt'))).toBe(true);
  });

  test('R13: serial commands of two batches overlap where they meet outside their workspaces', async () => {
    const [one, other, third] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()] as const;
    await makeFifos(one, 'gate');
    const environment = { PATH: process.env.PATH, HOME: one, THIRD: third };
    const dispatcher = dispatcherIn(one, { environment });
    const waiting = dispatcher.dispatch(['read line < gate; echo "$line" >> "$THIRD/log"']);
    await eventOf(waiting, 'started');
    const second = await dispatcher.dispatch(['echo second >> "$THIRD/log"'], { cwd: other }).done;
    expect(second.commands[0]).toMatchObject({ state: 'exited', exitCode: 0, verdict: { kind: 'serial' } });
    await openGate(one, 'gate');
    await waiting.done;
    expect(readFileSync(join(third, 'log'), 'utf8')).toBe('second\ngo\n');
  });

  test("R14: a project's settings move a program's own cache and log, whose effects the verdict names", async () => {
    expect(effectsOf('npm view react')).toEqual(expect.arrayContaining(['own-cache', 'own-log']));
    expect(effectsOf('sort names.txt')).toContain('temporary-files');
    expect(effectsOf('kubectl get pods')).toContain('own-cache');
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'package.json'), '{}');
    writeFileSync(join(cwd, '.npmrc'), 'cache=./inside\n');
    const result = await runIn(cwd, 'npm config get cache');
    expect([codeOf(result), result.stdout]).toEqual(['parallel', `${join(cwd, 'inside')}\n`]);
  });

  test('R15: reading may change the time of the last access, and nothing else of a file', async () => {
    const cwd = temporaryDirectory();
    const file = join(cwd, 'a.txt');
    writeFileSync(file, 'a\n');
    utimesSync(file, 1_000, 2_000);
    const result = await runIn(cwd, 'cat a.txt');
    expect([codeOf(result), result.stdout]).toEqual(['parallel', 'a\n']);
    const { atimeMs, mtimeMs } = statSync(file);
    expect(mtimeMs).toBe(2_000_000);
    expect(atimeMs).toBeGreaterThanOrEqual(1_000_000);
  });

  test('R16: git reads objects of another repository that this one borrows from', async () => {
    const place = makePlace();
    const lender = place.repository('lender');
    const borrower = join(place.home, 'borrower');
    place.git(place.home, 'clone', '-q', '--shared', lender, borrower);
    const environment = { PATH: process.env.PATH, HOME: place.home };
    const result = await runIn(borrower, 'git cat-file -p HEAD:a.txt', { environment });
    expect([codeOf(result), result.exitCode]).toEqual(['parallel', 0]);
    rmSync(join(lender, '.git', 'objects'), { recursive: true });
    const later = await runIn(borrower, 'git cat-file -p HEAD:a.txt', { environment });
    expect([codeOf(later), later.exitCode === 0]).toEqual(['parallel', false]);
  });

  test('R17: a process that leaves its group and clears its environment outlives its command', async () => {
    const cwd = temporaryDirectory();
    await makeFifos(cwd, 'born');
    const command = `env -i "$(command -v setsid)" -f sh -c 'echo $$ > born; exec sleep 60' > log 2>&1; read pid < born; echo "$pid"`;
    const result = await runIn(cwd, command);
    const pid = Number(result.stdout);
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    expect([codeOf(result) === 'parallel', result.state, result.orphans]).toEqual([false, 'exited', []]);
    expect(isAlive(pid)).toBe(true);
  });

  test('R18: readers of the network and of daemons start what the user configured for them, unless they are refused', () => {
    expect(effectsOf('kubectl get pods')).toEqual(expect.arrayContaining(['reads-network', 'configured-programs']));
    expect(effectsOf('docker ps')).toEqual(expect.arrayContaining(['talks-to-daemon', 'configured-programs']));
    for (const command of ['kubectl get pods', 'docker ps', 'gh pr list', 'npm view react']) {
      const refused = classify(command, { rules, cwd: '/repo', allow: { network: false, daemon: false } });
      expect(refused, command).toMatchObject({ kind: 'serial', reason: { code: 'EFFECT_REFUSED' } });
    }
  });

  test('R19: the order between what a command prints on its two streams is not kept', async () => {
    const result = await runIn(temporaryDirectory(), 'echo one; echo two >&2; echo three');
    expect([result.stdout, result.stderr]).toEqual(['one\nthree\n', 'two\n']);
  });

  test('R20: a name that comes through a pipe has not been looked at', async () => {
    const cwd = temporaryDirectory();
    await makeFifos(cwd, 'pipe');
    const asked = [{ command: 'ls | xargs cat --', timeoutMs: 500 }];
    const { commands } = await dispatcherIn(cwd).dispatch(asked, { mode: 'compound' }).done;
    expect(commands.map((each) => [codeOf(each), each.state])).toEqual([['parallel', 'timed-out']]);
    expect(codeOf(await runIn(cwd, { command: 'cat -- pipe', timeoutMs: 500 }))).toBe('OPERAND_NOT_REGULAR');
  });
});

describe('docs/residual-risk.md', () => {
  const source = readFileSync(new URL(import.meta.url), 'utf8');
  /** `R7: …`, as a test is called in this file. */
  const titles = [...source.matchAll(/^ {2}test\((['"])(R\d+: .*?)\1,/gm)].map(([, , title]) => title ?? '');
  const sections = page
    .split(/^## /m)
    .slice(1)
    .filter((section) => /^R\d+ /.test(section))
    .map((body) => ({ number: /^R\d+/.exec(body)?.[0] ?? '', body }));

  test('numbers its risks from 1, without a gap', () => {
    expect(sections.length).toBeGreaterThan(15);
    expect(sections.map(({ number }) => number)).toEqual(sections.map((_, index) => `R${index + 1}`));
  });

  test('has one test for each, and names it by its title', () => {
    expect(titles.map((title) => title.slice(0, title.indexOf(':')))).toEqual(sections.map(({ number }) => number));
    for (const [index, { body }] of sections.entries()) expect(body).toContain(`**Pinned by** \`${titles[index]}\``);
  });

  test.each(sections)('$number says what can happen, when, and what narrows it', ({ body }) => {
    for (const part of ['**What** ', '**When** ', '**Narrowed by** ', '**Pinned by** '])
      expect(body).toContain(`\n${part}`);
  });

  test('says what the product is not', () => {
    expect(page).toContain('no permission system');
    expect(page).toContain('confidentiality');
    const security = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');
    expect(security).toContain('(docs/residual-risk.md)');
  });
});
