import { refusedEffect } from '../classifier/allowance.ts';
import type { Judgement } from '../classifier/judgement.ts';
import { lex } from '../classifier/lexer.ts';
import type { ReasonCode, Verdict } from '../classifier/verdict.ts';
import type { Places } from './command-locks.ts';
import { landingOf } from './directory-change.ts';
import { type Environment, mindedVariable, parallelEnvironment } from './environment.ts';
import { workspaceKeys } from './lock-keys.ts';
import { irregularOperand } from './operands.ts';
import type { Assessor, Order, Terms } from './order.ts';
import { isPseudo, realOr } from './paths.ts';
import { markerValue } from './process-table.ts';
import { profileNamed } from './profiles.ts';
import { distrustedStart, findProgram, type Program, type ProgramContext } from './program.ts';
import { assumesPlain } from './repository-judge.ts';
import { strangerAmong } from './tool-identity.ts';

type Proof = Extract<Verdict, { kind: 'parallel' }>;

/** The program to start, as it was found; or null for bash, with the text. */
export type Launch = { readonly file: string; readonly argv: readonly string[] } | null;

export type Proved = {
  readonly kind: 'parallel';
  readonly verdict: Proof;
  readonly launch: Launch;
  readonly environment: (marker: string) => Environment;
  /** The real directory that the text changes to; null when it stays where it is. */
  readonly changesTo: string | null;
};

export type Refused = { readonly kind: 'serial'; readonly verdict: Verdict };

/** What is judged, and where. */
export type Subject = {
  readonly order: Order;
  readonly terms: Terms;
  readonly judgement: Judgement;
  readonly places: Places;
  /** Where its change of directory led when it was first judged; null: not asked yet, or none. */
  readonly earlier: string | null;
};

/** With it, a change of directory may lead to another one of that name. */
const SEARCHED_BY_CHANGES = 'CDPATH';

/**
 * Holds a judge's yes against what surrounds the command: platform, variables, where it changes to, the programs that
 * its names find, the files that its operands name. All of that can only take the yes away.
 */
export function provedRun(assessor: Assessor, { order, terms, judgement, places, earlier }: Subject): Proved | Refused {
  const { verdict, cd, wholeEnvironment: whole } = judgement;
  const { base, lineage, platform } = assessor;
  const { command, cwd, env } = order;
  const no = (code: ReasonCode, message: string): Refused => {
    return { kind: 'serial', verdict: refusal(code, message, command, verdict.ruleset) };
  };
  if (verdict.kind !== 'parallel') return { kind: 'serial', verdict };

  if (assessor.probe !== null && assumesPlain(judgement))
    return no('REPOSITORY_UNREADABLE', 'The judge did not take into account what was found in the repository');
  const refused = refusedEffect(verdict.effects, terms.allow);
  if (refused !== null) return no('EFFECT_REFUSED', `The judge did not take into account that ${refused} is refused`);
  if (platform.unproven !== null && !assessor.allowUnprovenPlatform) return no('PLATFORM_UNPROVEN', platform.unproven);
  if (isPseudo(realOr(cwd))) return no('DIRECTORY_DEVICE', `${cwd} leads into one of the kernel's file systems`);

  const landing = cd === null ? null : landingOf(cd, { ...assessor, cwd, earlier });
  if (landing?.kind === 'refused') return no(landing.code, `It cannot change the directory as proved: ${landing.why}`);

  const profile = profileNamed(assessor.profiles, verdict.profile);
  if (profile === null) return no('VARIABLE_UNKNOWN', `No profile is named ${verdict.profile}`);
  // Given the profile's value for the caller's, the command would answer something else than was asked.
  const overruled = Object.keys(env).find(
    (name) => Object.hasOwn(profile.set, name) && profile.set[name] !== env[name],
  );
  if (overruled !== undefined) {
    return no('VARIABLE_UNKNOWN', `The profile ${verdict.profile} sets ${overruled} to another value`);
  }

  const minded = whole ? null : mindedVariable(base, profile.minds ?? []);
  if (minded !== null) {
    return no(
      'VARIABLE_UNKNOWN',
      `${minded} is set around the command, and the profile ${verdict.profile} does not hand it over`,
    );
  }
  if (whole && landing !== null && Object.hasOwn(base, SEARCHED_BY_CHANGES)) {
    return no('VARIABLE_UNKNOWN', `${SEARCHED_BY_CHANGES} is set, and a proved change of directory runs without it`);
  }

  const set = verdict.run.form === 'argv' ? verdict.run.env : null;
  const environment = (marker: string): Environment => {
    const given = { cwd, marker: markerValue(lineage, marker) };
    const all = parallelEnvironment(base, env, { profile, whole, set }, given);
    return landing === null ? all : without(all, SEARCHED_BY_CHANGES);
  };

  const path = environment('').PATH;
  const own = workspaceKeys(cwd).workspace;
  const workspaces = places.workspaces.includes(own) ? places.workspaces : [...places.workspaces, own];
  // A relative entry of PATH is looked up from wherever the text has changed to.
  const contexts = places.starts.map((start): ProgramContext => ({ path, cwd: start, workspaces, found: new Map() }));
  const programs = programsOf(judgement, command, platform.builtins);
  if (programs.answered !== null) {
    return no(
      'PROGRAM_UNTRUSTED',
      `Bash answers ${programs.answered} itself; what was proved is a program of that name`,
    );
  }
  const first =
    programs.names.length === 0 ? null : findProgram(programs.names[0] as string, contexts[0] as ProgramContext);
  const distrusted = distrustedAny(programs.names, judgement.starts, contexts);
  if (distrusted !== null) return no('PROGRAM_UNTRUSTED', `It cannot be told what would run: ${distrusted}`);

  // A hit that was trusted came from an absolute entry of PATH: the same from every place.
  const started = [...programs.names, ...judgement.starts];
  const stranger = strangerAmong(assessor.identity, started, contexts[0] as ProgramContext);
  if (stranger !== null && !assessor.allowUnprovenPlatform) return no('PLATFORM_UNPROVEN', stranger);

  const irregular = irregularOperand(judgement.paths, places.bases);
  if (irregular !== null) return no('OPERAND_NOT_REGULAR', `Opening it might wait or do something: ${irregular}`);

  const isDirect = verdict.run.form === 'argv' && first?.kind === 'found';
  const launch = isDirect ? { file: first.path, argv: verdict.run.argv } : null;
  return { kind: 'parallel', verdict, launch, environment, changesTo: landing?.real ?? null };
}

type Names = {
  /** Those to look up on PATH. */
  readonly names: readonly string[];
  /** The first that was proved as a program, and that this bash answers itself. */
  readonly answered: string | null;
};

/**
 * What bash would look up of the names that a text begins its commands with. Names of rules that this bash does not
 * answer, though their rules say so, are among them.
 */
function programsOf({ verdict, programs }: Judgement, command: string, builtins: ReadonlySet<string>): Names {
  if (verdict.kind !== 'parallel') return { names: [], answered: null };
  if (verdict.parts !== undefined) {
    const names = new Set([
      ...programs,
      ...verdict.rule.map(({ binary }) => binary).filter((name) => !builtins.has(name)),
    ]);
    return { names: [...names], answered: programs.find((name) => builtins.has(name)) ?? null };
  }
  const isDirect = verdict.run.form === 'argv';
  const [name = ''] = verdict.run.form === 'argv' ? verdict.run.argv : wordsOf(command);
  if (!builtins.has(name)) return { names: [name], answered: null };
  return { names: [], answered: isDirect || programs.includes(name) ? name : null };
}

/** Why what would run cannot be trusted, from any of the places that it may start from; or null. */
function distrustedAny(
  names: readonly string[],
  starts: readonly string[],
  contexts: readonly ProgramContext[],
): string | null {
  for (const context of contexts) {
    const found: readonly (Program | null)[] = names.map((name) => findProgram(name, context));
    for (const program of found.length === 0 ? [null] : found) {
      const why = program?.kind === 'untrusted' ? program.why : distrustedStart(program, starts, context);
      if (why !== null) return why;
    }
  }
  return null;
}

/** The words of a text that was proved, which the lexer has therefore accepted. */
function wordsOf(command: string): readonly string[] {
  const lexed = lex(command, { maxChars: Number.POSITIVE_INFINITY, maxWords: Number.POSITIVE_INFINITY });
  return lexed.words.map(({ text }) => text);
}

/** A verdict that something around the command takes the yes away. */
export function refusal(code: ReasonCode, message: string, command: string, ruleset: string): Verdict {
  const span = [0, command.length] as const;
  return { kind: 'serial', reason: { check: 'environment', code, knowledge: 'unrecognised', span, message }, ruleset };
}

function without(environment: Environment, name: string): Environment {
  const { [name]: _, ...rest } = environment;
  return rest;
}
