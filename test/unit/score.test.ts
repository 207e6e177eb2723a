import { describe, expect, test } from 'vitest';
import { batchShare, compoundCorpusFigures, compoundVectorFigures, gainLine } from '../../scripts/score-compound.ts';
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

  test('a turn counts when every command of it is parallel, and its miss names the first that is not', () => {
    const batches = [{ commands: ['ls', 'ls -la'] }, { commands: ['ls', 'rm x', 'cp'] }, { commands: ['cp a b'] }];
    const figure = batchShare('t', batches, answer);
    expect(figure).toMatchObject({ count: 1, of: 3 });
    expect(figure.misses.map((miss) => miss.slice(miss.indexOf('"')))).toEqual(['"rm x"', '"cp a b"']);
    const simple = (command: string) => (command === 'ls' ? 'parallel' : 'COMMAND_UNKNOWN');
    const both = [...batches, { commands: ['ls', 'ls'] }];
    expect(gainLine(both, { simple, compound: answer })).toContain('2.00 times as many');
  });

  test('compounds count by what is expected of them, and labelled rows by whether they are clear', () => {
    const hostile = ['rm x', 'ls'];
    const rows = [
      { cmd: 'ls | wc', expected: 'parallel' },
      { cmd: 'ls > f', expected: 'serial' },
      { cmd: 'rm | wc', expected: 'parallel' },
    ] as const;
    const answers = { simple: () => 'TEXT_OPERATOR', compound: answer };
    const [wrong, wrongRows, right] = compoundVectorFigures(hostile, rows, answers);
    expect([wrong.count, wrongRows.count, right?.count, right?.of]).toEqual([1, 1, 1, 2]);
    const labelled = [
      { cmd: 'ls | wc', expected: 'parallel-in-compound', borderline: false },
      { cmd: 'cp | wc', expected: 'parallel-in-compound', borderline: true },
    ] as const;
    const seen = [
      { cmd: 'ls; ls', count: 3, guess: 'ro' },
      { cmd: 'cp', count: 1, guess: 'cond' },
      { cmd: 'rm', count: 9, guess: 'no' },
    ] as const;
    const figures = compoundCorpusFigures(labelled, seen, [], answers);
    const counted = figures.map(({ title, count, of }) => `${title.trim()}: ${count} of ${of}`);
    expect(counted).toContain('labelled parallel in compound mode: 1 of 1');
    expect(counted).toContain('the same, as often as seen: 3 of 4');
    expect(counted).toContain('the same in simple mode, as often as seen: 0 of 4');
    expect(counted).toContain('agent commands guessed to write: 0 of 1');
  });

  test('the table says counts and shares, and misses only on request', () => {
    const figure = parallelShare('some title', ['ls', 'rm'], 'all', answer);
    expect(drawFigures([figure], false)).toEqual([expect.stringMatching(/^some title +1 of +2 +50\.0 %$/)]);
    expect(drawFigures([figure], true).join('\n')).toContain('COMMAND_UNKNOWN        "rm"');
  });
});
