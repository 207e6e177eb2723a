import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { exportRules } from '../../src/classifier/rule-set.ts';
import { contentHash } from '../../src/rules/hash.ts';
import { loadRules } from '../../src/rules/load.ts';
import { type RuleFile, RuleFileSchema } from '../../src/rules/schema.ts';
import { BUILT_IN_DIRECTORY, readRuleDirectory } from '../../src/rules/sources.ts';
import { fileWith, nodeWith, ruleSetWith } from '../rules/fixture.ts';

/** What a rule file may say that its binary keeps, and that it decides nothing. */

const WHY = 'made up for tests';
const LOG = { why: WHY, writes: '$HOME/.tool/*.log', effect: 'own-log' } as const;
const keeping = (...exceptions: readonly unknown[]) => ({
  ...fileWith({ command: { effects: ['own-log'] } }),
  exceptions,
});
const isValid = (file: unknown): boolean => RuleFileSchema.safeParse(file).success;

describe('an exception', () => {
  test('names files under a fixed place, with the effect that tells of them', () => {
    for (const writes of ['$HOME/.tool/*.log', '$HOME/.tool/**', '$TMPDIR/tool*', '/run/tool/state']) {
      expect(isValid(keeping({ ...LOG, writes })), writes).toBe(true);
    }
  });

  test.each([
    '',
    'relative/*',
    '~/.tool/*',
    '$PWD/*',
    '$HOME',
    '$HOME/',
    '$HOME/**',
    '/**',
    '$HOME/../*',
    '$HOME/./*',
    '$HOME//*',
    '$HOME/**/x',
    '$HOME/.tool/a**',
  ])('does not name files by %j', (writes) => {
    expect(isValid(keeping({ ...LOG, writes }))).toBe(false);
  });

  test('has an effect that some node of its file tells', () => {
    expect(isValid({ ...fileWith(), exceptions: [LOG] })).toBe(false);
    const below = nodeWith({ effects: ['own-log'], operands: [] });
    const file = fileWith({ command: { subcommands: { sub: below } } });
    expect(isValid({ ...file, exceptions: [LOG] })).toBe(true);
    expect(isValid(keeping({ ...LOG, effect: 'network' }))).toBe(false);
    expect(isValid(keeping({ why: WHY, writes: LOG.writes }))).toBe(false);
  });

  test('or a socket that is connected to nobody, and always why', () => {
    expect(isValid(keeping({ why: WHY, sockets: 'netlink' }))).toBe(true);
    expect(isValid(keeping({ why: WHY, sockets: 'packet' }))).toBe(false);
    expect(isValid(keeping({ sockets: 'netlink' }))).toBe(false);
    expect(isValid(keeping({ ...LOG, sockets: 'netlink' }))).toBe(false);
    expect(isValid(keeping())).toBe(false);
  });

  test('changes no verdict, and changes the hash', () => {
    const [plain, excepted] = [fileWith({ command: { effects: ['own-log'] } }), keeping(LOG) as RuleFile];
    for (const command of ['tool', 'tool x', 'tool --none', 'tool /dev/tty']) {
      expect(classify(command, { rules: ruleSetWith(excepted) })).toEqual(
        classify(command, { rules: ruleSetWith(plain) }),
      );
    }
    expect(contentHash(excepted)).not.toBe(contentHash(plain));
  });
});

test('the exceptions of the package are in the data that its hash is made of', () => {
  const excepted = readRuleDirectory(BUILT_IN_DIRECTORY).filter(({ file }) => file.exceptions !== undefined);
  expect(excepted.map(({ file }) => file.binary)).toEqual(expect.arrayContaining(['npm', 'kubectl']));
  const { files } = exportRules(loadRules());
  for (const { file } of excepted) {
    expect(files.find((one) => one.file.binary === file.binary)?.file.exceptions).toEqual(file.exceptions);
  }
});
