import { expect, test } from 'vitest';
import { sedProgram } from '../../src/classifier/programs/sed.ts';
import { damaged, random, wellFormed } from '../unit/programs/sed-programs.ts';

test('two accepted programs are one when they are joined by a semicolon, and each is one by itself', () => {
  const next = random(5);
  for (let round = 0; round < 2_000; round += 1) {
    const [first, second] = [wellFormed(next), `${damaged(next)};p`];
    expect(sedProgram(`${first};${second}`), `${first};${second}`).toBe(sedProgram(first) && sedProgram(second));
  }
});

test('a command that writes, runs or reads files, put behind any program of the grammar, refuses the whole', () => {
  const next = random(6);
  for (let round = 0; round < 2_000; round += 1) {
    const program = wellFormed(next);
    for (const tail of ['w f', ';w f', '\nw f', ';1e', ';$r f', ';s/a/b/w f', ';s/a/b/e', '}w f', ';{w f', ' w f']) {
      expect(sedProgram(program + tail), program + tail).toBe(false);
    }
  }
});
