import { describe, expect, test } from 'vitest';
import { drawFigures, lexerFigures, parallelShare, weightedShare } from '../../scripts/score-figures.ts';
import { lex } from '../../src/classifier/lexer.ts';

const answer = (command: string) => (command.startsWith('ls') ? 'parallel' : 'COMMAND_UNKNOWN');

describe('the figures of the score', () => {
  test('a figure that should be none misses what is parallel, one that should be all what is not', () => {
    const commands = ['ls', 'rm x', 'ls -la'];
    expect(parallelShare('t', commands, 'none', answer)).toMatchObject({ count: 2, of: 3, misses: { length: 2 } });
    const all = parallelShare('t', commands, 'all', answer);
    expect(all).toMatchObject({ count: 2, of: 3 });
    expect(all.misses).toEqual([expect.stringMatching(/^COMMAND_UNKNOWN +"rm x"$/)]);
  });

  test('a weighted figure counts each command as often as it was seen, the commonest miss first', () => {
    const rows = [
      { cmd: 'ls', count: 10 },
      { cmd: 'rm', count: 2 },
      { cmd: 'cp', count: 5 },
    ];
    const figure = weightedShare('t', rows, answer);
    expect(figure).toMatchObject({ count: 10, of: 17 });
    expect(figure.misses.map((miss) => miss.slice(-4))).toEqual(['"cp"', '"rm"']);
  });

  test('the lexer is wrong only where it accepts other words than bash', () => {
    const rows = [
      { text: 'args a b', bash: ['args', 'a', 'b'] },
      { text: 'args a\nb', bash: null },
      { text: 'args $x', bash: ['args'] },
      { text: 'args a', bash: ['args', 'other'] },
      { text: 'args b', bash: null },
      { text: 'eval args', bash: ['args'] },
      { text: 'args *', bash: null },
      { text: 'A=1 args', bash: null },
    ];
    const [wrong, read] = lexerFigures(rows, lex);
    expect(wrong).toMatchObject({ count: 2, of: 8, aim: 'none' });
    expect(read).toMatchObject({ count: 1, of: 4, aim: 'all', misses: { length: 3 } });
  });

  test('the table says counts and shares, and misses only on request', () => {
    const figure = parallelShare('some title', ['ls', 'rm'], 'all', answer);
    expect(drawFigures([figure], false)).toEqual([expect.stringMatching(/^some title +1 of +2 +50\.0 %$/)]);
    expect(drawFigures([figure], true).join('\n')).toContain('COMMAND_UNKNOWN        "rm"');
  });
});
