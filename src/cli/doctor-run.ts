import { resolve } from 'node:path';
import { checkDirectory } from '../dispatcher/command-input.ts';
import { baseEnvironment } from '../dispatcher/environment.ts';
import { probePlatform } from '../dispatcher/platform.ts';
import { VERSION } from '../version.ts';
import { EXIT } from './complaint.ts';
import type { Diagnosis, Finding, PathEntry, ProgramState, VariableState } from './doctor-diagnosis.ts';
import { programsOf } from './doctor-programs.ts';
import { drawDiagnosis } from './doctor-report.ts';
import { factsOf, mindedVariables, pathEntries, repositoryFindings, takenAway } from './doctor-surroundings.ts';
import type { Io } from './io.ts';
import { roomOf } from './live-screen.ts';
import { choosePaint } from './paint.ts';
import { rulesWith } from './rules.ts';

export type DoctorFlags = {
  readonly format: 'text' | 'json';
  readonly cwd?: string;
  readonly rules?: readonly string[];
  readonly versions: boolean;
  readonly all?: true;
};

/** Looks at everything that a parallel run rests on, and shows it; tells `io` what to end with. */
export async function runDoctor(io: Io, flags: DoctorFlags): Promise<void> {
  const diagnosis = await diagnose(io, flags);
  io.exitWith(diagnosis.findings.length === 0 ? EXIT.ok : EXIT.failed);
  if (flags.format === 'json') return io.stdout.write(`${JSON.stringify(diagnosis, null, 2)}\n`);
  const view = { all: flags.all === true, columns: roomOf(io.terminal) };
  return io.stdout.write(`${drawDiagnosis(diagnosis, choosePaint(io.terminal, io.env), view).join('\n')}\n`);
}

async function diagnose(io: Io, flags: DoctorFlags): Promise<Diagnosis> {
  const rules = await rulesWith(flags.rules, io.cwd);
  const cwd = checkDirectory(resolve(io.cwd, flags.cwd ?? '.'), '/', '/cwd');
  const environment = baseEnvironment(io.env);
  const platform = probePlatform();
  const path = pathEntries(environment.PATH, cwd);
  const variables = mindedVariables(rules, environment);
  const programs = await programsOf({ rules, platform, environment, cwd, versions: flags.versions });
  const dropped = takenAway(io.env);
  const handed = { name: 'variables that no command gets', value: dropped.join(', ') || 'none is set', note: null };
  return {
    version: VERSION,
    ruleset: rules.hash,
    cwd,
    facts: [...factsOf(platform, environment), handed],
    programs,
    path,
    variables,
    findings: [
      ...platformFindings(platform.unproven, environment.PATH),
      ...path.flatMap((entry) => pathFindings(entry, programs)),
      ...programs.flatMap(programFindings),
      ...variables.flatMap(variableFindings),
      ...repositoryFindings(cwd, environment, rules),
    ],
  };
}

function platformFindings(unproven: string | null, path: string | undefined): readonly Finding[] {
  return [
    ...(unproven === null ? [] : [{ code: 'PLATFORM_UNPROVEN' as const, found: unproven, serial: 'every command' }]),
    ...(path === undefined
      ? [
          {
            code: 'PROGRAM_UNTRUSTED' as const,
            found: 'PATH is not set',
            serial: 'every command that starts a program',
          },
        ]
      : []),
  ];
}

function pathFindings({ entry, surprise }: PathEntry, programs: readonly ProgramState[]): readonly Finding[] {
  if (surprise === null) return [];
  const now = programs.filter(({ why }) => why !== undefined && entry !== '' && why.includes(entry)).length;
  const serial = `a command whose program is found there first (of those with a rule, ${now} now)`;
  return [{ code: 'PROGRAM_UNTRUSTED', found: `the entry ${JSON.stringify(entry)} of PATH ${surprise}`, serial }];
}

function programFindings({ name, code, why }: ProgramState): readonly Finding[] {
  return code === undefined || why === undefined ? [] : [{ code, found: why, serial: `every command of ${name}` }];
}

function variableFindings({ profiles, set }: VariableState): readonly Finding[] {
  if (set.length === 0) return [];
  const which = profiles.includes('generic')
    ? 'every command'
    : `every command with the profile ${profiles.join(' or ')}`;
  return [
    { code: 'VARIABLE_UNKNOWN', found: `${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set`, serial: which },
  ];
}
