import { displayWidth } from '../classifier/display-width.ts';
import { toWidth, visible } from './display-text.ts';
import type { Paint } from './paint.ts';

/** A cell, and how it is painted where there are colours. */
export type Cell = string | { readonly text: string; readonly style: Parameters<Paint>[0] };

/** Columns between two cells. */
const GAP = '  ';

/** No column gets narrower than this so that a line fits. */
const LEAST = 8;

/**
 * Lines of a table: columns as wide as their widest cell. No control character of a cell reaches the terminal.
 *
 * @param columns how long a line may be: the widest columns are cut until it fits, or nothing is left to cut. Default: no limit.
 */
export function drawTable(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const widths = head.map((title, column) =>
    rows.reduce((most, row) => Math.max(most, displayWidth(shown(row[column] ?? ''))), displayWidth(title)),
  );
  narrow(widths, columns - GAP.length * (head.length - 1));
  const line = (cells: readonly Cell[]): string =>
    cells
      .map((cell, column) => {
        const fitted = toWidth(shown(cell), widths[column] ?? 0);
        const text = column === cells.length - 1 ? fitted.trimEnd() : fitted;
        return typeof cell === 'string' || text === '' ? text : paint(cell.style, text);
      })
      .join(GAP)
      .trimEnd();
  return [paint('bold', line(head)), ...rows.map(line)];
}

function shown(cell: Cell): string {
  return visible(typeof cell === 'string' ? cell : cell.text);
}

/** Takes a column off the widest one, again and again. */
function narrow(widths: number[], room: number): void {
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; over--) {
    const widest = Math.max(...widths);
    if (widest <= LEAST) return;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}
