import { describe, expect, test } from 'vitest';
import { mutantsOf } from '../../src/rules/mutants.ts';
import { mutate, NO_RULES, rulesWith } from '../../src/rules/mutation.ts';
import { propose } from '../../src/rules/proposal.ts';
import { selfTest } from '../../src/rules/self-test.ts';
import { files, othersFor, profiles, proposedFor } from './built-in.ts';
import { fileWith, nodeWith, option, PROFILES } from './fixture.ts';

/** Changes without effect, such as to a shape that another one covers: how many of a file may go unnoticed. */
function mostUnnoticed(mutants: number): number {
  return Math.max(4, 0.02 * mutants);
}

describe('every entry of a built-in file matters to one of its examples', () => {
  for (const file of files) {
    test(file.binary, { timeout: 180_000 }, () => {
      const { mutants, survivors } = mutate(file, proposedFor(file), profiles, othersFor(file));
      const unnoticed = survivors.map(({ mutant }) => `${mutant.pointer}: ${mutant.change}`);
      const entries = survivors.filter(({ mutant }) => mutant.takesAway);
      // An entry that can be taken away unnoticed says nothing: `npx tsx scripts/rules-propose.ts NAME` finds examples.
      expect({
        binary: file.binary,
        entries: entries.map(({ mutant }) => `${mutant.pointer}: ${mutant.change}`),
      }).toEqual({
        binary: file.binary,
        entries: [],
      });
      expect({ unnoticed, few: unnoticed.length <= mostUnnoticed(mutants) }).toEqual({
        unnoticed,
        few: true,
      });
    });
  }
});

const file = fileWith({
  also: ['other'],
  alone: { '--version, -V': option() },
  groups: { shared: { '-s, --shared': option(), '-g': option({ takes: ['x', 'y'] }) } },
  values: {
    format: {
      why: 'made up for tests',
      words: ['short'],
      starts: ['p='],
      template: { after: [''], mark: '%', allow: ['a'] },
    },
  },
  command: {
    options: { '-NUMBER': option() },
    subcommands: {
      'list, ls': nodeWith({
        use: ['shared'],
        options: {
          '-a, --all': option(),
          '-f': option({ takes: 'format' }),
          '-o': option({ takes: 'word', optional: true as const }),
          '-j': option({ takes: 'number', form: 'joined' as const }),
        },
        shapes: [
          {
            why: 'made up for tests',
            with: ['-a | -s'],
            without: ['-o'],
            operands: ['path', '--', 'word*'],
            globs: true,
          },
          { why: 'made up for tests', with: ['-f'], operands: ['number?'], stdin: 'unless-operand' },
        ],
      }),
      say: nodeWith({ syntax: 'words', dashes: 'text', operands: ['text*'] }),
      seek: nodeWith({
        syntax: 'words',
        options: { '-t; -o; \\(; \\); !': option() },
        expression: {
          open: ['\\('],
          close: ['\\)'],
          not: ['!'],
          join: ['-o'],
          implicitJoin: true,
          operandsFirst: true,
        },
        operands: ['path+'],
      }),
      read: nodeWith({ stdin: 'unless-operand', operands: ['path*'], globs: true }),
    },
  },
  examples: { parallel: ['tool say'], serial: [{ command: 'tool', code: 'SUBCOMMAND_MISSING' }] },
});

describe('the tool that changes entries', () => {
  test('changes each one by itself', () => {
    const changes = [...mutantsOf(file)].map(({ pointer, change }) => `${pointer}: ${change}`);
    expect(new Set(changes).size).toBe(changes.length);
    const list = '/command/subcommands/list, ls';
    for (const expected of [
      '/also/0: drop other',
      '/alone/--version, -V: drop -V',
      '/values/format/words/0: drop short',
      '/values/format/template/allow/0: drop a',
      '/values/format/template: any placeholder',
      '/groups/shared/-s, --shared: drop --shared',
      '/groups/shared/-g: drop x',
      '/groups/shared/-g: any text',
      '/command/options/-NUMBER: drop -NUMBER',
      `${list}: drop ls`,
      `${list}/use/0: drop shared`,
      `${list}/options/-a, --all: switch takes a value`,
      `${list}/options/-f: becomes a switch`,
      `${list}/options/-o: value required`,
      `${list}/options/-j: any form`,
      `${list}/shapes/0: drop`,
      `${list}/shapes/0/with/0: drop -a | -s`,
      `${list}/shapes/0/without/0: drop -o`,
      `${list}/shapes/0/operands/0: may be missing`,
      `${list}/shapes/0/operands/1: drop --`,
      `${list}/shapes/0/globs: drop`,
      `${list}/shapes/1/operands: one more operand`,
      `${list}/shapes/1/stdin: drop`,
      '/command/subcommands/say/dashes: drop',
      '/command/subcommands/seek/expression/implicitJoin: drop',
      '/command/subcommands/seek/expression/join/0: drop -o',
      '/command/subcommands/seek/operands/0: no more than one',
      '/command/subcommands/read/stdin: never reads',
    ]) {
      expect(changes).toContain(expected);
    }
  });

  test('leaves a file that fits together when it takes an entry away', () => {
    const broken = [...mutantsOf(file)].filter(
      (mutant) => mutant.takesAway && rulesWith(mutant.file, PROFILES, NO_RULES) === null,
    );
    expect(broken.map(({ pointer, change }) => `${pointer}: ${change}`)).toEqual([
      '/command/subcommands/list, ls/use/0: drop shared',
    ]);
  });

  test('does not touch the file', () => {
    const before = JSON.stringify(file);
    expect([...mutantsOf(file)].length).toBeGreaterThan(60);
    expect(JSON.stringify(file)).toBe(before);
  });

  test('counts a change as noticed when an example answers otherwise, or nothing loads', () => {
    const none = { binary: 'tool', parallel: [], piped: [], serial: [] };
    const before = mutate(file, none, PROFILES, NO_RULES);
    const more = { ...none, parallel: ['tool list -a f'] };
    const after = mutate(file, more, PROFILES, NO_RULES);
    expect(after.mutants).toBe(before.mutants);
    expect(after.survivors.length).toBeLessThan(before.survivors.length);
    expect(before.survivors.map(({ mutant }) => mutant.change)).toContain('drop --all');
  });
});

describe('the tool that proposes examples', () => {
  const { examples, left } = propose(file, PROFILES, NO_RULES);
  const entriesOf = (survivors: typeof left): readonly string[] =>
    survivors.filter(({ mutant }) => mutant.takesAway).map(({ mutant }) => `${mutant.pointer}: ${mutant.change}`);

  test('finds one for nearly every change that goes unnoticed', () => {
    const noticed = mutate(file, examples, PROFILES, NO_RULES);
    expect(noticed.survivors.map(({ mutant }) => mutant.pointer)).toEqual(left.map(({ mutant }) => mutant.pointer));
    expect(entriesOf(left)).toEqual([]);
    expect(left.length).toBeLessThan(0.1 * noticed.mutants);
  });

  test('says of each what the rules answer', () => {
    const rules = rulesWith(file, PROFILES, NO_RULES)!;
    expect(selfTest(examples, undefined, rules)).toEqual([]);
    expect(examples.parallel.length).toBeGreaterThan(5);
    expect(examples.piped).toContain('tool read');
    expect(examples.serial.length).toBeGreaterThan(10);
  });

  test('asks behind a pipe about a binary that has a meaning only there', () => {
    const inner = fileWith({
      binary: 'inner',
      examples: { parallel: ['inner'], serial: [{ command: 'inner -x', code: 'OPTION_UNKNOWN' }] },
    });
    const outer = fileWith({
      binary: 'each',
      only: 'compound',
      command: {
        stdin: 'always',
        options: { '-n': option({ takes: 'number' }) },
        delegates: [{ command: 'inner', ends: '--', why: 'made up for tests' }],
      },
      examples: { parallel: ['each inner --'], serial: [{ command: 'each', code: 'OPERAND_MISSING' }] },
    });
    const others = rulesWith(inner, PROFILES, NO_RULES)!;
    const proposal = propose(outer, PROFILES, others);
    expect(selfTest(proposal.examples, 'compound', rulesWith(outer, PROFILES, others)!)).toEqual([]);
    expect(proposal.examples.piped).toEqual([]);
    expect(entriesOf(proposal.left)).toEqual([]);
  });
});
