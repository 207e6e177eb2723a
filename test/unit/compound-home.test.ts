import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { classify, judge } from '../../src/classifier/classify.ts';
import { homeIn } from '../../src/dispatcher/environment.ts';
import { irregularOperand } from '../../src/dispatcher/operands.ts';
import { fileWith, nodeWith, option, ruleSetWith } from '../rules/fixture.ts';

const rules = ruleSetWith(
  fileWith({
    command: { options: { '-f': option({ takes: 'path' }), '-v': option() }, operands: ['text', 'path*'], globs: true },
  }),
  fileWith({ binary: 'walk', command: { operands: ['tree*'], globs: true } }),
  fileWith({ binary: 'strict', command: { operands: ['path*'] } }),
  fileWith({ binary: 'go', command: { operands: ['directory*'], globs: true } }),
  fileWith({ binary: 'sub', command: { subcommands: { list: nodeWith({ operands: ['path*'], globs: true }) } } }),
);

function answer(command: string, mode: 'simple' | 'compound' = 'compound'): string {
  const verdict = classify(command, { rules, mode });
  return verdict.kind === 'parallel' ? `parallel ${verdict.run.form}` : `${verdict.reason.code} ${verdict.reason.span}`;
}

describe('a word that begins with ~/', () => {
  test('may stand in a last list of files, in compound mode', () => {
    for (const command of [
      'tool a ~/x',
      'tool a b ~/x ~/y',
      'tool a ~/"b c"',
      'tool a ~/*.ts',
      'walk ~/src',
      'sub list ~/x',
    ]) {
      expect([command, answer(command)]).toEqual([command, 'parallel bash']);
      expect(answer(command, 'simple')).toBe(`TEXT_TILDE ${command.indexOf('~')},${command.indexOf('~') + 1}`);
    }
  });

  test('may stand nowhere else, and is blamed as in simple mode', () => {
    const commands = [
      'tool ~/x',
      'tool -f ~/x a',
      'tool a ~/x -v',
      'strict ~/x',
      'go ~/x',
      '~/x',
      'tool a -f~/x',
      'tool a ~',
      'tool a ~u/x',
    ];
    for (const command of [...commands, 'tool a b=~/x', 'tool a b:~/x', 'tool a ~\\/x', "tool a ~'/x'"]) {
      if (command === 'tool a -f~/x') expect(answer(command)).toBe('parallel argv');
      else expect([command, answer(command)]).toEqual([command, answer(command, 'simple')]);
    }
  });

  test('may not lead to a device, wherever the home directory is', () => {
    for (const command of [
      'tool a ~/dev/tty',
      'tool a ~/../dev/tty',
      'tool a ~/../../proc/1',
      'tool a ~/d*',
      'tool a ~/./sys',
      'walk ~/',
      'walk ~/..',
      'walk ~/a/..',
    ]) {
      expect([command, answer(command)]).toEqual([command, `PATH_DEVICE ${command.indexOf('~')},${command.length}`]);
    }
    expect(answer('tool a ~/.*')).toBe('TEXT_TILDE 7,8');
    expect(answer('tool a ~/developer')).toBe('parallel bash');
  });

  test('is named by where it leads, if that is told', () => {
    const paths = (command: string, homeDirectory?: string) =>
      judge(command, { rules, mode: 'compound', ...(homeDirectory === undefined ? {} : { homeDirectory }) }).paths;
    expect(paths('tool a ~/x b')).toEqual([
      { text: '~/x', glob: true, home: true },
      { text: 'b', glob: false },
    ]);
    expect(paths('walk ~/x')).toEqual([{ text: '~/x', glob: true, home: true, walked: true }]);
    expect(paths('tool a ~/x b', '/h')).toEqual([
      { text: '/h/x', glob: true },
      { text: 'b', glob: false },
    ]);
    expect(paths('walk ~/x', '/h')).toEqual([{ text: '/h/x', glob: true, walked: true }]);
    expect(() => classify('tool a', { rules, homeDirectory: 'a' })).toThrow(/homeDirectory to be an absolute path/);
  });

  test('is looked at on the disk only when it is told where it leads', () => {
    const home = mkdtempSync(join(tmpdir(), 'signalbox-home-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    mkdirSync(join(home, 'sub'));
    writeFileSync(join(home, 'file'), '');
    const why = (homeDirectory?: string) => {
      const options = homeDirectory === undefined ? {} : { homeDirectory };
      return irregularOperand(judge('tool a ~/file ~/sub', { rules, mode: 'compound', ...options }).paths, [home]);
    };
    expect(why(home)).toBeNull();
    expect(why()).toBe('nobody told which home directory ~/file lies in');
    expect(why('/dev')).toBeNull();
  });

  test('stands for HOME of the base, if that is an absolute path', () => {
    expect(homeIn({ HOME: '/h' })).toEqual({ homeDirectory: '/h' });
    for (const base of [{}, { HOME: '' }, { HOME: 'a' }])
      expect(homeIn(base as { HOME?: string } as never)).toEqual({});
  });
});
