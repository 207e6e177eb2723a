import { describe, expect, test } from 'vitest';
import { drawTable } from '../../src/cli/table.ts';

const plain = (_style: unknown, text: string): string => text;
const ROWS = [
  ['a', 'short', 'the last one is rather long'],
  ['bb', 'a cell that is longer than the others', 'x\u001b[2J'],
];

describe('a table', () => {
  test('is as wide as its cells where nobody says otherwise', () => {
    expect(drawTable(['n', 'text', 'more'], ROWS, plain)).toEqual([
      'n   text                                   more',
      'a   short                                  the last one is rather long',
      'bb  a cell that is longer than the others  x\\x1b[2J',
    ]);
  });

  test('is cut in its widest columns where a line has to fit', () => {
    const lines = drawTable(['n', 'text', 'more'], ROWS, plain, 40);
    expect(lines).toEqual([
      'n   text               more',
      'a   short              the last one is …',
      'bb  a cell that is l…  x\\x1b[2J',
    ]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
  });

  test('leaves of every column what can be read, also where it does not fit', () => {
    expect(drawTable(['n', 'text', 'more'], ROWS, plain, 1)[2]).toBe('bb  a cell …  x\\x1b[2J');
  });
});
