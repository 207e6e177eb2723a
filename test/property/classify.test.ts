import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { createClassifier } from '../../src/classifier/classifier.ts';
import { classify, judge } from '../../src/classifier/classify.ts';
import type { NodeRule } from '../../src/classifier/compiled.ts';
import { explain, renderExplanation } from '../../src/classifier/explain.ts';
import { lex } from '../../src/classifier/lexer.ts';
import { rulesOf } from '../../src/classifier/rule-set.ts';
import { loadRules } from '../../src/rules/load.ts';
import { commands, files, proposedFor } from '../rules/built-in.ts';

const rules = loadRules();
const cwd = '/home/someone/project';
const { binaries } = rulesOf(rules);

const proved: readonly string[] = commands.filter((command) => classify(command, { rules, cwd }).kind === 'parallel');

/** Text that looks like commands, true ones and hostile ones, and pieces of both in any order. */
const pieces = fc.constantFrom(
  ...files.flatMap(({ binary, also = [] }) => [binary, ...also]),
  ...' \t\n\r;&|<>()$`\\\'"#!~{}*?[]=-,./:@%^',
  ...[
    '-a',
    '--',
    '--output=x',
    'status',
    'src',
    'HEAD',
    '/dev/tty',
    '$(x)',
    'LC_ALL=C',
    '\u00a0',
    '\u202e',
    '\ud800',
    '\0',
    'é',
    '日',
  ],
);
const hostile = fc.oneof(
  fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join('')),
  fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(' ')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(...commands),
);

const { classify: ask, isConcurrencySafe } = createClassifier({ rules });

describe('classify', () => {
  test.prop(
    [
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withNullPrototype: true,
      }),
    ],
    { numRuns: 500 },
  )('any JavaScript value has a verdict, and only text can be parallel', (value) => {
    const verdict = ask(value);
    expect(verdict.kind === 'serial' || typeof value === 'string').toBe(true);
    expect(isConcurrencySafe(value)).toBe(verdict.kind === 'parallel');
    if (typeof value !== 'string') expect(verdict).toMatchObject({ reason: { code: 'INPUT_NOT_TEXT' } });
  });

  test.prop([hostile], { numRuns: 4000 })(
    'any text has one verdict: the same whenever and however it is asked',
    (command) => {
      const verdict = classify(command, { rules, cwd });
      expect(classify(command, { rules, cwd })).toEqual(verdict);
      expect(judge(command, { rules, cwd }).verdict).toEqual(verdict);
      expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict);
      if (verdict.kind === 'parallel') return;
      const { span } = verdict.reason;
      expect(span[0] >= 0 && span[0] <= span[1] && span[1] <= command.length).toBe(true);
    },
  );

  test.prop([hostile], { numRuns: 1500 })(
    'any verdict can be explained, in one line a step and without a control character',
    (command) => {
      const explanation = explain(classify(command, { rules, cwd }), command);
      expect(explanation.steps.filter(({ state }) => state === 'refused')).toHaveLength(
        explanation.kind === 'serial' ? 1 : 0,
      );
      expect(renderExplanation(explanation)).not.toMatch(
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/,
      );
    },
  );

  test.prop([hostile, fc.func(fc.boolean())], { numRuns: 1500 })(
    'a second reading turns parallel into serial at most',
    (command, opinion) => {
      const without = classify(command, { rules, cwd });
      const secondReading = (text: string): boolean => opinion(text);
      const verdict = classify(command, { rules, cwd, secondReading });
      expect(verdict).toEqual(
        without.kind === 'serial' || opinion(command)
          ? without
          : expect.objectContaining({ reason: expect.objectContaining({ code: 'SECOND_READING' }) }),
      );
    },
  );

  test.prop(
    [
      hostile,
      fc.dictionary(fc.constantFrom('PATH', 'LD_PRELOAD', 'GIT_DIR', 'LANG'), fc.string()),
      fc.constantFrom('/', '/dev/x', '/a'),
    ],
    { numRuns: 1500 },
  )('variables and a directory can only take a yes away', (command, env, elsewhere) => {
    const bare = classify(command, { rules, cwd: '/a' });
    const verdict = classify(command, { rules, cwd: elsewhere === '/' ? '/a' : elsewhere, env });
    expect(verdict.kind === 'serial' || bare.kind === 'parallel').toBe(true);
  });
});

/** Places in a command where a character is neither quoted nor escaped, the end included. */
function unquotedPlaces(command: string): readonly number[] {
  const places: number[] = [];
  let quote = '';
  for (let at = 0; at <= command.length; at++) {
    const character = command[at] ?? '';
    if (quote === '') places.push(at);
    if (quote === '' && character === '\\') at++;
    else if (quote === '"' && character === '\\') at++;
    else if (character === quote) quote = '';
    else if (quote === '' && (character === "'" || character === '"')) quote = character;
  }
  return places;
}

const METACHARACTERS = [';', '&', '|', '<', '>', '(', ')', '$', '`', '\n', '\r', '\0'];

describe('a parallel command becomes serial', () => {
  const place = fc.nat();

  test.prop([fc.constantFrom(...proved), fc.constantFrom(...METACHARACTERS), place], { numRuns: 6000 })(
    'by an unquoted metacharacter put anywhere into it',
    (command, character, where) => {
      const places = unquotedPlaces(command);
      const at = places[where % places.length]!;
      const spoiled = command.slice(0, at) + character + command.slice(at);
      expect([spoiled, classify(spoiled, { rules, cwd }).kind]).toEqual([spoiled, 'serial']);
    },
  );

  const letters = fc.string({
    unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-='),
    minLength: 1,
    maxLength: 8,
  });
  const dashed = fc.tuple(fc.constantFrom('-', '--'), letters).map(([dash, name]) => `${dash}${name}`);
  const strict = proved.filter((command) => !takesText(command));

  test.prop([fc.constantFrom(...strict), dashed], { numRuns: 4000 })(
    'by an option that its rule does not list, put behind its name',
    (command, option) => {
      const name = command.split(' ')[0]!;
      fc.pre(option !== '--' && isUnlisted(binaries.get(name)!.root, option));
      const spoiled = `${name} ${option}${command.slice(name.length)}`;
      expect([spoiled, classify(spoiled, { rules, cwd }).kind]).toEqual([spoiled, 'serial']);
    },
  );

  const word = fc.string({
    unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz-_0123456789'),
    minLength: 1,
    maxLength: 10,
  });
  const nested = proved.filter((command) => subcommandOf(command) !== null);

  test.prop([fc.constantFrom(...nested), word], { numRuns: 4000 })(
    'by another word in place of its subcommand',
    (command, other) => {
      const found = subcommandOf(command)!;
      fc.pre(!other.startsWith('-') && !found.node.options.has(other) && !found.node.subcommands.has(other));
      const spoiled = command.slice(0, found.start) + other + command.slice(found.end);
      expect([spoiled, classify(spoiled, { rules, cwd }).kind]).toEqual([spoiled, 'serial']);
    },
  );

  test.prop([fc.constantFrom(...proved), fc.constantFrom(...'\'"\\')], { numRuns: 1500 })(
    'by a quote or a backslash in the name of its program',
    (command, quote) => {
      const name = command.split(' ')[0]!;
      const quotedName = quote === '\\' ? `\\${name}` : `${quote}${name}${quote}`;
      expect(classify(quotedName + command.slice(name.length), { rules, cwd }).kind).toBe('serial');
    },
  );

  test.prop([fc.constantFrom(...proved), fc.constantFrom('/dev', '/proc/self', '/sys')], { numRuns: 500 })(
    'by a working directory under a device tree',
    (command, where) => {
      expect(classify(command, { rules, cwd: where }).kind).toBe('serial');
    },
  );
});

function takesText(command: string): boolean {
  return binaries.get(command.split(' ')[0]!)?.root.dashesAreText ?? true;
}

/** Whether no way of reading finds only listed options in a word. */
function isUnlisted(root: NodeRule, option: string): boolean {
  const names = [...root.options.keys()];
  const [name] = option.split('=') as [string];
  const inCluster = !option.startsWith('--') && root.letters[option.charCodeAt(1)] !== undefined;
  const otherDash = root.syntax.eitherDash && names.includes(name.slice(1));
  return !names.includes(option) && !names.includes(name) && !otherDash && !inCluster && binariesAlone(root, option);
}

function binariesAlone(root: NodeRule, option: string): boolean {
  return ![...binaries.values()].some((binary) => binary.root === root && binary.alone.has(option));
}

/** The first subcommand word of a command that the rules prove, with the node that knows it. */
function subcommandOf(
  command: string,
): { readonly node: NodeRule; readonly start: number; readonly end: number } | null {
  const lexed = lex(command);
  if (!lexed.ok) return null;
  const binary = binaries.get(lexed.words[0]!.raw);
  if (binary === undefined || binary.root.subcommands.size === 0) return null;
  if (lexed.words.length === 2 && binary.alone.has(lexed.words[1]!.raw)) return null;
  const word = lexed.words.slice(1).find(({ raw }) => binary.root.subcommands.has(raw));
  return word === undefined ? null : { node: binary.root, start: word.start, end: word.end };
}

test('there is enough that is proved, of every file', () => {
  expect(proved.length).toBeGreaterThan(500);
  for (const file of files.filter(({ maturity, only }) => maturity === 'stable' && only === undefined)) {
    const own = [...file.examples.parallel, ...proposedFor(file).parallel];
    expect([file.binary, own.some((command) => proved.includes(command))]).toEqual([file.binary, true]);
  }
});
