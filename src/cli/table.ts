import { displayWidth } from '../classifier/display-width.ts';
import { toWidth, visible } from './display-text.ts';
import type { Paint } from './paint.ts';

/** A cell, and how it is painted where there are colours. */
export type Cell = string | { readonly text: string; readonly style: Parameters<Paint>[0] };

/** Columns between two cells. */
const GAP = '  ';

/**
 * Lines of a table: columns as wide as their widest cell, the last one without an end. No control character of a cell
 * reaches the terminal.
 */
export function drawTable(head: readonly string[], rows: readonly (readonly Cell[])[], paint: Paint): string[] {
  const widths = head.map((title, column) =>
    rows.reduce((most, row) => Math.max(most, displayWidth(shown(row[column] ?? ''))), displayWidth(title)),
  );
  const line = (cells: readonly Cell[]): string =>
    cells
      .map((cell, column) => {
        const text = column === cells.length - 1 ? shown(cell) : toWidth(shown(cell), widths[column] ?? 0);
        return typeof cell === 'string' || text === '' ? text : paint(cell.style, text);
      })
      .join(GAP)
      .trimEnd();
  return [paint('bold', line(head)), ...rows.map(line)];
}

function shown(cell: Cell): string {
  return visible(typeof cell === 'string' ? cell : cell.text);
}
