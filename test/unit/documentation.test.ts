import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lexerFigures } from '../../scripts/score-figures.ts';
import { classify } from '../../src/classifier/classify.ts';
import { lex } from '../../src/classifier/lexer.ts';
import { secondReading } from '../../src/classifier/second-reading.ts';
import { loadRules } from '../../src/rules/load.ts';
import { builtInRulesOf, examplesOfPage, runExample } from './examples.ts';
import { ROOT } from './source-files.ts';

const pages = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

const known = new Map<string, Set<string>>();

/** Anchors of a page as GitHub makes them from headings, and those that it sets itself. Thousands of links ask for few pages. */
function anchorsOf(page: string): Set<string> {
  const anchors = known.get(page) ?? readAnchors(page);
  known.set(page, anchors);
  return anchors;
}

function readAnchors(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of read(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const words = heading.replaceAll(/<[^>]*>/g, '').toLowerCase();
    anchors.add(
      words
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    );
  }
  for (const [, id = ''] of read(page).matchAll(/<a id="([^"]+)">/g)) anchors.add(id);
  return anchors;
}

/** Links of a page to other files and places of the repository; what stands in code is no link. */
function linksOf(page: string): { readonly path: string; readonly anchor: string | undefined }[] {
  const prose = read(page)
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { path: path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path)), anchor };
    });
}

describe('links', () => {
  test.each(pages)('of %s lead somewhere', (page) => {
    for (const { path, anchor } of linksOf(page)) {
      expect(existsSync(join(ROOT, path)), `${page} -> ${path}`).toBe(true);
      if (anchor !== undefined && path.endsWith('.md'))
        expect(anchorsOf(path).has(anchor), `${page} -> ${path}#${anchor}`).toBe(true);
    }
  });

  test('a heading is found under the anchor that the pages use', () => {
    expect(anchorsOf('docs/verdicts.md')).toContain('subcommand-and-shape');
    expect(anchorsOf('docs/verdicts.md')).toContain('text_newline');
  });
});

describe('code blocks', () => {
  const examples = ['README.md', 'docs/library.md'].flatMap(examplesOfPage);

  test('there are some', () => {
    expect(examples.length).toBeGreaterThan(7);
  });

  test.each(examples)('$place does what it says', async (example) => {
    const directory = mkdtempSync(join(tmpdir(), 'signalbox-page-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    expect(await runExample(example, { directory, builtInRules: builtInRulesOf() })).toBeGreaterThan(0);
  });
});

describe('README.md', () => {
  const text = read('README.md');

  test('keeps its order', () => {
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([
      'What it proves, and what it does not',
      'Install',
      'Three uses',
      'The three checks',
      'Rules, and adding a binary',
      'Measured',
      'Beside other tools',
      'Documentation',
      'Security',
    ]);
  });

  test('every npm script that it names exists', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = [...text.matchAll(/npm (?:run )?([a-z][a-z:]*)/g)].map(([, name = '']) => name);
    const own = named.filter((name) => !['ci', 'install', 'run'].includes(name));
    expect(own).toEqual(expect.arrayContaining(['start', 'test', 'score', 'bench', 'rules:new', 'rules:check']));
    for (const name of own) expect(Object.keys(scripts)).toContain(name);
  });

  test('the figures of the score are true', () => {
    const rules = loadRules();
    const rows = (name: string) =>
      read(`test/vectors/${name}.jsonl`)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    const isParallel = ({ cmd }: { cmd: string }) => classify(cmd, { rules, secondReading }).kind === 'parallel';
    const [hostile, harmless, short] = [rows('hostile'), rows('parallel'), rows('lexer')];
    expect(text).toContain(`| ${hostile.filter(isParallel).length} of ${hostile.length} |`);
    const parallel = harmless.filter(isParallel);
    const hasRule = ({ cmd }: { cmd: string }) => rules.names.includes(cmd.split(' ')[0] ?? '');
    const [, share, claimed, of] = /at least (\d+) % of those .* at least (\d+) of (\d+) in all/.exec(text) ?? [];
    const ruled = harmless.filter(hasRule);
    expect(ruled.filter(isParallel).length / ruled.length).toBeGreaterThanOrEqual(Number(share) / 100);
    expect(harmless).toHaveLength(Number(of));
    expect(parallel.length).toBeGreaterThanOrEqual(Number(claimed));
    const [misread] = lexerFigures(short, lex);
    expect(text).toContain(`| ${misread?.count} of ${short.length} |`);
    const [, names] = /more than (\d+) \|/.exec(text) ?? [];
    expect(rules.names.length).toBeGreaterThan(Number(names));
  });

  test('no figure is left to be filled in', () => {
    for (const page of pages) expect(read(page)).not.toMatch(/TODO-|\bTIMELINE\b|\bMEASURED\b|\bTBD\b/);
  });
});
