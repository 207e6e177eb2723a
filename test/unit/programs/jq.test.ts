import { describe, expect, test } from 'vitest';
import { jqFilter } from '../../../src/classifier/programs/jq.ts';
import { plainRegex } from '../../../src/classifier/programs/plain-regex.ts';
import { PLAIN, TAKING } from './jq-filters.ts';

const ACCEPTED = [
  // what agents send
  '.',
  '.version',
  '.hooks | keys',
  '.hooks | to_entries | map({hook: .key, count: (.value | length)})',
  '.hooks.Stop[0].hooks[0].command',
  '.hooks.Edit[0].hooks | length',
  '.permissions.allow',
  '.login, .name, .email',
  '.visibility + "|" + .defaultBranchRef.name + "|" + .url',
  '{required_status_checks: .required_status_checks.strict, enforce_admins: .enforce_admins.enabled}',
  '.scripts | to_entries[] | "\\(.key)=\\(.value)"',
  '.dependencies + .devDependencies | keys[]',
  '.items[] | select(.status.phase != "Running") | .metadata.name',
  'group_by(.ns) | map({ns: .[0].ns, n: length}) | sort_by(-.n) | reverse | .[:10]',
  '.results[] | select(.score >= 0.5 and .id != null) | [.id, .score, .name] | @tsv',
  '.log.entries[] | select(.response.status >= 400) | "\\(.response.status) \\(.request.url)"',
  '.spec.template.spec.containers[0].resources.limits.cpu.a.b.c.d.e.f.g.h.i.j.k.l',
  // paths
  '.a."b c"["d"].e?',
  '."a b"',
  '.[0]',
  '.[-1]',
  '.[ - 2 : ]',
  '.[:3]',
  '.[2:4]',
  '.[]?',
  '.a[].b',
  '.a.[0]',
  '..',
  '.. | .name?',
  ' .a ',
  '.a\n|\t.b',
  // values and operators
  '1',
  '-1',
  '1.5',
  '"a\\n\\u00e9\\"\\\\"',
  '[]',
  '{}',
  '[1, 2]',
  '{a}',
  '{a, "b c": 1, (.d): .e | .f, g: -1}',
  '{if: 1}',
  '.a // "none"',
  '.a // empty | not',
  '.a and .b or .c',
  '.a == 1',
  '.a <= 2',
  '.a < 2',
  '.a - 1 + 2',
  '.a / 1024 / 1024 | floor',
  '.a * 100',
  '2.5 * .a',
  '.a * 2 * 3',
  '(.a, .b)',
  'if .a then 1 elif .b then 2 else 3 end',
  'if .a then 1 end',
  // texts and formats
  '"\\(.a) and \\(.b | "x\\(.c)")"',
  '@csv',
  '@base64 "x\\(.a)"',
  '@sh "x"',
  // builtins
  'length',
  'map(.a)',
  'with_entries(select(.key | startswith("a")))',
  'del(.a, .b[0])',
  'paths(type == "number")',
  '[paths | map(tostring) | join(".")]',
  'any(. > 1)',
  'first(.[])',
  'min_by( .a )',
  '.a | split(",") | .[0]',
  '.tags | index("x")',
  '.name | test("^a.*\\\\.ts$")',
  '.name | test("a"; "i")',
];

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'does not end, or says how often': [
    'repeat(1)',
    'range(10)',
    'range(infinite)',
    'while(true; .)',
    'until(false; .)',
    'recurse(.)',
    'limit(3; .[])',
    'combinations',
    'walk(.)',
    '.a | indices("")',
    '.a | index("")',
    '.a | index(.b)',
    '.a | gsub("";"x")',
  ],
  'reads other input, or the surroundings': [
    'input',
    'inputs',
    '., input',
    'env',
    '$ENV.PATH',
    'now',
    'debug',
    '$__loc__',
  ],
  'defines, binds, or assigns': [
    'def f: f; f',
    '. as $x | $x',
    'reduce .[] as $x (0; . + $x)',
    'label $x | .',
    'import "m" as m; .',
    'm::f',
    '.a = 1',
    '.a |= 1',
    '.a += 1',
    '.a -= 1',
    '.a *= 2',
    '.a /= 2',
    '.a //= 1',
    '.[0] = 1',
    'try .a',
  ],
  'makes very much of little': [
    '"x" * 1000000000',
    '. * .',
    '.a * .b',
    '. * 10000',
    '. * 1000 * 1000',
    '.[999999999]',
    '[.,.]|[.,.]|[.,.]|[.,.]|[.,.]|[.,.]|[.,.]|[.,.]|[.,.]|[.,.]',
    '[.[] + .] | [.[] + .]',
    '[.. | ..]',
    'tojson | tojson | tojson | tojson',
    '{a: .[], b: .[], c: .[], d: .[]}',
  ],
  'has a regex that may take long, or is not in sight': [
    'test("(a+)+$")',
    'test(.x)',
    'test("\\(.x)")',
    'test("a"; "g")',
    'test("a"; .x)',
    'test("a"; "i"; "i")',
  ],
  'is no filter of the grammar': [
    '',
    ' ',
    '.a.',
    '. b',
    '..a',
    '.a b',
    '.[',
    '.[]]',
    '.[.a]',
    '.[1',
    '.["a"',
    '.["a\\(1)"]',
    '.[-]',
    '.[:]',
    '(.',
    '.)',
    '[.',
    '{a',
    '{a:}',
    '{a: 1,}',
    '{(.a)}',
    '{(.a: 1}',
    '{1: 2}',
    '{a: 1 2}',
    '"a',
    '"a\\x"',
    '"a\\u00g0"',
    '"a\\u00"',
    '"a\\',
    '"\\(.a"',
    '"\\(foo)"',
    '."a',
    'foo',
    'map',
    'map()',
    'map(foo)',
    'map(.a',
    'map(.a; .b)',
    'length(.a)',
    '@foo',
    '@foo "x"',
    '@csv "\\(foo)"',
    'and',
    '.a and',
    '.a |',
    '.a ==',
    '.a /',
    '.a / foo',
    '.a + foo',
    '| .a',
    '.a % 2',
    '--1',
    'if',
    'if .a',
    'if .a then',
    'if .a then 1',
    'if .a then 1 else',
    'if .a then 1 else 2',
    'if foo then 1 end',
    'if .a then foo end',
    'if .a then 1 elif foo then 2 end',
    '.a # comment',
    '.a\u00a0',
    'é',
    `${'('.repeat(65)}.${')'.repeat(65)}`,
    `${'"\\('.repeat(65)}.${')"'.repeat(65)}`,
    `${'map('.repeat(65)}.${')'.repeat(65)}`,
    `${'if . then 1 '.repeat(1)}${'elif . then 1 '.repeat(65)}end`,
  ],
};

describe('filters of jq', () => {
  test.each(ACCEPTED)('accepted: %s', (filter) => {
    expect(jqFilter(filter)).toBe(true);
  });

  test('every builtin of the generators is accepted with as many arguments as it takes', () => {
    const filters = [...PLAIN, ...TAKING.map((name) => `${name}(.a)`)];
    expect(filters.filter((filter) => !jqFilter(filter))).toEqual([]);
  });

  for (const [why, filters] of Object.entries(REFUSED)) {
    test.each(filters)(`refused, because it ${why}: %s`, (filter) => {
      expect(jqFilter(filter)).toBe(false);
    });
  }

  test('64 brackets, and no more', () => {
    expect(jqFilter(`${'('.repeat(64)}.${')'.repeat(64)}`)).toBe(true);
  });

  test('a stage that doubles may stand a few times, and never often', () => {
    const stages = Array.from({ length: 24 }, (_, count) =>
      Array(count + 1)
        .fill('(. + .)')
        .join(' | '),
    );
    const verdicts = stages.map(jqFilter);
    const first = verdicts.indexOf(false);
    expect(first).toBeGreaterThan(2);
    expect(first).toBeLessThan(12);
    expect(verdicts.slice(first)).not.toContain(true);
  });

  test('long filters take no longer than their length', () => {
    for (const text of [
      `.${'a'.repeat(16_000)}`,
      '.a'.repeat(8_000),
      '.a,'.repeat(5_000),
      '{a,'.repeat(5_000),
      '"\\('.repeat(5_000),
    ]) {
      expect(typeof jqFilter(text)).toBe('boolean');
    }
  });
});

describe('regexes that are found or not found at once', () => {
  test.each([
    '',
    'abc',
    '^src/',
    '\\.ts$',
    'a.*b',
    'a+b?',
    '(foo|bar)',
    '[a-z_]+',
    '[^/]',
    '[\\d.-]+x',
    '\\bfoo\\b',
    'a|b',
    'é',
    ']',
  ])('accepted: %s', (regex) => expect(plainRegex(regex)).toBe(true));

  test.each([
    '(a+)+',
    '(a)*',
    '(?:a)',
    '(?=a)',
    'a**',
    'a*?',
    'a*b*c*',
    'a{2}',
    '}',
    '*a',
    '^*',
    '$+',
    '|*',
    '\\b+',
    '\\1',
    '\\k<a>',
    '\\',
    '(a',
    'a)',
    ')(',
    '[a',
    '[]',
    '[^]',
    '[]a]',
    '[[:alpha:]]',
    '[a&&b]',
    '[\\1]',
    '[a\\',
  ])('refused: %s', (regex) => expect(plainRegex(regex)).toBe(false));
});
