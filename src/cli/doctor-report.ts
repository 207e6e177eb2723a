import { visible } from './display-text.ts';
import type { Diagnosis, ProgramState } from './doctor-diagnosis.ts';
import type { Paint } from './paint.ts';
import { type Cell, drawTable } from './table.ts';

const PROGRAM_HEAD = ['program', 'state', 'place', 'version', 'never run'];

const STYLES = { builtin: 'green', proved: 'green', missing: 'dim', serial: 'yellow' } as const;

export type View = {
  /** Every program has a row; else those that are plainly proved are only named. */
  readonly all: boolean;
  /** How long a line of a table may be. */
  readonly columns: number;
};

/** A diagnosis for a person: tables of what is there, then what makes commands serial, which is why one asks. */
export function drawDiagnosis(diagnosis: Diagnosis, paint: Paint, { all, columns }: View): string[] {
  const { version, ruleset, facts, programs, path, variables, findings } = diagnosis;
  const present = programs.filter(({ state }) => state !== 'missing' && state !== 'builtin');
  const plain = present.filter(({ state, shadowed }) => state === 'proved' && shadowed.length === 0);
  const rows = all ? present : present.filter((program) => !plain.includes(program));
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
      columns,
    ),
    '',
    ...drawTable(
      ['PATH', ''],
      path.map(({ entry, isThere, surprise }) => [
        entry === '' ? '(empty)' : entry,
        surprise === null ? (isThere ? '' : 'is not there') : { text: surprise, style: 'yellow' },
      ]),
      paint,
      columns,
    ),
    '',
    ...(rows.length === 0 ? [] : [...drawTable(PROGRAM_HEAD, rows.map(programCells), paint, columns), '']),
    ...(all ? [] : [`proved, with nothing to tell (--all has places and versions): ${named(plain)}`]),
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
