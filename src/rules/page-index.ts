import type { PlacedRules } from './load.ts';
import { code, codes, prose, table } from './markdown.ts';
import { madeFrom, pageOf } from './page.ts';
import type { Profiles } from './profiles-schema.ts';
import { summaryOf } from './summary.ts';

/** The page that leads to the others, and the page of names without a rule. */
export const INDEX = 'README.md';
export const NEVER = 'never.md';

/** Every page by the name of its file: one a rule file, the index, and the names that are known to be unsafe. */
export function pagesOf(rules: PlacedRules): ReadonlyMap<string, string> {
  const pages = rules.placed.map((one) => [`${one.file.binary}.md`, pageOf(one, rules.profiles)] as const);
  return new Map([[INDEX, indexPage(rules)], [NEVER, neverPage(rules.never)], ...pages]);
}

function indexPage({ placed, profiles, never }: PlacedRules): string {
  const summaries = placed.map((one) => summaryOf(one, profiles));
  const rows = summaries
    .sort((one, other) => (one.binary < other.binary ? -1 : 1))
    .map(({ binary, names, state, profiles: used, effects }) => [
      `[${code(binary)}](${binary}.md)`,
      codes(names.slice(1)),
      state,
      codes(used),
      codes(effects),
    ]);
  return [
    madeFrom('rules/*.json'),
    '# What each rule allows',
    '',
    `${placed.length} rule files, ${summaries.reduce((sum, { names }) => sum + names.length, 0)} names. A name that is not here is serial;`,
    `of ${Object.keys(never).length} names it is [known why](${NEVER}). \`signalbox rules list\` and \`signalbox rules docs NAME\` show the same of`,
    'the rules that are installed, with [files of your own](../rules.md#files-of-your-own) too.',
    '',
    ...table(['page', 'other names', 'state', 'profiles', 'effects'], rows),
    '## How to read a page',
    '',
    ...HOW_TO_READ,
    '',
    '## Profiles',
    '',
    'The environment that a proof presumes; `generic` is part of each. [What the columns mean](../rules.md#profiles).',
    '',
    ...profileTable(profiles),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}

const HOW_TO_READ = [
  '- **Parallel** lists shapes as usage lines: a command passes when one fits, with any of the options below it. Words in capitals',
  '  are [kinds of operands](../rules.md#operands-and-kinds-of-values); `[…]` may be missing, `…` may be repeated. *Without* names',
  '  options that must be absent.',
  '- **Options**: a comma stands between spellings of one option, a semicolon between different options of which the same holds. In',
  '  each the value is of the kind named; options with no value take none.',
  '- **Serial, known to be unsafe** explains; it decides nothing. Whatever a page does not list is serial as well.',
  '- **Effects** is what a parallel verdict tells besides; **assumes** is what the dispatcher looks at before it runs one.',
  '- A path is never under `/dev`, `/proc` or `/sys`.',
];

function profileTable({ generic, profiles }: Profiles): readonly string[] {
  const all = [['generic', generic] as const, ...Object.entries(profiles)];
  const rows = all.map(([name, { set, pass, minds = [], why }]) => [
    code(name),
    codes(Object.entries(set).map(([variable, value]) => `${variable}=${value}`)),
    codes(pass),
    codes(minds),
    prose(why),
  ]);
  return table(['profile', 'sets', 'hands over', 'is serial when set', 'why'], rows);
}

function neverPage(never: PlacedRules['never']): string {
  const reasons = new Map<string, string[]>();
  for (const [name, why] of Object.entries(never)) reasons.set(why, [...(reasons.get(why) ?? []), name]);
  return [
    madeFrom('rules/never.json'),
    '# Names that are known to be unsafe',
    '',
    'These programs have no rule because of what they do. The list explains a verdict and decides none: without it the same',
    'commands are serial, because nobody knows them. Words that are unsafe behind a name with a rule stand on [its page](README.md).',
    '',
    ...table(
      ['names', 'what it does'],
      [...reasons].map(([why, names]) => [codes(names), prose(why)]),
    ),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}
