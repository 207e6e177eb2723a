import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { classify, examine, judge } from '../../src/classifier/classify.ts';
import { explain, renderExplanation } from '../../src/classifier/explain.ts';
import type { ClassifyOptions } from '../../src/classifier/judgement.ts';
import { lexList } from '../../src/classifier/lexer.ts';
import { resolve } from '../../src/classifier/paths.ts';
import { rulesOf } from '../../src/classifier/rule-set.ts';
import type { Part, Verdict } from '../../src/classifier/verdict.ts';
import { loadRules } from '../../src/rules/load.ts';
import { commands } from '../rules/built-in.ts';
import { parallelCompounds } from '../support/compound-lists.ts';
import { samples } from '../support/compound-samples.ts';
import { compoundText } from '../support/compound-text.ts';
import { hostileText, mutate, randomFrom, seedOfRun } from '../support/hostile-text.ts';

const rules = loadRules();
const compiled = rulesOf(rules);
const cwd = '/home/someone/project';
const options = { rules, cwd, mode: 'compound' } as const satisfies ClassifyOptions;

/** One seed is always the same; the other is new with every run. Each law is asked of half of its cases with each. */
const SEEDS = [20_261_204, seedOfRun()] as const;
const POOL = 800;

type Parallel = Extract<Verdict, { readonly kind: 'parallel' }>;
/** A proved compound with its verdict. */
type Proved = { readonly text: string; readonly verdict: Parallel; readonly parts: readonly Part[] };

const proved: readonly Proved[] = parallelCompounds(SEEDS, POOL, rules).map(({ text }) => {
  const verdict = classify(text, options);
  if (verdict.kind === 'serial' || verdict.parts === undefined) throw new Error(`Twice asked, twice answered: ${text}`);
  return { text, verdict, parts: verdict.parts };
});
const compound = fc.constantFrom(...proved);
const kindOf = (text: string, more: Partial<ClassifyOptions> = {}): Verdict['kind'] =>
  classify(text, { ...options, ...more }).kind;

/** Texts around compounds, proved ones and others, true ones and spoiled ones, and any text at all. */
const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.integer().map((seed) => compoundText(randomFrom(seed), samples)) },
  { weight: 1, arbitrary: compound.map(({ text }) => text) },
  {
    weight: 3,
    arbitrary: fc.tuple(compound, fc.integer()).map(([{ text }, seed]) => mutate(randomFrom(seed), text, 0)),
  },
  { weight: 1, arbitrary: fc.integer().map((seed) => hostileText(randomFrom(seed))) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.constantFrom(...commands) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.constantFrom(...commands, ';', '&&', '||', '|', '&', '2>&1', '>/dev/null', '\n', 'cd', 'src'), {
        maxLength: 6,
      })
      .map((pieces) => pieces.join(' ')),
  },
);

/** The words of one part without its redirections. */
function wordsOf(text: string): string {
  const list = lexList(text);
  const command = list.commands[0]!;
  const words = [...command.assignments, ...command.words].map(({ start, end }) => text.slice(start, end));
  return words.join(' ');
}

/** Where the parts may run: where a leading change of directory leads to, and where it starts if that may fail. */
function placesOf(text: string): readonly string[] {
  const { cd } = judge(text, options);
  if (cd === null) return [cwd];
  return cd.alsoHere ? [resolve(cwd, cd.text), cwd] : [resolve(cwd, cd.text)];
}

/** Places of a text where a character would be neither quoted nor escaped, the end included; told without the lexer. */
function unquotedPlaces(text: string): readonly number[] {
  const places: number[] = [];
  let quote = '';
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (quote === '') places.push(at);
    if (character === '\\' && quote !== "'") at++;
    else if (quote === '' && (character === "'" || character === '"')) quote = character;
    else if (character === quote) quote = '';
  }
  return places;
}

const insert = (text: string, at: number, added: string): string => text.slice(0, at) + added + text.slice(at);

/** Without what a list may end with and begin with, so that something can be joined to it. */
const isPlain = ({ text }: Proved): boolean => !text.trimEnd().endsWith(';') && judge(text, options).cd === null;
const plain = fc.constantFrom(...proved.filter(isPlain).map(({ text }) => text));
const listOperator = fc.constantFrom('&&', ' && ', ';', ' ; ', '; ', '||', ' || ', '\t&&\t');

/** Behind these a text goes on: what is joined to it would be read as its rest. */
const UNFINISHED: ReadonlySet<string> = new Set(['TEXT_QUOTE_OPEN', 'TEXT_BACKSLASH', 'TEXT_EMPTY']);
const serialOf = (texts: readonly string[]): readonly string[] =>
  texts.filter((text) => {
    const verdict = classify(text, options);
    return verdict.kind === 'serial' && !UNFINISHED.has(verdict.reason.code);
  });
const serialTexts = serialOf(commands);

describe.each(SEEDS)('of compounds, with seed %i', (seed) => {
  const runs = (numRuns: number) => ({ seed, numRuns: Math.ceil(numRuns / SEEDS.length) });

  describe('what is proved', () => {
    test.prop([compound], runs(2_000))(
      'every part alone is parallel by the same rule, with standard input supplied where it stands behind a pipe',
      ({ text, parts }) => {
        for (const { span, stdin, rule, profile, effects } of parts) {
          const words = wordsOf(text.slice(...span));
          for (const place of placesOf(text)) {
            // Whoever reads the null device reads something that ends, as from a pipe.
            const isFed =
              stdin === 'pipe' || text.slice(...span).includes('</dev/null') || text.slice(...span).includes('< ');
            const { verdict } = examine(words, compiled, { ...options, cwd: place }, isFed);
            const told =
              verdict.kind === 'parallel'
                ? { rule: verdict.rule, profile: verdict.profile, effects: verdict.effects }
                : verdict.reason;
            expect([text, words, told]).toEqual([text, words, { rule, profile, effects }]);
          }
        }
      },
    );

    test.prop([compound], runs(2_000))('its parts are all of it, in order, with only operators between them', (one) => {
      let end = 0;
      for (const [index, { span, stdin }] of one.parts.entries()) {
        const between = one.text.slice(end, span[0]).replaceAll(/[ \t]/g, '');
        if (index > 0) expect(['&&', '||', ';', '|']).toContain(between);
        expect(stdin).toBe(between === '|' ? 'pipe' : 'null');
        expect(span[1]).toBeGreaterThan(span[0]);
        end = span[1];
      }
      expect(one.text.slice(end)).toMatch(/^[ \t]*;?[ \t]*$/);
    });

    test.prop([compound], runs(2_000))(
      'its rule, effects and profile are those of its parts, and bash runs it',
      ({ verdict, parts }) => {
        const { rule, effects, profile, run } = verdict;
        expect(run).toEqual({ form: 'bash' });
        expect(new Set(rule.map((one) => JSON.stringify(one)))).toEqual(
          new Set(parts.flatMap((part) => part.rule.map((one) => JSON.stringify(one)))),
        );
        expect(effects).toEqual([...new Set(parts.flatMap((part) => part.effects))]);
        const names = [...new Set(parts.flatMap((part) => part.profile.split('+')))].sort();
        const special = names.filter((name) => name !== 'generic');
        expect(profile).toBe((special.length > 0 ? special : ['generic']).join('+'));
      },
    );

    test.prop([compound, fc.constantFrom('', ' ', '\t '), fc.boolean()], runs(3_000))(
      'splitting it into its parts and joining them again gives the same verdict',
      ({ text, verdict, parts }, blank, ends) => {
        const { cd } = judge(text, options);
        let joined = cd === null ? '' : text.slice(0, parts[0]!.span[0]);
        for (const [index, { span }] of parts.entries()) {
          const before = index === 0 ? '' : text.slice(parts[index - 1]!.span[1], span[0]).replaceAll(/[ \t]/g, '');
          const part = text.slice(...span);
          // `|&` and `;&` would be one operator.
          const gap = part.startsWith('&') ? ' ' : blank;
          joined += `${before === '' ? '' : `${blank}${before}${gap}`}${part}`;
        }
        // A last semicolon runs nothing, whether it is there or not.
        if (ends) joined += `${blank};${blank}`;
        // A lone command with nothing but a semicolon behind it is none without.
        fc.pre(hasOperator(joined));
        const again = classify(joined, options);
        const bare = (one: Verdict) =>
          one.kind === 'serial' ? one : { ...one, parts: one.parts?.map((part) => ({ ...part, span: null })) };
        expect([joined, bare(again)]).toEqual([joined, bare(verdict)]);
      },
    );

    test.prop([compound], runs(POOL))('it is serial in simple mode, and where no mode is named', ({ text }) => {
      expect([text, classify(text, { rules, cwd, mode: 'simple' }).kind]).toEqual([text, 'serial']);
      expect([text, classify(text, { rules, cwd }).kind]).toEqual([text, 'serial']);
    });

    test.prop([compound], runs(2_000))(
      'with a change of directory it is what the rest of it is there, and also here where the change may have failed',
      ({ text, parts }) => {
        const rest = text.slice(parts[0]!.span[0]);
        for (const place of placesOf(text)) {
          // A lone command is no compound.
          expect([text, place, kindOf(rest, { cwd: place })]).toEqual([text, place, 'parallel']);
        }
      },
    );

    test.prop([compound, fc.constantFrom('/home', cwd, '/', '/srv', `${cwd}/src`)], runs(2_000))(
      'roots take a yes away only from a change of directory that leaves them',
      ({ text }, root) => {
        const { cd } = judge(text, options);
        const target = cd === null ? null : resolve(cwd, cd.text);
        const isInside = target === null || root === '/' || target === root || target.startsWith(`${root}/`);
        expect([text, root, kindOf(text, { roots: [root] })]).toEqual([text, root, isInside ? 'parallel' : 'serial']);
      },
    );
  });

  describe('a compound is serial', () => {
    test.prop([plain, listOperator, fc.constantFrom(...serialTexts), listOperator, plain], runs(4_000))(
      'with a part between two list operators that is serial by itself',
      (before, one, part, other, after) => {
        const text = `${before}${one}${part}${other}${after}`;
        expect([text, kindOf(text)]).toEqual([text, 'serial']);
      },
    );

    test.prop([plain, fc.constantFrom(...samples.piped), listOperator, plain], runs(2_000))(
      'with a part behind a list operator that would read standard input',
      (before, part, operator, after) => {
        fc.pre(kindOf(part) === 'serial');
        for (const text of [
          `${before} && ${part}`,
          `${before};${part}${operator}${after}`,
          `${part}${operator}${after}`,
        ]) {
          expect([text, kindOf(text)]).toEqual([text, 'serial']);
        }
      },
    );

    const serialBehindPipes = serialTexts.filter(
      (text) => examine(text, compiled, options, true).verdict.kind === 'serial' && kindOf(`ls | ${text}`) === 'serial',
    );
    test.prop([plain, fc.constantFrom(...serialBehindPipes), fc.constantFrom('|', ' | '), plain], runs(4_000))(
      'with a stage that is serial though a pipe feeds it',
      (before, part, pipe, after) => {
        for (const text of [`${before}${pipe}${part}`, `${before}${pipe}${part}${pipe}${after}`]) {
          expect([text, kindOf(text)]).toEqual([text, 'serial']);
        }
      },
    );

    const outside = fc.constantFrom(
      ...['\n', '\r', '\0', '(', ')', '$', '`', '|&', '<<', '<<<', '>file', '>>', '2>file', ' >file ', ' >> file '],
      ...[
        ' 2>file ',
        ' 2>>file ',
        ' <file ',
        ' & ',
        ' ;; ',
        ' >| /dev/null ',
        ' <> /dev/null ',
        ' >&- ',
        ' <&- ',
        ' 3>&1 ',
      ],
      ...[
        ' &>file ',
        ' &>>/dev/null ',
        ' <(ls) ',
        ' >(cat) ',
        ' $(ls) ',
        ' `ls` ',
        ' {a,b} ',
        ' $a ',
        '\u00a0',
        '\u202e',
      ],
    );
    test.prop([compound, outside, fc.nat()], runs(8_000))(
      'with an unquoted metacharacter outside the grammar put anywhere into it',
      ({ text }, added, nth) => {
        const places = unquotedPlaces(text);
        const spoiled = insert(text, places[nth % places.length]!, added);
        expect([spoiled, kindOf(spoiled)]).toEqual([spoiled, 'serial']);
      },
    );

    test.prop([compound, fc.nat()], runs(3_000))(
      'with an ampersand put anywhere but beside another or before a redirection',
      ({ text }, nth) => {
        const places = unquotedPlaces(text).filter(
          (at) => !'&>'.includes(text[at] ?? ' ') && !'&>'.includes(text[at - 1] ?? ' '),
        );
        const spoiled = insert(text, places[nth % places.length]!, '&');
        expect([spoiled, kindOf(spoiled)]).toEqual([spoiled, 'serial']);
      },
    );

    const opening = fc.constantFrom(
      '! ',
      '{ ',
      '( ',
      'time ',
      'if ',
      '[[ ',
      'coproc ',
      '~/',
      '$',
      '*',
      ' | ',
      '&& ',
      'A=b ',
    );
    test.prop([compound, opening, fc.nat()], runs(3_000))(
      'with a word of the grammar or half an operator where a part begins',
      ({ text, parts }, added, nth) => {
        const spoiled = insert(text, parts[nth % parts.length]!.span[0], added);
        expect([spoiled, kindOf(spoiled)]).toEqual([spoiled, 'serial']);
      },
    );

    const ending = fc.constantFrom(
      ' &',
      ' &&',
      ' ||',
      ' |',
      ' ;;',
      ' }',
      ' )',
      ' #',
      ' # all',
      '; fi',
      '; done',
      '\\',
      "'",
      '"',
      '\n',
    );
    test.prop([compound, ending], runs(1_000))('with the end of something that has not begun', ({ text }, added) => {
      fc.pre(!text.trimEnd().endsWith(';') || added !== '; fi');
      expect([text + added, kindOf(text + added)]).toEqual([text + added, 'serial']);
    });

    const bare = fc.constantFrom(
      'A=b',
      'LC_ALL=C',
      '>/dev/null',
      '2>&1',
      'cd src',
      'cd /',
      'cd',
      'pushd src',
      'exit',
      ': ',
    );
    test.prop([plain, listOperator, bare], runs(1_500))(
      'with a part that would change what comes behind it',
      (before, operator, part) => {
        for (const text of [
          `${before}${operator}${part}`,
          `${before}${operator}${part}${operator}pwd`,
          `${part} ; ${before}`,
        ]) {
          expect([text, kindOf(text)]).toEqual([text, 'serial']);
        }
      },
    );

    test.prop([compound, fc.constantFrom('/dev', '/proc/self', '/sys')], runs(500))(
      'in a directory of devices, unless it leaves it for good',
      ({ text }, where) => {
        const { cd } = judge(text, options);
        fc.pre(cd === null || cd.alsoHere || !cd.text.startsWith('/'));
        fc.pre(cd === null || !cd.text.startsWith('..'));
        expect(kindOf(text, { cwd: where })).toBe('serial');
      },
    );
  });

  describe('any text', () => {
    test.prop([anyText], runs(6_000))('has one verdict, the same whenever and however it is asked', (text) => {
      const verdict = classify(text, options);
      expect(classify(text, options)).toEqual(verdict);
      expect(judge(text, options).verdict).toEqual(verdict);
      expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict);
      const spans = verdict.kind === 'serial' ? [verdict.reason.span] : (verdict.parts ?? []).map(({ span }) => span);
      for (const span of spans) expect(span[0] >= 0 && span[0] <= span[1] && span[1] <= text.length).toBe(true);
    });

    test.prop([anyText], runs(4_000))(
      'that is parallel in simple mode has the same verdict in compound mode, and a compound has parts',
      (text) => {
        const simple = classify(text, { rules, cwd });
        const verdict = classify(text, options);
        if (simple.kind === 'parallel') expect(verdict).toEqual(simple);
        if (verdict.kind === 'serial') return;
        expect([text, verdict.parts !== undefined]).toEqual([text, hasOperator(text)]);
      },
    );

    test.prop([anyText, fc.func(fc.boolean())], runs(3_000))(
      'keeps its verdict or loses a yes by a second reading',
      (text, opinion) => {
        const without = classify(text, options);
        const verdict = classify(text, { ...options, secondReading: (asked) => opinion(asked) });
        const isKept = without.kind === 'serial' || opinion(text);
        expect(verdict).toEqual(isKept ? without : expect.objectContaining({ kind: 'serial' }));
        if (!isKept && verdict.kind === 'serial') expect(verdict.reason.code).toBe('SECOND_READING');
      },
    );

    test.prop(
      [anyText, fc.dictionary(fc.constantFrom('PATH', 'LD_PRELOAD', 'GIT_DIR', 'LANG', 'CDPATH'), fc.string())],
      runs(2_000),
    )('can only lose a yes by variables', (text, env) => {
      expect(kindOf(text, { env }) === 'serial' || kindOf(text) === 'parallel').toBe(true);
    });

    test.prop([anyText], runs(2_000))('can be explained in lines without a control character', (text) => {
      const explanation = explain(classify(text, options), text);
      expect(renderExplanation(explanation)).not.toMatch(
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/,
      );
    });
  });
});

/** Whether an operator or a redirection stands in a text that is proved, outside quotes. */
function hasOperator(text: string): boolean {
  return unquotedPlaces(text).some((at) => at < text.length && ';&|<>'.includes(text[at]!));
}
