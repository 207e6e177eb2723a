import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import type { Rules } from '../../src/classifier/compiled.ts';
import type { Mutant } from '../../src/rules/draft.ts';
import { mutantsOf } from '../../src/rules/mutants.ts';
import { NO_RULES, rulesWith } from '../../src/rules/mutation.ts';
import type { RuleFile, RuleNode } from '../../src/rules/schema.ts';
import { answerOf } from '../../src/rules/self-test.ts';
import { loosenings } from '../../src/rules/tightening.ts';
import { commandsAbout, files, profiles, rulesOf } from '../rules/built-in.ts';

type Subject = { readonly file: RuleFile; readonly mutants: readonly Mutant[]; readonly serial: readonly string[] };

const isParallel = (command: string, rules: Rules): boolean =>
  [false, true].some((piped) => answerOf(command, rules, piped) === 'parallel');

/** Each file with its mutants and the commands about it that are serial, alone and behind a pipe. */
const subjects: readonly Subject[] = files.map((file) => {
  const rules = rulesOf(file);
  return {
    file,
    mutants: [...mutantsOf(file)],
    serial: commandsAbout(file).filter((command) => !isParallel(command, rules)),
  };
});

function loosened({
  mutant,
  serial,
}: {
  readonly mutant: Mutant;
  readonly serial: readonly string[];
}): readonly string[] {
  const rules = rulesWith(mutant.file, profiles, NO_RULES);
  return rules === null ? [] : serial.filter((command) => isParallel(command, rules));
}

type Picked = { readonly file: RuleFile; readonly mutant: Mutant; readonly serial: readonly string[] };

/** A counter-example is one line, not two rule files. */
function shownAsPlace(picked: Picked): Picked {
  const { file, mutant } = picked;
  return Object.assign(picked, { [fc.toStringMethod]: () => `${file.binary}${mutant.pointer}: ${mutant.change}` });
}

/** Any mutant of any file, each file as likely as another. */
function anyMutant(fits: (mutant: Mutant) => boolean): fc.Arbitrary<Picked> {
  const rows = subjects.map(({ file, mutants, serial }) => ({ file, serial, mutants: mutants.filter(fits) }));
  return fc
    .constantFrom(...rows.filter(({ mutants }) => mutants.length > 0))
    .chain(({ file, serial, mutants }) =>
      fc.constantFrom(...mutants).map((mutant) => shownAsPlace({ file, serial, mutant })),
    );
}

describe('the law of rule files', () => {
  test.prop([anyMutant(({ takesAway }) => takesAway)], { numRuns: 800 })(
    'taking away an entry that permits something never turns serial into parallel',
    (picked) => {
      expect([picked.mutant.pointer, picked.mutant.change, loosened(picked)]).toEqual([
        picked.mutant.pointer,
        picked.mutant.change,
        [],
      ]);
    },
  );

  test.prop([anyMutant(({ takesAway }) => takesAway)], { numRuns: 300 })(
    'the loader takes a file with an entry less for a tightening',
    ({ file, mutant }) => {
      expect([mutant.pointer, mutant.change, loosenings(mutant.file, file, profiles)]).toEqual([
        mutant.pointer,
        mutant.change,
        [],
      ]);
    },
  );

  test.prop([anyMutant(() => true)], { numRuns: 500 })(
    'a file that the loader takes for a tightening turns no serial command into a parallel one',
    (picked) => {
      fc.pre(loosenings(picked.mutant.file, picked.file, profiles).length === 0);
      expect([picked.mutant.pointer, picked.mutant.change, loosened(picked)]).toEqual([
        picked.mutant.pointer,
        picked.mutant.change,
        [],
      ]);
    },
  );
});

/** A file with every node changed. */
function withNodes(file: RuleFile, change: (node: Record<string, unknown>) => void): RuleFile {
  const copy = structuredClone(file) as RuleFile;
  const visit = (node: RuleNode): void => {
    change(node as Record<string, unknown>);
    for (const below of Object.values(node.subcommands ?? {})) visit(below);
  };
  visit(copy.command);
  return copy;
}

describe('what explains or tightens decides nothing else', () => {
  for (const file of files) {
    const commands = commandsAbout(file);
    const answers = (of: RuleFile): readonly string[] => {
      const rules = rulesOf(of);
      return commands.map((command) => `${command}: ${answerOf(command, rules, false)}`);
    };

    test(`${file.binary}: taking away every note on what is unsafe changes no verdict`, () => {
      expect(commands.length).toBeGreaterThan(0);
      const silent = withNodes(file, (node) => {
        delete node.refuses;
        delete node.bare;
        delete node.otherwise;
      }) as { values?: Record<string, { otherwise?: string }> } & RuleFile;
      for (const value of Object.values(silent.values ?? {})) delete value.otherwise;
      expect(answers(silent)).toEqual(answers(file));
    });

    test(`${file.binary}: whatever is parallel is so without its expressions too`, () => {
      const free = rulesOf(withNodes(file, (node) => delete node.expression));
      const rules = rulesOf(file);
      const proved = commands.filter((command) => answerOf(command, rules, false) === 'parallel');
      expect(proved.filter((command) => answerOf(command, free, false) !== 'parallel')).toEqual([]);
    });
  }
});
