import type { Lexed } from '../src/classifier/lexer.ts';

/** One line of the table. `misses` are the rows that keep the figure from its aim, each with what was said instead. */
export type Figure = {
  readonly title: string;
  readonly count: number;
  readonly of: number;
  /** What the figure should be: the smaller the better, or the larger. */
  readonly aim: 'none' | 'all';
  readonly misses: readonly string[];
};

/** What a command was answered: `parallel`, or the code of the reason why not. */
export type Answer = (command: string) => 'parallel' | (string & {});

/** Text on one line, whatever it holds. */
function show(text: string, answer: string): string {
  return `${answer.padEnd(22)} ${JSON.stringify(text)}`;
}

/** How many of these commands are parallel, when all should be, or none. */
export function parallelShare(title: string, commands: readonly string[], aim: 'none' | 'all', answer: Answer): Figure {
  const answered = commands.map((command) => ({ command, said: answer(command) }));
  const parallel = answered.filter(({ said }) => said === 'parallel');
  const missed = aim === 'none' ? parallel : answered.filter(({ said }) => said !== 'parallel');
  return {
    title,
    count: parallel.length,
    of: commands.length,
    aim,
    misses: missed.map(({ command, said }) => show(command, said)),
  };
}

/** The same, each command as often as it was seen. */
export function weightedShare(
  title: string,
  rows: readonly { readonly cmd: string; readonly count: number }[],
  answer: Answer,
): Figure {
  const sum = (some: typeof rows) => some.reduce((total, { count }) => total + count, 0);
  const missed = rows.filter(({ cmd }) => answer(cmd) !== 'parallel');
  const most = [...missed].sort((one, other) => other.count - one.count);
  return {
    title,
    count: sum(rows) - sum(missed),
    of: sum(rows),
    aim: 'all',
    misses: most.map(({ cmd, count }) => show(cmd, `${count} times ${answer(cmd)}`)),
  };
}

/** One short text and what bash passed on for it; null where bash does more with it than one plain call. */
export type LexerRow = { readonly text: string; readonly bash: readonly string[] | null };

/** The harmless printers that the rows were recorded with. Behind `eval` and its like bash recorded what *they* ran. */
const PRINTERS: ReadonlySet<string> = new Set(['args', 'evil']);

/** The words of a text that the lexer takes for one plain call, with nothing left for bash to set or expand. */
function plainCall(lexed: Lexed): readonly string[] | null {
  if (!lexed.ok || lexed.assignments.length > 0 || lexed.words.some((word) => word.glob)) return null;
  const words = lexed.words.map((word) => word.text);
  return PRINTERS.has(words[0] ?? '') ? words : null;
}

function sameWords(words: readonly string[] | null, others: readonly string[] | null): boolean {
  if (words === null || others === null || words.length !== others.length) return false;
  return words.every((word, index) => word === others[index]);
}

/** How often the lexer accepts a text that bash reads otherwise (a fault), and how much of bash's plain calls it accepts. */
export function lexerFigures(rows: readonly LexerRow[], lex: (text: string) => Lexed): readonly Figure[] {
  const called = rows.map((row) => ({ ...row, ours: plainCall(lex(row.text)) }));
  const wrong = called.filter(({ ours, bash }) => ours !== null && !sameWords(ours, bash));
  const plain = called.filter(({ bash }) => bash !== null);
  const read = plain.filter(({ ours, bash }) => sameWords(ours, bash));
  const answerOf = (text: string) => {
    const lexed = lex(text);
    return lexed.ok ? JSON.stringify(lexed.words.map((word) => word.text)) : lexed.code;
  };
  return [
    {
      title: 'lexer vectors: accepted, and read unlike bash',
      count: wrong.length,
      of: rows.length,
      aim: 'none',
      misses: wrong.map(({ text }) => show(text, answerOf(text))),
    },
    {
      title: 'lexer vectors: plain calls of bash that are accepted',
      count: read.length,
      of: plain.length,
      aim: 'all',
      misses: plain.filter((row) => !read.includes(row)).map(({ text }) => show(text, answerOf(text))),
    },
  ];
}

function share({ count, of }: Figure): string {
  return of === 0 ? '' : `${((100 * count) / of).toFixed(1)} %`;
}

/** The figures as lines of a table, and their misses below it when asked for. */
export function drawFigures(figures: readonly Figure[], withMisses: boolean): string[] {
  const width = Math.max(0, ...figures.map(({ title }) => title.length));
  const number = (value: number) => value.toLocaleString('en').padStart(9);
  const lines = figures.map((figure) => {
    const { title, count, of } = figure;
    return `${title.padEnd(width)} ${number(count)} of ${number(of)} ${share(figure).padStart(8)}`;
  });
  if (!withMisses) return lines;
  for (const { title, misses } of figures)
    if (misses.length > 0) lines.push('', `${title}: ${misses.length} missed`, ...misses.map((miss) => `  ${miss}`));
  return lines;
}
