import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { Proposed, RuleFile } from '../../src/rules/schema.ts';
import { findingsOf, type Traced, trace } from '../support/strace.ts';
import { makeTree, type Tree } from './everyday-tree.ts';

/**
 * A first proof by execution: every parallel example of the rules that needs neither network nor daemon is run as its
 * verdict says it is to be run, by a user without rights, and must leave no trace: no file written, created, renamed,
 * removed or locked, no socket, no program that its rule does not name, an end within ten seconds.
 */

const EVERYDAY = ['ls', 'cat', 'head', 'tail', 'wc', 'echo', 'pwd', 'sed', 'grep', 'find', 'rg'];
/** npm is slow, and most of its examples ask the registry: these do not. */
const NPM = [
  'npm --version',
  'npm -v',
  'npm ls',
  'npm root -g',
  'npm prefix',
  'npm run',
  'npm pkg get scripts',
  'npm config get registry',
  'npm fund',
];
/** What npm's rule says it does besides: a log of its own name. It also asks the kernel for the network interfaces. */
const NPM_LOG = ['/.npm"', '/.npm/_logs'];

const rules = loadRules();
const read = (name: string): string => readFileSync(new URL(`../../rules/${name}`, import.meta.url), 'utf8');
const ruleOf = (binary: string): RuleFile => JSON.parse(read(`${binary}.json`));

function proposedFor(binary: string): readonly string[] {
  if (!existsSync(new URL(`../../rules/proposed/${binary}.json`, import.meta.url))) return [];
  return (JSON.parse(read(`proposed/${binary}.json`)) as Proposed).parallel;
}

let tree: Tree;
let before: string;
beforeAll(() => {
  tree = makeTree();
  before = tree.fingerprint();
});
afterAll(() => tree.remove());

/** Runs the command from its verdict. */
function run(command: string): Promise<Traced> {
  const verdict = classify(command, { rules, cwd: tree.project });
  if (verdict.kind !== 'parallel') throw new Error(`${command} is serial: ${verdict.reason.message}`);
  const { run: form } = verdict;
  const argv = form.form === 'argv' ? form.argv : ['bash', '--noprofile', '--norc', '-c', command];
  const { env } = tree.surroundings;
  const own = form.form === 'argv' ? form.env : { LC_CTYPE: 'C.UTF-8' };
  return trace(argv, { ...tree.surroundings, env: { ...env, ...own } });
}

/** What the run did that the rule does not name. */
function faultsOf(command: string, { changes, started }: Traced, file: RuleFile): readonly string[] {
  const named = new Set([command.split(' ')[0], file.binary, ...(file.command.starts ?? [])]);
  const strangers = new Set(started.filter((program) => !named.has(program)));
  return [...changes, ...[...strangers].map((program) => `starts ${program}`)].map((fault) => `${command}: ${fault}`);
}

/** Four at a time: the machine has better to do than to wait for strace. */
async function atOnce<T>(commands: readonly string[], act: (command: string) => Promise<T>): Promise<readonly T[]> {
  const left = [...commands];
  const results: T[] = [];
  const worker = async (): Promise<void> => {
    for (let command = left.shift(); command !== undefined; command = left.shift()) results.push(await act(command));
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  return results;
}

describe('the tracer notices', () => {
  test('a file that is written, removed or locked, a program, a socket; and a reader leaves nothing', async () => {
    const program = 'n=$TMPDIR/written; : >$n; flock $n true; rm $n; cat </dev/null; exec 3<>/dev/udp/127.0.0.1/9';
    const { changes, started } = await trace(['bash', '-c', program], tree.surroundings);
    for (const sign of ['O_CREAT', 'flock(', 'unlink', 'socket(AF_INET']) {
      expect(
        changes.some((call) => call.includes(sign)),
        sign,
      ).toBe(true);
    }
    expect(new Set(started)).toEqual(new Set(['flock', 'true', 'rm', 'cat']));
    expect((await trace(['cat', 'README.md'], tree.surroundings)).changes).toEqual([]);
  });

  test('calls that strace splits in two lines, and none of the harmless ones', () => {
    const log = [
      '7 execve("/usr/bin/x", ["x"], 0x7 /* 1 var */) = 0',
      '7 openat(AT_FDCWD, "out", O_WRONLY|O_CREAT <unfinished ...>',
      '8 openat(AT_FDCWD, "in", O_RDONLY) = 3',
      '7 <... openat resumed>) = 4',
      '8 openat(AT_FDCWD, "/dev/null", O_RDWR) = 5',
      '8 socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0) = 3',
      '8 connect(3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT',
      '8 rename("a", "b" <unfinished ...>',
      '8 +++ killed by SIGKILL +++',
    ];
    expect(findingsOf(log.join('\n'))).toEqual({
      changes: ['openat(AT_FDCWD, "out", O_WRONLY|O_CREAT) = 4', 'rename("a", "b"'],
      started: ['x'],
    });
  });
});

for (const binary of EVERYDAY) {
  const file = ruleOf(binary);
  describe(`what the rule of ${binary} calls parallel only reads`, () => {
    test.concurrent.for(file.examples.parallel)('%s', async (command, { expect }) => {
      const traced = await run(command);
      expect(faultsOf(command, traced, file)).toEqual([]);
      // 1 is the answer of grep and rg that nothing matched; more would mean that the example proved nothing.
      expect(traced.status, traced.stderr).toBeLessThan(2);
    });

    test('and so do the proposed examples', async () => {
      const faults = await atOnce(proposedFor(binary), async (command) => faultsOf(command, await run(command), file));
      expect(faults.flat()).toEqual([]);
    });
  });
}

describe('what the rule of npm calls parallel writes its own log and nothing else', () => {
  const file = ruleOf('npm');
  test.concurrent.for(NPM)('%s', async (command, { expect }) => {
    expect(file.examples.parallel).toContain(command);
    const traced = await run(command);
    const isOwnLog = (fault: string): boolean => NPM_LOG.some((path) => fault.includes(`"${tree.home}${path}`));
    const isInterfaces = (fault: string): boolean => fault.includes('AF_NETLINK');
    const faults = faultsOf(command, traced, file).filter((fault) => !isOwnLog(fault) && !isInterfaces(fault));
    expect(faults).toEqual([]);
    expect(traced.status, traced.stderr).toBe(0);
  });
});

test('and the project is as it was, to the last time stamp', () => {
  expect(tree.fingerprint()).toBe(before);
});
