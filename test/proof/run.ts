import { spawn as nodeSpawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { RuleSet } from '../../src/classifier/rule-set.ts';
import type { ReasonCode, Verdict } from '../../src/classifier/verdict.ts';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import type { DispatcherOptions } from '../../src/dispatcher/options.ts';
import type { Spawn } from '../../src/dispatcher/runner.ts';
import type { CommandResult } from '../../src/dispatcher/types.ts';
import type { RuleException, RuleFile } from '../../src/rules/schema.ts';
import { type Call, callsOf, findStrace, leftBehind, straceWords, UNPRIVILEGED } from '../support/strace.ts';
import { type Allowed, findingsOf } from './findings.ts';
import type { Fixture } from './fixture.ts';
import { startsOf } from './starts.ts';

/** A reader that has not ended after this many milliseconds does not end. Only a list of all packages needs seconds. */
const LIMIT_MS = 120_000;

export type Proof = Extract<Verdict, { readonly kind: 'parallel' }>;

export type Outcome = {
  readonly command: string;
  readonly result: Pick<CommandResult, 'state' | 'exitCode' | 'stdout' | 'stderr' | 'note'>;
  /** What it did that it may not, each in a line. Empty: it is proved. */
  readonly findings: readonly string[];
  /** Why it is serial, so that it was not run; null: it was. */
  readonly refused: ReasonCode | null;
  /** The exceptions without which more would have been found. */
  readonly used: readonly RuleException[];
};

/** What of the rules a command may start and keep. */
export type Allowance = Pick<Allowed, 'effects' | 'exceptions' | 'programs'>;

/** Who judges: rules, or a judge with the profiles that its verdicts name. */
export type Judging = Pick<DispatcherOptions, 'rules' | 'judge' | 'profiles'>;

const LEAVES_PROCESS = 'leaves a process behind';

/**
 * Runs a command as the dispatcher does, and says what it did besides reading. What is serial is not run.
 *
 * @param limitMs after which a run is ended, and that is a finding.
 */
export async function watch(
  command: string,
  fixture: Fixture,
  judging: Judging,
  allowanceOf: (verdict: Proof) => Allowance,
  limitMs = LIMIT_MS,
): Promise<Outcome> {
  const log = join(fixture.scratch, `trace-${randomUUID()}`);
  const strace = findStrace();
  const started: string[] = [];
  const spawn: Spawn = (file, words, options) => {
    started.push(file);
    // strace looks the name up where the program itself would have been found, so that it is called by the same name.
    return nodeSpawn(strace, [...straceWords(log), options.argv0, ...words], {
      ...options,
      argv0: 'strace',
      stdio: [...options.stdio],
      ...UNPRIVILEGED,
    });
  };
  const { verdict, result } = await dispatchOne(command, fixture, { ...judging, spawn }, limitMs);
  if (verdict.kind === 'serial' || result === null) return notRun(command, verdict);
  const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
  const calls = callsOf(text);
  rmSync(log, { force: true });
  const allowed = {
    ...allowanceOf(verdict),
    home: fixture.home,
    temporary: fixture.temporary,
    traps: fixture.traps.directory,
  };
  const found = findingsOf(calls, allowed);
  const { exceptions } = allowed;
  const isUsed = (one: RuleException): boolean =>
    findingsOf(calls, { ...allowed, exceptions: exceptions.filter((other) => other !== one) }).length > found.length;
  const findings = [
    ...(result.state === 'exited' ? [] : [`${result.state}: ${result.note}`]),
    ...(result.verdict.kind === 'parallel' ? [] : ['was judged again and is serial']),
    ...(result.state === 'exited' && result.note !== null ? [result.note] : []),
    ...wrongProgram(calls, started),
    ...(leftBehind(text) ? [LEAVES_PROCESS] : []),
    ...found,
  ];
  return { command, result, findings, refused: null, used: exceptions.filter(isUsed) };
}

/** Plans a command first, and runs it only when the dispatcher would run it beside others. */
export async function dispatchOne(
  command: string,
  { project, environment }: Pick<Fixture, 'project' | 'environment'>,
  options: Judging & Pick<DispatcherOptions, 'spawn'>,
  timeoutMs = LIMIT_MS,
): Promise<{ readonly verdict: Verdict; readonly result: CommandResult | null }> {
  const limits = { timeoutMs };
  const dispatcher = createDispatcher({ ...options, cwd: project, environment, limits });
  try {
    const verdict = dispatcher.plan([command]).commands[0]!.verdict;
    if (verdict.kind === 'serial') return { verdict, result: null };
    const { commands } = await dispatcher.dispatch([command]).done;
    return { verdict, result: commands[0] ?? null };
  } finally {
    await dispatcher.shutdown({ graceMs: 0 });
  }
}

/** @param files the rule files behind `rules`. */
export function createProver(
  rules: RuleSet,
  files: readonly RuleFile[],
  fixture: Fixture,
): { readonly prove: (command: string) => Promise<Outcome> } {
  const byBinary = new Map(files.map((file) => [file.binary, file]));
  const allowanceOf = (verdict: Proof, command: string): Allowance => {
    const file = byBinary.get(verdict.rule[0]?.binary ?? '');
    if (file === undefined) throw new Error(`Expected a rule file for ${command}`);
    const named = startsOf(file, verdict.rule[0]?.path ?? '', command);
    const shell = verdict.run.form === 'bash' ? ['bash'] : [];
    return {
      effects: verdict.effects,
      exceptions: file.exceptions ?? [],
      programs: new Set([...named, ...shell]),
    };
  };
  const watched = (command: string): Promise<Outcome> =>
    watch(command, fixture, { rules }, (verdict) => allowanceOf(verdict, command));
  return {
    async prove(command) {
      const outcome = await watched(command);
      // A helper that is about to end may get no processor for longer than a moment; who leaves one does it each time.
      return outcome.findings.length > 0 && outcome.findings.every((one) => one === LEAVES_PROCESS)
        ? watched(command)
        : outcome;
    },
  };
}

function notRun(command: string, verdict: Verdict): Outcome {
  const result = { state: 'not-started', exitCode: null, stdout: '', stderr: '', note: null } as const;
  if (verdict.kind === 'parallel') return { command, result, findings: ['was not run'], refused: null, used: [] };
  const { code, message } = verdict.reason;
  return { command, result, findings: [`is serial, ${code}: ${message}`], refused: code, used: [] };
}

/** What was traced must be what the dispatcher found. */
function wrongProgram(calls: readonly Call[], started: readonly string[]): readonly string[] {
  const first = calls.find(({ name, text }) => name === 'execve' && text.endsWith(' = 0'));
  const path = first?.text.split('"')[1];
  if (path === undefined) return ['nothing was traced'];
  const isSame = started.some((file) => realpathSync(file) === realpathSync(path) && basename(file) === basename(path));
  return isSame ? [] : [`${path} was traced instead of ${started.join(', ')}`];
}
