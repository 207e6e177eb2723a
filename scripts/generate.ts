/**
 * `npm run generate`: writes the JSON Schemas of rule files from their one definition. With `--check` it writes nothing
 * and fails when a committed file differs.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { NeverSchema } from '../src/rules/never-schema.ts';
import { ProfilesSchema } from '../src/rules/profiles-schema.ts';
import { RuleFileSchema } from '../src/rules/schema.ts';
import './closed-pipe.ts';

const directory = fileURLToPath(new URL('../rules/schema/', import.meta.url));

const generated: readonly (readonly [name: string, schema: z.ZodType])[] = [
  ['rule-file.schema.json', RuleFileSchema],
  ['profiles.schema.json', ProfilesSchema],
  ['never.schema.json', NeverSchema],
];

const onlyCheck = process.argv.includes('--check');
mkdirSync(directory, { recursive: true });
for (const [name, schema] of generated) {
  const path = join(directory, name);
  const text = `${JSON.stringify(z.toJSONSchema(schema), null, 2)}\n`;
  const same = existsSync(path) && readFileSync(path, 'utf8') === text;
  if (!onlyCheck && !same) writeFileSync(path, text);
  if (onlyCheck && !same) process.exitCode = 1;
  console.log(`${name}: ${same ? 'up to date' : onlyCheck ? 'differs; run `npm run generate`' : 'written'}`);
}
