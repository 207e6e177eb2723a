import { accessSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadRules } from '../../src/rules/load.ts';
import { BUILT_IN_DIRECTORY, readRuleDirectory } from '../../src/rules/sources.ts';
import { judgementOf, verdictOf } from '../support/dispatcher.ts';
import { type Fixture, makeFixture } from './fixture.ts';
import { type Allowance, createProver, type Judging, type Outcome, watch } from './run.ts';
import { mindsOf } from './suite.ts';

/**
 * A proof that cannot fail is none: what is known to write, to lock, to connect, to start strangers or to spring a trap
 * goes through the same harness, as a judge would send it who calls everything parallel, and must be found.
 */

const rules = loadRules();
const files = readRuleDirectory(BUILT_IN_DIRECTORY).map(({ file }) => file);

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture({ trapped: true, minds: mindsOf(rules) });
});
afterAll(() => fixture.remove());

/** Calls everything parallel, and hands over all that surrounds it. */
function careless(environment: Fixture['environment']): Judging {
  return {
    judge: () => judgementOf(verdictOf('parallel')),
    profiles: new Map([['generic', { set: {}, pass: new Set(Object.keys(environment)) }]]),
  };
}

const BASH: Allowance = { effects: [], exceptions: [], programs: new Set(['bash']) };

function watchCarelessly(command: string, where = fixture, limitMs?: number): Promise<Outcome> {
  const programs = new Set(['bash', command.split(' ')[0]!]);
  return watch(command, where, careless(where.environment), () => ({ ...BASH, programs }), limitMs);
}

/** A lock of the kind that other processes wait for; perl packs what the call takes as C would. */
const FCNTL_LOCK =
  "perl -MFcntl -e 'open my $f, q(+<), q(b.txt); my $lock = pack q(s s x4 q q i x4), F_WRLCK, 0, 0, 0, 0; fcntl $f, F_SETLK, $lock'";

describe('the harness finds', () => {
  test.each([
    ['touch new.txt', 'opens for writing'],
    ['rm -f new.txt', 'changes'],
    ['mkdir made', 'changes'],
    ['mv a.txt c.txt', 'changes'],
    ['ln -s b.txt linked.txt', 'changes'],
    ['chmod 600 b.txt', 'changes'],
    ['truncate -s 0 b.txt', 'opens for writing'],
    ['flock b.txt true', 'locks'],
    [FCNTL_LOCK, 'locks'],
    ['mkfifo pipe', 'changes'],
    ['ln b.txt second.txt', 'changes'],
    ['touch -c b.txt', 'changes'],
    ['cp b.txt copied.txt', 'opens for writing'],
    ['env cat b.txt', 'starts cat'],
    ['sort -o sorted.txt b.txt', 'opens for writing'],
    ['sed -i s/x/y/ b.txt', 'opens for writing'],
    ['git status', 'opens for writing'],
    ['git branch made', 'opens for writing'],
    ['kill -0 1', 'signals another process'],
    ['exec 3<>/dev/udp/127.0.0.1/9', 'talks'],
    ['exec 3<>/dev/tcp/127.0.0.1/9', 'talks'],
    ['echo x >made.txt', 'opens for writing'],
    ['sleep 0.5 & disown', 'leaves a process behind'],
  ])('%s: %s', async (command, why) => {
    const { findings } = await watchCarelessly(command);
    expect(
      findings.some((one) => one.startsWith(why)),
      findings.join('\n'),
    ).toBe(true);
  });

  test('a script that starts a stranger, though its name is known', async () => {
    const script = join(fixture.temporary, 'known');
    writeFileSync(script, '#!/bin/sh\nhead -c 0 /dev/null\n', { mode: 0o755 });
    const programs = new Set(['bash', 'known', 'sh']);
    const { findings } = await watch(script, fixture, careless(fixture.environment), () => ({ ...BASH, programs }));
    expect(findings.map((one) => one.split(':')[0])).toEqual(['starts head']);
  });

  test('what does not end', async () => {
    const { findings, result } = await watchCarelessly('sleep 60', fixture, 1000);
    expect(result.state).toBe('timed-out');
    expect(findings[0]).toContain('timed-out');
  });

  test('each kind of change by itself, when nothing else is found', async () => {
    // What is opened for writing, locked or talked to is one line; none hides another.
    const { findings } = await watchCarelessly('touch first.txt; rm first.txt; flock b.txt true; kill -0 1');
    const kinds = new Set(findings.map((one) => one.split(':')[0]!.split(' ')[0]));
    expect([...kinds].sort()).toEqual(['changes', 'locks', 'opens', 'signals', 'starts']);
  });

  test('an example that is serial, and does not run it', async () => {
    const { prove } = createProver(rules, files, fixture);
    const { findings, result } = await prove('touch must-not-be.txt');
    expect(findings[0]).toContain('is serial, COMMAND_REFUSED');
    expect(result.state).toBe('not-started');
    expect(() => accessSync(join(fixture.project, 'must-not-be.txt'))).toThrow();
  });

  test('nothing about a reader', async () => {
    expect((await watchCarelessly('cat README.md')).findings).toEqual([]);
  });
});

function trappedFixture(stale: boolean): Fixture {
  return makeFixture({ trapped: true, stale, minds: mindsOf(rules), files: ['archive.tar'] });
}

/** What springs a trap when everything is handed over, the mark that it leaves, and whether a rule calls it parallel. */
const SPRINGING: readonly (readonly [command: string, mark: string, isProved: boolean])[] = [
  ['git status', 'fsmonitor', true],
  ['git status', 'hook', true],
  ['git log -4', 'gpg', true],
  ['git rev-parse :a.txt', 'fsmonitor', true],
  ['git diff', 'GIT_EXTERNAL_DIFF', true],
  // A pager is asked for on a terminal only, and by one that always wants it.
  ["script -qec 'git log -2' /dev/null", 'GIT_PAGER', false],
  ["script -qec 'env -u GIT_PAGER git log -2' /dev/null", 'config-pager', false],
  ['batcat --paging=always README.md', 'BAT_PAGER', false],
  ['git rev-parse HEAD', 'GIT_TRACE', true],
  ['git rev-parse HEAD', 'GIT_TRACE2_EVENT', true],
  ['rg foo src', 'rg-pre', true],
  ['tar tf archive.tar', 'TAR_OPTIONS', true],
  ['npm --version', 'NODE_OPTIONS', true],
  ['node -e 0', 'NODE_OPTIONS', false],
  ['perl -e 0', 'PERL5OPT', false],
];

describe('the traps', () => {
  let trapped: Fixture;
  beforeAll(() => {
    // While the index is stale, some of the reads are not run beside others.
    trapped = trappedFixture(false);
  });
  afterAll(() => trapped.remove());

  test.each(SPRINGING.filter(([, , isProved]) => isProved))(
    '%s as it is proved does not come upon %s',
    async (command) => {
      const { prove } = createProver(rules, files, trapped);
      expect((await prove(command)).findings).toEqual([]);
      expect(trapped.traps.sprung()).toEqual([]);
    },
  );

  test.each(SPRINGING)('%s with all that surrounds it comes upon %s', async (command, mark) => {
    const copy = trappedFixture(true);
    onTestFinished(() => copy.remove());
    const { findings } = await watchCarelessly(command, copy);
    expect(copy.traps.sprung()).toContain(mark);
    expect(findings).not.toEqual([]);
  });

  test('those in the configuration of the user are defused as well', async () => {
    const own = makeFixture({ trapped: false });
    onTestFinished(() => own.remove());
    const trace = join(own.temporary, 'trace');
    const monitor = join(own.traps.directory, 'fsmonitor');
    writeFileSync(
      join(own.home, '.gitconfig'),
      `[trace2]\n\teventTarget = ${trace}\n[core]\n\tfsmonitor = ${monitor}\n`,
    );
    const plain = await watchCarelessly('git status', own);
    for (const place of [trace, monitor]) expect(plain.findings.join('\n')).toContain(place);
    const { prove } = createProver(rules, files, own);
    expect((await prove('git status')).findings).toEqual([]);
  });

  test('a variable that its profile minds makes a command serial, so that no trap is in it', async () => {
    const { environment } = trapped.traps;
    const minded = Object.keys(environment).filter((name) => !Object.hasOwn(trapped.environment, name));
    expect(minded).toEqual(expect.arrayContaining(['GIT_INDEX_FILE', 'GIT_CONFIG_PARAMETERS', 'npm_config_cache']));
    const spoilt = { ...trapped, environment: { ...trapped.environment, ...environment } };
    const { prove } = createProver(rules, files, spoilt);
    for (const command of ['git status', 'npm ls', 'git config -l']) {
      expect((await prove(command)).findings[0]).toContain('is serial, VARIABLE_UNKNOWN');
    }
  });
});
