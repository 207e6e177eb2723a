import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { namesOf } from '../../src/classifier/usage.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleFile, RuleNode } from '../../src/rules/schema.ts';
import { fingerprint, makeRepository, type Throwaway } from './git-repository.ts';
import { type Traced, trace } from './git-trace.ts';

/**
 * The proof by execution: what the rule calls parallel is run, as the verdict says it is to be run, in a repository whose
 * index is stale, and must leave no trace. Root steps down to another user for it.
 */

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../rules/${name}`, import.meta.url), 'utf8'));
const file: RuleFile = read('git.json');
const proposed: readonly string[] = read('proposed/git.json').parallel;
const rules = loadRules();
const AT_ONCE = 4;

let repository: Throwaway;
let before: string;
beforeAll(() => {
  repository = makeRepository();
  before = fingerprint(repository.path);
});
afterAll(() => repository.remove());

/** Runs the command from its verdict. */
function run(command: string): Promise<Traced> {
  const verdict = classify(command, { rules });
  if (verdict.kind !== 'parallel' || verdict.run.form !== 'argv') throw new Error(`${command} is not run from argv`);
  return trace(verdict.run.argv, repository, verdict.run.env);
}

/** What a run did that its rule does not name, or null. */
function fault(command: string, traced: Traced): string | null {
  const named = startsOf(command);
  const strangers = traced.started.filter((program) => !named.has(program));
  const faults = [...traced.changes, ...strangers.map((program) => `starts ${program}`)];
  return faults.length === 0 ? null : `${command}: ${faults.join('; ')}`;
}

/** The programs that the nodes on the command's path, and the options there, say they start. */
function startsOf(command: string): ReadonlySet<string> {
  const named = new Set<string>();
  let node: RuleNode = file.command;
  const collect = (from: RuleNode): void => {
    for (const program of from.starts ?? []) named.add(program);
    const tables = [from.options ?? {}, ...(from.use ?? []).map((group) => file.groups![group]!)];
    for (const option of tables.flatMap((table) => Object.values(table))) {
      for (const program of option.starts ?? []) named.add(program);
    }
  };
  collect(node);
  for (const word of command.split(' ').slice(1)) {
    const key: string | undefined = Object.keys(node.subcommands ?? {}).find((names) => namesOf(names).includes(word));
    const below: RuleNode | undefined = key === undefined ? undefined : node.subcommands?.[key];
    if (below === undefined) continue;
    node = below;
    collect(node);
  }
  return named;
}

async function faultsOf(commands: readonly string[]): Promise<readonly string[]> {
  const faults: string[] = [];
  const queue = [...commands];
  const worker = async (): Promise<void> => {
    for (let command = queue.shift(); command !== undefined; command = queue.shift()) {
      const found = fault(command, await run(command));
      if (found !== null) faults.push(found);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return faults;
}

describe('the tracer notices', () => {
  test('the lock that git status takes without the profile', async () => {
    const other = repository.copy();
    onTestFinished(() => other.remove());
    const { changes } = await trace(['git', 'status'], other, {});
    expect(changes.some((call) => call.includes('index.lock') && call.includes('O_CREAT'))).toBe(true);
  });

  test('a file that is written, a program that is started, a socket', async () => {
    const name = join(repository.env.TMPDIR, 'written');
    const { changes, started } = await trace(
      ['bash', '-c', `: >${name}; cat /dev/null; exec 3<>/dev/udp/127.0.0.1/9`],
      repository,
      {},
    );
    expect(changes.some((call) => call.includes(name))).toBe(true);
    expect(changes.some((call) => call.startsWith('socket('))).toBe(true);
    expect(started).toEqual(['cat']);
  });
});

describe('the profile', () => {
  test('keeps git from the trace file, the monitor and the hooks that the configuration of the user asks for', async () => {
    const other = repository.copy();
    onTestFinished(() => other.remove());
    const marker = join(other.env.TMPDIR, 'marker');
    const settings = `[trace2]\neventTarget = ${marker}\n[core]\nfsmonitor = touch ${marker} #\nhooksPath = ${other.path}\n`;
    writeFileSync(join(other.env.HOME, '.gitconfig'), settings);
    const plain = await trace(['git', 'status'], other, {});
    expect(plain.changes.some((call) => call.includes(marker))).toBe(true);
    const verdict = classify('git status', { rules });
    if (verdict.kind !== 'parallel' || verdict.run.form !== 'argv') throw new Error('git status is run from argv');
    const { changes, started } = await trace(verdict.run.argv, other, verdict.run.env);
    expect({ changes, strangers: started.filter((program) => program !== 'git') }).toEqual({
      changes: [],
      strangers: [],
    });
  });
});

describe('what the git rule calls parallel', () => {
  test.each(file.examples.parallel)('%s: reads, and succeeds', async (command) => {
    const traced = await run(command);
    expect(fault(command, traced)).toBeNull();
    // 1 is an answer of grep, diff and the like; from 128 on git could not do what it was asked, and proved nothing.
    expect(traced.status, traced.stderr).toBeLessThan(2);
  });

  test(`none of the ${proposed.length} proposed examples does more than read`, async () => {
    expect(await faultsOf(proposed)).toEqual([]);
  });

  test('and the repository is as it was, to the last time stamp', () => {
    expect(fingerprint(repository.path)).toBe(before);
  });
});
