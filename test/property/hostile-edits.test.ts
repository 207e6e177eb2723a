import { describe, expect, test } from 'vitest';
import { examine } from '../../src/classifier/classify.ts';
import type { Rules } from '../../src/classifier/compiled.ts';
import { rulesOf as compiled } from '../../src/classifier/rule-set.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleFile, RuleNode } from '../../src/rules/schema.ts';
import { files, profiles, proposedFor, rulesOf, vectors } from '../rules/built-in.ts';
import { count, pick, randomFrom, seedOfRun } from '../support/hostile-text.ts';
import { DANGEROUS_OPTIONS, EDITS, edited, optionsAbout, rawWords } from './hostile-edits.ts';
import { Reader } from './hostile-edits-listed.ts';
import { wordsOf } from './hostile-edits-words.ts';

const cwd = '/home/someone/project';

/**
 * Edits of one run: SIGNALBOX_HOSTILE_EDITS for a longer one, SIGNALBOX_HOSTILE_TOOL for one of a single tool. Half with a
 * seed that never changes, half with a new one.
 */
const ONE_TOOL = process.env.SIGNALBOX_HOSTILE_TOOL;
const RUNS = Number(process.env.SIGNALBOX_HOSTILE_EDITS ?? 60_000);
const FIXED_SEED = 20_261_201;

const rules = compiled(loadRules());
const isParallel = (text: string, by: Rules = rules): boolean =>
  examine(text, by, { cwd }, false).verdict.kind === 'parallel';

/** Words of commands that somebody has read and found harmless, among them the programs of small languages. */
const read = [
  ...files.flatMap((file) => [...file.examples.parallel, ...(file.examples.piped ?? [])]),
  ...vectors('parallel').map(({ cmd }) => cmd),
];
const programsOf = (name: string): ReadonlySet<string> =>
  new Set(
    read
      .filter((text) => text.startsWith(`${name} `))
      .flatMap((text) => wordsOf(text)?.words.map((word) => word.text) ?? []),
  );
const programs = { sed: programsOf('sed'), jq: programsOf('jq') };

const readers = new Map(
  files.flatMap((file) => [file.binary, ...(file.also ?? [])].map((name) => [name, new Reader(file, programs, cwd)])),
);

/** Whether an independent reading of the rule files finds what the program would get in a listed shape. */
function isListed(text: string): boolean {
  const command = wordsOf(text);
  if (command === null) return false;
  const assigned = command.assignments.every((assignment) => {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(assignment) ?? [];
    return profiles.assignments[name]?.includes(value) ?? false;
  });
  return assigned && (readers.get(command.words[0]!.text)?.lists(command.words) ?? false);
}

type Subject = { readonly file: RuleFile; readonly commands: readonly string[]; readonly options: readonly string[] };

const subjects: readonly Subject[] = files
  .map((file) => ({
    file,
    commands: [...file.examples.parallel, ...proposedFor(file).parallel].filter((command) => isParallel(command)),
    options: optionsAbout(file),
  }))
  .filter((subject) => subject.commands.length > 0);

type Finding = { readonly text: string; readonly from: string; readonly edits: readonly string[] };

/** Accepted edits that nothing lists, and how often each edit led to a verdict of either kind. */
function search(seed: number, runs: number, among: readonly Subject[], by: Rules = rules) {
  const random = randomFrom(seed);
  const findings: Finding[] = [];
  const accepted = new Map<string, number>();
  const refused = new Map<string, number>();
  for (let run = 0; run < runs; run++) {
    const subject = pick(random, among);
    const from = pick(random, subject.commands);
    const { text, edits } = edited(random, from, subject.options);
    const tally = isParallel(text, by) ? accepted : refused;
    for (const edit of edits) tally.set(edit, (tally.get(edit) ?? 0) + 1);
    if (tally === accepted && text !== from && !isListed(text)) findings.push({ text, from, edits });
  }
  return { findings, accepted, refused };
}

describe('a hostile edit of a parallel command', () => {
  test('starts from commands that an independent reading finds listed, of every file', () => {
    expect(subjects.length).toBeGreaterThan(120);
    const unlisted = subjects.flatMap((subject) => subject.commands.filter((command) => !isListed(command)));
    expect(unlisted).toEqual([]);
  });

  for (const seed of [FIXED_SEED, count(randomFrom(seedOfRun()), 1, 1_000_000_000)]) {
    test(`is serial, or is in a shape that the rule lists (seed ${seed})`, () => {
      const among = subjects.filter(({ file }) => ONE_TOOL === undefined || file.binary === ONE_TOOL);
      const { findings, accepted, refused } = search(seed, RUNS / 2, among);
      expect(findings).toEqual([]);
      // Each kind of edit was tried, and the search is no formality: a share of what it makes is accepted.
      expect(Object.keys(EDITS).filter((name) => !refused.has(name))).toEqual([]);
      expect([...accepted.values()].reduce((sum, each) => sum + each, 0)).toBeGreaterThan(RUNS / 50);
    });
  }

  test('by any option that its tool has, or that the facts know to be unsafe, is serial or listed', () => {
    const findings: string[] = [];
    let tried = 0;
    for (const { commands, options } of subjects) {
      const shortest = [...commands].sort((one, other) => one.length - other.length).slice(0, 2);
      for (const words of shortest.map(rawWords)) {
        for (const option of options) {
          const [name = '', ...rest] = words;
          for (const more of [[option], [option, 'x'], [`${option}=x`], [`${option}x`]]) {
            const texts = [
              [...words, ...more],
              [name, ...more, ...rest],
              [...words.slice(0, 2), ...more, ...words.slice(2)],
            ];
            for (const text of texts.map((one) => one.join(' '))) {
              tried++;
              if (isParallel(text) && !isListed(text)) findings.push(text);
            }
          }
        }
      }
    }
    expect(findings).toEqual([]);
    expect(tried).toBeGreaterThan(50_000);
  });

  const loosenings: readonly (readonly [binary: string, loosen: (command: Loose) => void])[] = [
    ['sort', (command) => addOptions(command, { '-o': { takes: 'path', why: 'writes a file' } })],
    ['tail', (command) => addOptions(command, { '-f': { why: 'never ends' } })],
    ['find', (command) => addOptions(command, { '-delete': { why: 'deletes files' } })],
    ['uniq', (command) => setOperands(command, ['path*'])],
    ['cat', (command) => setOperands(command, ['text+'])],
  ];
  test.each(loosenings)('of %s is found where its rule is loosened', (binary, loosen) => {
    const subject = subjects.find(({ file }) => file.binary === binary)!;
    const file = structuredClone(subject.file);
    loosen(file.command as unknown as Loose);
    expect(search(FIXED_SEED, 4_000, [subject]).findings).toEqual([]);
    expect(search(FIXED_SEED, 4_000, [subject], rulesOf(file)).findings).not.toEqual([]);
  });
});

/** A node whose data may be changed. */
type Loose = { options: object; refuses?: unknown; operands?: unknown; shapes?: { operands?: unknown }[] };

/** What the notes call unsafe cannot be an option too. */
function addOptions(command: Loose, options: object): void {
  Object.assign(command.options, options);
  delete command.refuses;
}

function setOperands(command: Loose, operands: readonly string[]): void {
  for (const form of command.shapes ?? [command]) form.operands = operands;
}

describe('the facts about what is unsafe', () => {
  /** The node that a path names, as far as the rules know it. */
  function nodeAt(path: string): RuleNode | null {
    const [name = '', ...below] = path.split(' ');
    let node: RuleNode | null =
      files.find(({ binary, also }) => binary === name || also?.includes(name))?.command ?? null;
    for (const word of below) {
      const found: [string, RuleNode] | undefined = Object.entries(node?.subcommands ?? {}).find(([names]) =>
        names.split(', ').includes(word),
      );
      node = found?.[1] ?? null;
    }
    return node;
  }

  test('no rule lists an option or a subcommand that the facts know to write, execute, block or steer', () => {
    const listed: string[] = [];
    let known = 0;
    for (const [path, options] of Object.entries(DANGEROUS_OPTIONS)) {
      const node = nodeAt(path);
      const file = files.find(({ binary, also }) => [binary, ...(also ?? [])].includes(path.split(' ')[0]!))!;
      if (node === null) continue;
      known++;
      const tables = [
        ...(node.use ?? []).map((name) => file.groups![name]!),
        node.options ?? {},
        node.subcommands ?? {},
      ];
      const spellings = new Set(tables.flatMap((table) => Object.keys(table)).flatMap((key) => key.split(/[;,] /)));
      listed.push(...options.filter((option) => spellings.has(option)).map((option) => `${path} ${option}`));
    }
    expect(listed).toEqual([]);
    expect(known).toBeGreaterThan(90);
  });
});
