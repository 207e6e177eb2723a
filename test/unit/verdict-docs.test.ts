import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';
import { REASON_CODES } from '../../src/classifier/verdict.ts';
import { loadRules } from '../../src/rules/load.ts';

const page = readFileSync(new URL('../../docs/verdicts.md', import.meta.url), 'utf8');

type Section = { readonly code: string; readonly body: string };

const sections: Section[] = page
  .split(/^### /m)
  .slice(1)
  .map((part) => {
    const end = part.indexOf('\n');
    return { code: part.slice(0, end).trim(), body: (part.slice(end).split(/^## /m)[0] ?? '').trim() };
  });

/** `Example: ` and a command between backticks, as JSON where the command holds what a page cannot show. */
function exampleOf(body: string): string | undefined {
  const plain = /^Example(?: in compound mode)?: `(.*)`$/m.exec(body)?.[1];
  if (plain !== undefined) return plain;
  const json = /^Example \(JSON\): `(.*)`$/m.exec(body)?.[1];
  return json === undefined ? undefined : JSON.parse(json);
}

/** What no text alone can bring about, or only with limits and rules that a page cannot hold. */
const WITHOUT_EXAMPLE = [
  ...[
    'INPUT_NOT_TEXT',
    'TEXT_TOO_LONG',
    'WORDS_TOO_MANY',
    'PARTS_TOO_MANY',
    'COMPOUND_ONLY',
    'DELEGATE_REFUSED',
    'SECOND_READING',
  ],
  ...[
    'DIRECTORY_DEVICE',
    'CD_OUTSIDE_ROOTS',
    'CD_UNCERTAIN',
    'VARIABLE_UNKNOWN',
    'EFFECT_REFUSED',
    'REPOSITORY_UNREADABLE',
    'REPOSITORY_LAYOUT',
  ],
  ...['REPOSITORY_PARTIAL', 'REPOSITORY_CONFIGURED', 'REPOSITORY_STALE'],
  ...['PROGRAM_UNTRUSTED', 'OPERAND_NOT_REGULAR', 'PLATFORM_UNPROVEN'],
];

describe('docs/verdicts.md', () => {
  test('has one anchor for every code, in the order of the union, and none besides', () => {
    expect(sections.map(({ code }) => code)).toEqual([...REASON_CODES]);
  });

  test.each(sections)('$code is explained', ({ body }) => {
    expect(body.length).toBeGreaterThan(40);
  });

  test('every code that a text can bring about has an example', () => {
    const without = sections.filter(({ body }) => exampleOf(body) === undefined).map(({ code }) => code);
    expect(without).toEqual(WITHOUT_EXAMPLE);
  });

  const rules = loadRules();
  const examples = sections.flatMap(({ code, body }) => {
    const command = exampleOf(body);
    const mode = body.includes('\nExample in compound mode: ') ? ('compound' as const) : ('simple' as const);
    return command === undefined ? [] : [{ code, command, mode }];
  });

  test.each(examples)('the example of $code has this code: $command', ({ code, command, mode }) => {
    const verdict = classify(command, { rules, secondReading, mode });
    expect(verdict.kind === 'serial' ? verdict.reason.code : 'parallel').toBe(code);
  });
});
