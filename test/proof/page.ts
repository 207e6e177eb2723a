import type { BinaryFigures, Figures } from './figures.ts';

/** The page that `npm run prove -- --write` makes of a long run, and what a test reads back from it. */

const HEAD = ['binary', 'maturity', 'version', 'run', 'found', 'answered', 'options run'];

export function pageOf(figures: Figures): string {
  const { sources, left, corpus, comparisons, entries, missing, notRun, exceptions } = figures;
  return `${[
    '# The last long run of the proof',
    'Made by `npm run prove -- --write`; not to be changed by hand. What is proved, and how, is told in',
    '[rules.md](rules.md#what-is-checked-and-how).',
    '',
    `- On: ${figures.on}`,
    `- Machine: ${figures.machine}`,
    `- Rule set: \`${figures.ruleset}\`, as it was then`,
    '',
    '## Commands',
    'Each was run as the dispatcher runs it, under `strace -f`, as a user without rights, among traps. *Found*: it did something',
    'besides reading that its rule does not name. *Answered*: it ended with 0 or 1; what ends with 2 and more was run as well,',
    'and proves less.',
    '',
    ...table(
      ['source', 'run', 'found', 'answered'],
      sources.map(({ source, run, found, answered }) => [SOURCES[source] ?? source, run, found, answered]),
    ),
    '',
    left === 0 ? 'All that there are were run.' : `There was no time for ${left} more.`,
    corpus === null
      ? 'There was no corpus.'
      : `Of what agents sent ${corpus.drawn} were drawn: ${corpus.others} are among the others already, and of ` +
        `${corpus.mapped} the paths were mapped onto the throw-away project.`,
    '',
    'Those that somebody wrote and whose profile sets something were run with it and without: ' +
      `${comparisons.same} answered the same, ${comparisons.differs} otherwise, and ${comparisons.unsteady} otherwise each time.`,
    '',
    '## Entries of the rules',
    'What stands in the rule files of programs that were there, and how much of it stood in a command that was run. An option that',
    'three subcommands have counts three times.',
    '',
    ...table(
      ['entries', 'in all', 'run', 'share', 'answered'],
      entries.map(({ kind, all, run, answered }) => [ENTRIES[kind], all, run, percent(run, all), answered]),
    ),
    '',
    notRun.length === 0 ? 'None was left out.' : 'Not run:',
    ...grouped(notRun),
    '',
    '## Binaries',
    ...table(HEAD, figures.binaries.map(cellsOf)),
    '',
    '## Not on the machine',
    missing.length === 0 ? 'Nothing.' : `${missing.map((name) => `\`${name}\``).join(', ')}.`,
    '',
    '## Exceptions without which more would have been found',
    ...table(
      ['binary', 'what', 'why'],
      exceptions.map(({ binary, what, why }) => [binary, `\`${what}\``, why]),
    ),
  ].join('\n')}\n`;
}

const SOURCES: Readonly<Record<string, string>> = {
  example: 'examples of the rule files',
  proposed: 'examples that a tool proposed',
  vector: 'vectors',
  corpus: 'what agents sent, drawn by seed',
  option: 'made for entries that no other has',
};

const ENTRIES = {
  option: 'options',
  spelling: 'spellings of options',
  shape: 'shapes',
  alone: 'words that stand alone',
};

/** The rows of the table of binaries, as they stand on the page. */
export function binariesOfPage(page: string): ReadonlyMap<string, { readonly run: number; readonly found: number }> {
  const rows = page
    .slice(page.indexOf('\n## Binaries\n'), page.indexOf('\n## Not on the machine\n'))
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | '));
  return new Map(
    rows.map(([name = '', , , run = '', found = '']) => [
      name.slice(3, -1),
      { run: Number(run), found: Number(found) },
    ]),
  );
}

/** The names that the page calls missing. */
export function missingOfPage(page: string): readonly string[] {
  const text = page.slice(page.indexOf('\n## Not on the machine\n'), page.indexOf('\n## Exceptions '));
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

function cellsOf(one: BinaryFigures): readonly (string | number)[] {
  const { all, run } = one.options;
  return [`\`${one.binary}\``, one.maturity, one.version, one.run, one.found, one.answered, `${run} of ${all}`];
}

/** More than so many are only counted. */
const MOST_NAMED = 60;

/** One line for each reason. */
function grouped(notRun: Figures['notRun']): readonly string[] {
  const reasons = [...new Set(notRun.map(({ why }) => why))];
  return reasons.map((reason) => {
    const keys = notRun.filter(({ why }) => why === reason).map(({ key }) => `\`${key}\``);
    return `- ${reason}: ${keys.length > MOST_NAMED ? `${keys.length} of them` : keys.join(', ')}`;
  });
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): readonly string[] {
  if (rows.length === 0) return ['None.'];
  const line = (cells: readonly (string | number)[]): string =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

function percent(part: number, all: number): string {
  return all === 0 ? '' : `${((100 * part) / all).toFixed(1)} %`;
}
