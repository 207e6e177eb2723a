import { compileFile } from '../classifier/compile.ts';
import { spellingsOf } from '../classifier/usage.ts';
import { block, code, codes, prose, table } from './markdown.ts';
import type { Placed } from './merge.ts';
import { nodeSections } from './page-node.ts';
import type { Profiles } from './profiles-schema.ts';
import type { RuleFile, RuleValue } from './schema.ts';

/** What a page links to, seen from where the pages are. */
const RULES_PAGE = '../rules.md';
const VERDICTS_PAGE = '../verdicts.md';

/** Says that nobody should edit a page, and what to do instead. */
export function madeFrom(source: string): string {
  return `<!-- Made from ${source} by \`npm run generate\`: edit that, and run it. -->`;
}

/** The page of a rule file: everything that it says, for people. Markdown. */
export function pageOf({ file, origin }: Pick<Placed, 'file' | 'origin'>, profiles: Profiles): string {
  const root = compileFile(file, profiles, origin, [])[0]!.root;
  return [
    madeFrom(`rules/${file.binary}.json`),
    `# ${code(file.binary)}`,
    '',
    ...facts(file),
    '## What is parallel',
    '',
    'One shape that fits is enough; what is not listed is serial. [How to read this page](README.md#how-to-read-a-page).',
    '',
    ...aloneTable(file),
    ...nodeSections(file, file.command, root),
    ...valueTable(file),
    ...exceptionTable(file),
    ...examples(file),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}

function facts(file: RuleFile): readonly string[] {
  const { reviewed } = file;
  const rows: (readonly [string, string] | null)[] = [
    ['names', codes([file.binary, ...(file.also ?? [])])],
    ['state', file.maturity],
    ['runs', file.builtin ? 'bash answers it itself' : 'the program of that name on `PATH`'],
    file.only === undefined ? null : ['only', 'behind a pipe, in compound mode'],
    ['profile', `[${code(file.profile ?? 'generic')}](README.md#profiles)`],
    ['options are read as', `[${code(file.syntax)}](${RULES_PAGE}#an-option)`],
    file.resources === undefined ? null : ['lock keys besides the workspace', codes(file.resources)],
    ['holds on BSD, macOS and busybox too', file.portable ? 'yes' : 'no'],
    file.identity === undefined
      ? null
      : ['known by the text', `[${file.identity.map(code).join(' or ')}](${RULES_PAGE}#which-program-it-is)`],
    ['documentation', `<${file.docs}>`],
    ['reviewed', `version ${prose(reviewed.version)}, on ${reviewed.on}: ${prose(reviewed.how)}`],
  ];
  return table(
    ['', ''],
    rows.filter((row) => row !== null),
  );
}

function aloneTable(file: RuleFile): readonly string[] {
  const rows = Object.entries(file.alone ?? {}).map(([key, { why }]) => [
    spellingsOf(key)
      .flat()
      .map((word) => code(`${file.binary} ${word}`))
      .join(', '),
    prose(why),
  ]);
  return table(['alone', 'why'], rows);
}

function valueTable({ values = {} }: RuleFile): readonly string[] {
  const rows = Object.entries(values).map(([name, value]) => [code(name), acceptedBy(value), prose(reasonOf(value))]);
  return rows.length === 0 ? [] : ['## Kinds of values', '', ...table(['kind', 'accepts', 'why'], rows)];
}

function acceptedBy({ words, starts, template }: RuleValue): string {
  return [
    ...(words === undefined ? [] : [codes(words)]),
    ...(starts === undefined ? [] : [`anything behind ${codes(starts)}`]),
    ...(template === undefined
      ? []
      : [
          `behind ${codes(template.after)}: text in which ${code(template.mark)} is followed by one of ${codes(template.allow)}`,
        ]),
  ].join('; or ');
}

function exceptionTable({ exceptions = [] }: RuleFile): readonly string[] {
  const rows = exceptions.map((one) => [
    'writes' in one ? `writes ${code(one.writes)} (${code(one.effect)})` : `a socket: ${code(one.sockets)}`,
    prose(one.why),
  ]);
  if (rows.length === 0) return [];
  return ['## Besides reading', '', ...table(['a run may', 'because'], rows)];
}

function examples({ examples: { parallel, piped = [], serial } }: RuleFile): readonly string[] {
  const rows = serial.map((one) => [
    code(one.command),
    `[${code(one.code)}](${VERDICTS_PAGE}#${one.code.toLowerCase()})`,
  ]);
  return [
    '## Examples',
    '',
    'Held against the file whenever it is loaded.',
    '',
    'Parallel:',
    '',
    ...block(parallel),
    ...(piped.length === 0
      ? []
      : ['Serial alone, since it reads standard input; parallel behind a pipe:', '', ...block(piped)]),
    ...table(['serial', 'code'], rows),
  ];
}

function reasonOf({ why, otherwise }: RuleValue): string {
  return otherwise === undefined ? why : `${why}. Anything else is known to be unsafe: ${otherwise}`;
}
