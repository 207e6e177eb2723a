import { visible } from './display-text.ts';
import type { Diagnosis, ProgramState } from './doctor-diagnosis.ts';
import type { Paint } from './paint.ts';
import { type Cell, drawTable } from './table.ts';

const STYLES = { builtin: 'green', proved: 'green', missing: 'dim', serial: 'yellow' } as const;

/** A diagnosis for a person: tables of what is there, then what makes commands serial, which is why one asks. */
export function drawDiagnosis(diagnosis: Diagnosis, paint: Paint): string[] {
  const { version, ruleset, facts, programs, path, variables, findings } = diagnosis;
  const present = programs.filter(({ state }) => state !== 'missing' && state !== 'builtin');
  const builtin = programs.filter(({ state }) => state === 'builtin');
  const missing = programs.filter(({ state }) => state === 'missing');
  const set = variables.flatMap((variable) => variable.set);
  return [
    `signalbox ${version}, rules ${ruleset}`,
    '',
    ...drawTable(
      ['surroundings', 'found', ''],
      facts.map(({ name, value, note }) => [name, value, noted(note)]),
      paint,
    ),
    '',
    ...drawTable(
      ['PATH', ''],
      path.map(({ entry, isThere, surprise }) => [
        entry === '' ? '(empty)' : entry,
        surprise === null ? (isThere ? '' : 'is not there') : { text: surprise, style: 'yellow' },
      ]),
      paint,
    ),
    '',
    ...drawTable(['program', 'state', 'place', 'version', 'never run'], present.map(programCells), paint),
    '',
    `bash answers itself: ${named(builtin)}`,
    `not on PATH: ${named(missing)}`,
    `variables that profiles mind: ${variables.length}, of which set: ${set.length === 0 ? 'none' : set.join(', ')}`,
    '',
    ...drawFindings(diagnosis, paint),
    findings.length === 0
      ? paint('green', 'Everything that the rules prove is proved here.')
      : paint(
          'yellow',
          `${findings.length === 1 ? '1 thing makes' : `${findings.length} things make`} commands serial here. docs/verdicts.md tells what to do about each code.`,
        ),
  ].map((line) => line.trimEnd());
}

function noted(note: string | null): Cell {
  return note === null ? '' : { text: note, style: 'yellow' };
}

function programCells({ name, state, path, version, shadowed, code }: ProgramState): readonly Cell[] {
  return [
    name,
    { text: code === undefined ? state : `serial ${code}`, style: STYLES[state] },
    path ?? '',
    version ?? '',
    shadowed.join(', '),
  ];
}

function named(programs: readonly ProgramState[]): string {
  return programs.length === 0 ? 'none' : programs.map(({ name }) => name).join(', ');
}

/** In lines, not in a table: each is a sentence, and may be long. */
function drawFindings({ findings }: Diagnosis, paint: Paint): readonly string[] {
  return findings.flatMap(({ code, found, serial }) => [
    `${paint('yellow', code)}  ${visible(found)}`,
    `  serial because of it: ${visible(serial)}`,
    '',
  ]);
}
