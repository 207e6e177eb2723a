import { describe, expect, test } from 'vitest';
import { namesOf, spellingsOf } from '../../src/classifier/usage.ts';
import { readPlaced } from '../../src/rules/load.ts';
import { code, prose, table } from '../../src/rules/markdown.ts';
import { INDEX, NEVER, pagesOf } from '../../src/rules/page-index.ts';
import type { RuleNode } from '../../src/rules/schema.ts';

const read = readPlaced();
const pages = pagesOf(read);

function nodesOf(node: RuleNode): readonly RuleNode[] {
  return [node, ...Object.values(node.subcommands ?? {}).flatMap(nodesOf)];
}

/** Everything of a file that somebody may look for in its page. */
function entriesOf(command: RuleNode, groups: Readonly<Record<string, object>>): readonly string[] {
  return nodesOf(command).flatMap((node) => [
    ...[node.options ?? {}, node.refuses ?? {}, ...(node.use ?? []).map((name) => groups[name] ?? {})]
      .flatMap((options) => Object.keys(options))
      .flatMap((key) => spellingsOf(key).flat()),
    ...Object.keys(node.subcommands ?? {}).flatMap((key) => namesOf(key)),
  ]);
}

describe('the page of a rule file', () => {
  test.each(read.placed.map(({ file }) => [file.binary, file] as const))(
    '%s tells all that the file says',
    (binary, file) => {
      const page = pages.get(`${binary}.md`) ?? '';
      for (const entry of entriesOf(file.command, file.groups ?? {})) expect(page).toContain(code(entry));
      for (const node of nodesOf(file.command))
        expect(page.toLowerCase()).toContain(prose(node.why).slice(1).toLowerCase());
      for (const { command, code: answer } of file.examples.serial) {
        expect(page).toContain(`| ${code(command)} | [\`${answer}\`](../verdicts.md#${answer.toLowerCase()}) |`);
      }
      for (const command of [...file.examples.parallel, ...(file.examples.piped ?? [])])
        expect(page.split('\n')).toContain(command);
      expect(page).toContain(file.docs);
      expect(page).toContain(prose(file.reviewed.how));
    },
  );

  test('each is in the index, and each unsafe name on its page', () => {
    for (const { file } of read.placed) expect(pages.get(INDEX)).toContain(`](${file.binary}.md)`);
    for (const name of Object.keys(read.never)) expect(pages.get(NEVER)).toContain(code(name));
    expect(pages.size).toBe(read.placed.length + 2);
  });

  test('they are the same every time', () => {
    expect([...pagesOf(readPlaced())]).toEqual([...pages]);
  });
});

describe('Markdown', () => {
  test('code keeps a text as it is, in a table too', () => {
    expect(code('-n')).toBe('`-n`');
    expect(code('a|b')).toBe('<code>a&#124;b</code>');
    expect(code('`x` <y> &')).toBe('<code>&#96;x&#96; &lt;y> &amp;</code>');
    expect(code('a\nb')).toBe('`a\\nb`');
    expect(code('')).toBe('(empty)');
  });

  test('prose is code only between backticks, and never a link, a tag or a cell', () => {
    expect(prose('runs `a|b` and *c*')).toBe('runs <code>a&#124;b</code> and \\*c\\*');
    expect(prose('[x](y) <b> a|b')).toBe('\\[x\\](y) &lt;b> a&#124;b');
    expect(prose('one ` alone')).toBe('one &#96; alone');
  });

  test('a table without rows is none', () => {
    expect(table(['a', 'b'], [])).toEqual([]);
    expect(table(['a', 'b'], [['1', '2']])).toEqual(['| a | b |', '|---|---|', '| 1 | 2 |', '']);
  });
});
