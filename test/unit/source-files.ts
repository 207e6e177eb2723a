import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What one file imports, and whether only its types. */
export type Import = { readonly target: string; readonly typesOnly: boolean };

/** One source file as the compiler's parser reads it. `path` is relative to `src/`, with slashes. */
export type SourceFile = {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
  /** Every string that the code itself holds: literals and the fixed parts of templates, not comments. */
  readonly strings: readonly string[];
};

/** A file under src is named by its path in it; everything else keeps its specifier. */
function resolveTarget(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const target = relative(join(ROOT, 'src'), resolve(ROOT, 'src', dirname(from), specifier));
  return target.replaceAll('\\', '/');
}

function onlyTypes(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const named = clause.namedBindings;
  if (clause.name !== undefined || named === undefined || !ts.isNamedImports(named)) return false;
  return named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly);
}

/** Reads one file; import and export declarations, `import()` calls and `import('…')` types all count. */
export function parseSource(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const imports: Import[] = [];
  const strings: string[] = [];
  const add = (node: ts.Node | undefined, typesOnly: boolean) => {
    if (node !== undefined && ts.isStringLiteral(node))
      imports.push({ target: resolveTarget(path, node.text), typesOnly });
  };
  function visit(node: ts.Node): void {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, onlyTypes(node.importClause));
      return;
    }
    if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      add(node.moduleSpecifier, node.isTypeOnly);
      return;
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
    // A type is gone when the code runs.
    if (ts.isLiteralTypeNode(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      strings.push(node.text);
    ts.forEachChild(node, visit);
  }
  visit(tree);
  return { path, text, imports, strings };
}

/** Every TypeScript file under `src`, parsed. */
export function readSources(): SourceFile[] {
  const directory = join(ROOT, 'src');
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(directory, path), 'utf8')));
}
