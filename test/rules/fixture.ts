import { classify, examine } from '../../src/classifier/classify.ts';
import type { Rules } from '../../src/classifier/compiled.ts';
import { type RuleSet, restoreRules, rulesOf } from '../../src/classifier/rule-set.ts';
import type { Profiles } from '../../src/rules/profiles-schema.ts';
import type { RuleData, RuleFile, RuleNode } from '../../src/rules/schema.ts';

/** Made-up rules for tests of the engine: small, and of no real program. */

export const PROFILES: Profiles = {
  schema: 1,
  assignments: { LANG: ['C', ''], PAGER: ['cat'] },
  generic: { why: 'made up for tests', set: {}, pass: ['PATH', 'HOME'] },
  profiles: { quiet: { why: 'made up for tests', set: { PAGER: 'cat', QUIET: '1' }, pass: ['WHERE'] } },
};

const WHY = 'made up for tests';

export type Given = Omit<Partial<RuleFile>, 'command'> & { readonly command?: Partial<RuleFile['command']> };

/** A whole rule file around what a test is about. Its binary is `tool`, its operands are any number of texts. */
export function fileWith(given: Given = {}): RuleFile {
  const { command, ...rest } = given;
  const own = command ?? {};
  const formed = ['operands', 'shapes', 'delegates', 'subcommands'].some((key) => Object.hasOwn(own, key));
  return {
    schema: 1,
    binary: 'tool',
    docs: 'https://example.org/tool',
    reviewed: { version: '1', on: '2026-11-30', how: 'made up for tests' },
    maturity: 'stable',
    portable: true,
    syntax: 'getopt',
    examples: { parallel: ['tool'], serial: [{ command: 'tool --none', code: 'OPTION_UNKNOWN' }] },
    ...rest,
    command: { why: WHY, stdin: 'never', ...(formed ? {} : { operands: ['text*'] }), ...own },
  };
}

/** A node below the command. */
export function nodeWith(given: Partial<RuleNode>): RuleNode & { readonly docs: string } {
  return { why: WHY, docs: 'https://example.org/tool/sub', ...given };
}

/** An entry of a table of options, with its reason. */
export function option<T extends object>(given: T = {} as T): T & { readonly why: string } {
  return { why: WHY, ...given };
}

/** A rule set of files that need no reading. */
export function ruleSetWith(...files: readonly RuleData[]): RuleSet {
  const placed = files.map((file) => ({ origin: 'built-in' as const, file }));
  return restoreRules({
    format: 1,
    hash: 'sha256:made-up',
    profiles: PROFILES,
    never: {},
    files: placed,
    experimental: [],
  });
}

/** What the rules say of a command: `parallel`, or the code. */
export function answer(rules: RuleSet, command: unknown, cwd?: string): string {
  const verdict = classify(command, { rules, ...(cwd === undefined ? {} : { cwd }) });
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
}

/** The same behind a pipe. */
export function answerInPipe(rules: RuleSet, command: string): string {
  const inner: Rules = rulesOf(rules);
  const { verdict } = examine(command, inner, {}, true);
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
}

/** Holds a table of commands against their answers. */
export function answersOf(rules: RuleSet, commands: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(commands.map((command) => [command, answer(rules, command)]));
}
