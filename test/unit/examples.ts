import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import ts from 'typescript';
import * as library from '../../src/index.ts';

/** One example of the documentation: where it stands and its code. */
export type Example = { readonly place: string; readonly code: string };

/** The `@example` blocks of a source file. */
export function examplesOfSource(path: string): Example[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const examples: Example[] = [];
  for (const statement of tree.statements) {
    for (const tag of ts.getJSDocTags(statement)) {
      if (tag.tagName.text !== 'example') continue;
      const code = ts.getTextOfJSDocComment(tag.comment) ?? '';
      const name = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement) ? statement.name?.text : '';
      examples.push({ place: `${path} ${name ?? ''}`.trim(), code });
    }
  }
  return examples;
}

/** The JavaScript and TypeScript blocks of a page; one that says so in its first line is only text. */
export function examplesOfPage(path: string): Example[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```$/gm)].map((match, index) => ({
    place: `${path}, block ${index + 1}`,
    code: match[1] ?? '',
  }));
}

/** What an example says of itself: `expression; // value` is a claim, every other line is run as it is. */
function withClaims(code: string): string {
  return code
    .split('\n')
    .filter((line) => !/^import .* from 'signalbox(?:\/[a-z-]+)?';$/.test(line))
    .map((line) => {
      const claim = /^(.+); \/\/ (.+)$/.exec(line);
      if (claim === null) return line;
      const [, statement = '', value = ''] = claim;
      const declared = /^(?:const|let) (\w+) = /.exec(statement)?.[1];
      return declared === undefined
        ? `claim(${JSON.stringify(line)}, ${statement}, ${value});`
        : `${statement}; claim(${JSON.stringify(line)}, ${declared}, ${value});`;
    })
    .join('\n');
}

const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;

/**
 * Runs an example against the library and checks what it claims. Returns how many claims it made; throws at the first
 * that does not hold. `more` are names that the page introduced earlier, or that stand for a reader's own.
 */
export async function runExample({ code }: Example, more: Readonly<Record<string, unknown>> = {}): Promise<number> {
  let claims = 0;
  const claim = (line: string, got: unknown, expected: unknown) => {
    claims += 1;
    if (!isDeepStrictEqual(got, expected)) throw new Error(`${line}\nis in truth ${JSON.stringify(got)}`);
  };
  const options = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext } as const;
  const { outputText } = ts.transpileModule(withClaims(code), { compilerOptions: options });
  const names = { ...library, ...more, claim };
  // In a block of its own, so that an example may declare a name that the library has too.
  await new AsyncFunction(...Object.keys(names), `{\n${outputText}\n}`)(...Object.values(names));
  return claims;
}

/** What the module `signalbox/rules` holds, without a build: the same data from the same rules. */
export function builtInRulesOf(): library.RuleSetData {
  return library.exportRules(library.loadRules());
}
