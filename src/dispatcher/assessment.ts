import { realpathSync } from 'node:fs';
import { type Allowance, refusedEffect } from '../classifier/allowance.ts';
import type { Judge, Judgement } from '../classifier/judgement.ts';
import { lex } from '../classifier/lexer.ts';
import type { ReasonCode, Verdict } from '../classifier/verdict.ts';
import { locksOf, type Places, placesOf } from './command-locks.ts';
import { type Environment, mindedVariable, parallelEnvironment, serialEnvironment } from './environment.ts';
import { namedPlaces } from './named-places.ts';
import { irregularOperand, isPseudo } from './operands.ts';
import type { Platform } from './platform.ts';
import { markerValue } from './process-table.ts';
import type { ProfileTable } from './profiles.ts';
import { distrustedStart, findProgram } from './program.ts';
import { assumesPlain, judgeProbed } from './repository-judge.ts';
import type { RepositoryProbe } from './repository-probe.ts';
import type { LockRequest, Mode } from './types.ts';

/** A command as it was added: complete, with an absolute directory. */
export type Order = {
  readonly command: string;
  readonly cwd: string;
  readonly env: Environment;
  readonly lockKeys: readonly LockRequest[];
};

/** The program to start, as it was found; or null for bash, with the text. */
export type Launch = { readonly file: string; readonly argv: readonly string[] } | null;

/** What is known of a command at one moment. Everything in it may be different at the next. */
export type Assessment = {
  readonly verdict: Verdict;
  readonly locks: readonly LockRequest[];
  readonly launch: Launch;
  readonly environment: (marker: string) => Environment;
};

export type Assessor = {
  readonly judge: Judge;
  readonly profiles: ProfileTable;
  readonly base: Environment;
  /** The markers of the commands that this process itself is part of. */
  readonly lineage: string | undefined;
  readonly platform: Platform;
  readonly allowUnprovenPlatform: boolean;
  /** Null where every repository is trusted. */
  readonly probe: RepositoryProbe | null;
};

/** How the commands of a batch are judged. */
export type Terms = { readonly mode: Mode; readonly allow: Allowance };

type Proof = Extract<Verdict, { kind: 'parallel' }>;

/**
 * Judges a command and holds the verdict against what surrounds it: platform, variables, the program that its name
 * finds, the files that its operands name. All of that can only take a yes away. Reads the file system, changes nothing.
 *
 * @param settled a serial verdict that stands whatever would be found now.
 */
export function assess(
  assessor: Assessor,
  batchId: string,
  terms: Terms,
  order: Order,
  settled: Verdict | null = null,
): Assessment {
  // A value that the base has anyway changes nothing.
  const own = Object.entries(order.env).filter(([name, value]) => !has(assessor.base, name, value));
  const judgement = judged(assessor, terms, { ...order, env: Object.fromEntries(own) });
  const places = placesOf(order.cwd, judgement);
  const proof: Proved | Refused =
    settled === null ? proofOf(assessor, terms, order, judgement, places) : { kind: 'serial', verdict: settled };
  const { lockKeys } = order;
  if (proof.kind === 'parallel') return { ...proof, locks: locksOf(batchId, 'shared', places, judgement, lockKeys) };
  const { base, lineage } = assessor;
  const environment = (marker: string) =>
    serialEnvironment(base, order.env, { cwd: order.cwd, marker: markerValue(lineage, marker) });
  const elsewhere = namedPlaces({ ...order, ...places, environment: environment('') });
  const locks = locksOf(batchId, 'exclusive', places, judgement, lockKeys, elsewhere);
  return { verdict: proof.verdict, locks, launch: null, environment };
}

function judged({ judge, probe, base }: Assessor, { mode, allow }: Terms, { command, cwd, env }: Order): Judgement {
  const context = { cwd, env, mode, allow };
  try {
    return probe === null
      ? judge(command, context)
      : judgeProbed(judge, command, context, { probe, environment: base });
  } catch (error) {
    // A judge that fails has proved nothing, here and now.
    const message = `The judge failed: ${error instanceof Error ? error.message : String(error)}`;
    const verdict = refusal('PLATFORM_UNPROVEN', message, command, '');
    return {
      verdict,
      directories: [],
      paths: [],
      resources: [],
      starts: [],
      programs: [],
      cd: null,
      wholeEnvironment: false,
    };
  }
}

type Proved = Pick<Assessment, 'launch' | 'environment'> & { readonly kind: 'parallel'; readonly verdict: Proof };
type Refused = { readonly kind: 'serial'; readonly verdict: Verdict };

function proofOf(
  assessor: Assessor,
  { allow }: Terms,
  order: Order,
  judgement: Judgement,
  places: Places,
): Proved | Refused {
  const { verdict } = judgement;
  const { base, lineage, platform, profiles } = assessor;
  const { command, cwd, env } = order;
  const no = (code: ReasonCode, message: string): Refused => {
    return { kind: 'serial', verdict: refusal(code, message, command, verdict.ruleset) };
  };
  if (verdict.kind !== 'parallel') return { kind: 'serial', verdict };

  if (assessor.probe !== null && assumesPlain(judgement))
    return no('REPOSITORY_UNREADABLE', 'The judge did not take into account what was found in the repository');
  const refused = refusedEffect(verdict.effects, allow);
  if (refused !== null) return no('EFFECT_REFUSED', `The judge did not take into account that ${refused} is refused`);
  if (platform.unproven !== null && !assessor.allowUnprovenPlatform) return no('PLATFORM_UNPROVEN', platform.unproven);
  if (isPseudo(realOr(cwd))) return no('DIRECTORY_DEVICE', `${cwd} leads into one of the kernel's file systems`);

  const profile = profiles.get(verdict.profile);
  if (profile === undefined) return no('VARIABLE_UNKNOWN', `No profile is named ${verdict.profile}`);
  // Given the profile's value for the caller's, the command would answer something else than was asked.
  const overruled = Object.keys(env).find(
    (name) => Object.hasOwn(profile.set, name) && profile.set[name] !== env[name],
  );
  if (overruled !== undefined) {
    return no('VARIABLE_UNKNOWN', `The profile ${verdict.profile} sets ${overruled} to another value`);
  }

  const minded = judgement.wholeEnvironment ? null : mindedVariable(base, profile.minds ?? []);
  if (minded !== null) {
    return no(
      'VARIABLE_UNKNOWN',
      `${minded} is set around the command, and the profile ${verdict.profile} does not hand it over`,
    );
  }

  const proved = {
    profile,
    whole: judgement.wholeEnvironment,
    set: verdict.run.form === 'argv' ? verdict.run.env : null,
  };
  const environment = (marker: string) =>
    parallelEnvironment(base, env, proved, { cwd, marker: markerValue(lineage, marker) });
  const path = environment('').PATH;

  const argv = verdict.run.form === 'argv' ? verdict.run.argv : wordsOf(command);
  const name = argv[0] ?? '';
  const isBuiltin = platform.builtins.has(name);
  if (verdict.run.form === 'argv' && isBuiltin) {
    return no('PROGRAM_UNTRUSTED', `Bash answers ${name} itself; what was proved is a program of that name`);
  }
  const context = { path, cwd, workspaces: places.workspaces };
  const program = isBuiltin ? null : findProgram(name, context);
  const distrusted = program?.kind === 'untrusted' ? program.why : distrustedStart(program, judgement.starts, context);
  if (distrusted !== null) return no('PROGRAM_UNTRUSTED', `It cannot be told what would run: ${distrusted}`);

  const irregular = irregularOperand(judgement.paths, places.bases);
  if (irregular !== null) return no('OPERAND_NOT_REGULAR', `Opening it might wait or do something: ${irregular}`);

  const isDirect = verdict.run.form === 'argv' && program?.kind === 'found';
  return { kind: 'parallel', verdict, launch: isDirect ? { file: program.path, argv } : null, environment };
}

function has(environment: Environment, name: string, value: string): boolean {
  return Object.hasOwn(environment, name) && environment[name] === value;
}

/** The words of a text that was proved, which the lexer has therefore accepted. */
function wordsOf(command: string): readonly string[] {
  const lexed = lex(command, { maxChars: Number.POSITIVE_INFINITY, maxWords: Number.POSITIVE_INFINITY });
  return lexed.words.map(({ text }) => text);
}

function refusal(code: ReasonCode, message: string, command: string, ruleset: string): Verdict {
  const span = [0, command.length] as const;
  return { kind: 'serial', reason: { check: 'environment', code, knowledge: 'unrecognised', span, message }, ruleset };
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
