import { visible } from '../classifier/visible-text.ts';

/** Markdown as the pages of the rules need it: text from a rule file must come out as it stands there, in tables too. */

/** A code span that holds exactly this text. Backticks and bars would end a span, or a cell. */
export function code(text: string): string {
  const shown = visible(text);
  if (shown === '') return '(empty)';
  if (!shown.includes('`') && !shown.includes('|') && !shown.startsWith(' ') && !shown.endsWith(' '))
    return `\`${shown}\``;
  const escaped = shown
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('`', '&#96;')
    .replaceAll('|', '&#124;');
  return `<code>${escaped}</code>`;
}

/** Several texts, each as code. */
export function codes(texts: readonly string[]): string {
  return texts.map(code).join(', ');
}

/** A sentence of a rule file: what stands between backticks is code, and nothing else is Markdown. */
export function prose(text: string): string {
  const parts = text.split('`');
  const isPaired = parts.length % 2 === 1;
  if (!isPaired) return plain(text);
  return parts.map((part, index) => (index % 2 === 1 ? code(part) : plain(part))).join('');
}

/** A table; nothing when it has no row. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line), ''];
}

/** Lines as they are, for a shell to read; nothing when there are none. */
export function block(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['```sh', ...lines, '```', ''];
}

function plain(text: string): string {
  return [...visible(text)].map((character) => ESCAPES.get(character) ?? character).join('');
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['|', '&#124;'],
  ['`', '&#96;'],
  ['[', '\\['],
  [']', '\\]'],
  ['*', '\\*'],
  ['~', '\\~'],
  ['\\', '\\\\'],
]);
