/**
 * `npm run generate`: writes the JSON Schemas of rule files from their one definition, a page of `docs/rules` for each rule
 * file, and the types of the client from the API document; takes away pages whose rule file is gone. With `--check` it
 * writes nothing and fails when a committed file differs.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { readPlaced } from '../src/rules/load.ts';
import { NeverSchema } from '../src/rules/never-schema.ts';
import { pagesOf } from '../src/rules/page-index.ts';
import { ProfilesSchema } from '../src/rules/profiles-schema.ts';
import { RuleFileSchema } from '../src/rules/schema.ts';
import { apiTypes, readApiDocument } from './api-types.ts';
import './closed-pipe.ts';

const at = (directory: string): string => fileURLToPath(new URL(`../${directory}/`, import.meta.url));

const schemas: readonly (readonly [name: string, schema: z.ZodType])[] = [
  ['rule-file.schema.json', RuleFileSchema],
  ['profiles.schema.json', ProfilesSchema],
  ['never.schema.json', NeverSchema],
];

const onlyCheck = process.argv.includes('--check');

/** Returns whether the file was as it should be. */
function settle(path: string, text: string): boolean {
  const same = existsSync(path) && readFileSync(path, 'utf8') === text;
  if (!onlyCheck && !same) writeFileSync(path, text);
  if (onlyCheck && !same) process.exitCode = 1;
  return same;
}

function told(same: boolean): string {
  return same ? 'up to date' : onlyCheck ? 'differs; run `npm run generate`' : 'written';
}

function writeSchemas(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, schema] of schemas) {
    const text = `${JSON.stringify(z.toJSONSchema(schema), null, 2)}\n`;
    console.log(`${name}: ${told(settle(join(directory, name), text))}`);
  }
}

function writePages(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const pages = pagesOf(readPlaced());
  let current = 0;
  for (const [name, text] of pages) {
    const same = settle(join(directory, name), text);
    if (same) current += 1;
    else console.log(`docs/rules/${name}: ${told(same)}`);
  }
  for (const name of readdirSync(directory).filter((one) => !pages.has(one))) {
    if (onlyCheck) process.exitCode = 1;
    else rmSync(join(directory, name));
    console.log(`docs/rules/${name}: ${onlyCheck ? 'has no rule file; run `npm run generate`' : 'removed'}`);
  }
  console.log(`docs/rules: ${current} of ${pages.size} pages up to date`);
}

async function writeClientTypes(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const text = apiTypes(await readApiDocument());
  console.log(`src/client/api.ts: ${told(settle(join(directory, 'api.ts'), text))}`);
}

writeSchemas(at('rules/schema'));
writePages(at('docs/rules'));
await writeClientTypes(at('src/client'));
