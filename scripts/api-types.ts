/** The types of the client, made from the API document that the service itself answers with. */
import { loadConfig } from '../src/config.ts';
import { loadRules } from '../src/rules/load.ts';
import { buildServer, createServiceDispatcher, createServiceJudge } from '../src/server.ts';

type Type = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

export type Schema = {
  readonly $ref?: string;
  readonly type?: Type | readonly Type[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
};

type ApiDocument = { readonly components: { readonly schemas: Readonly<Record<string, Schema>> } };

/** `/openapi.json` of a service with the built-in rules. */
export async function readApiDocument(): Promise<ApiDocument> {
  const config = loadConfig({ cwd: process.cwd(), env: {}, flags: { 'log-level': 'silent' } });
  const rules = loadRules();
  const app = await buildServer({
    config,
    dispatcher: createServiceDispatcher(config, rules, {}),
    judge: createServiceJudge(config, rules, {}),
    ruleset: rules.hash,
    version: '0.0.0',
  });
  try {
    return app.swagger() as unknown as ApiDocument;
  } finally {
    await app.close();
  }
}

/** A module with one exported type for each schema that the document names. */
export function apiTypes({ components: { schemas } }: ApiDocument): string {
  const types = Object.entries(schemas).map(
    ([name, schema]) => `${commentOf(schema, '')}export type ${name} = ${typeOf(schema, '')};\n`,
  );
  return `/** Made from the API document by \`npm run generate\`: change the schemas in src/http, not this. */\n\n${types.join('\n')}`;
}

/** Throws for what no schema of ours has, so that nothing is passed over in silence. */
function typeOf(schema: Schema, indent: string): string {
  const { $ref, anyOf = schema.oneOf, type } = schema;
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (anyOf !== undefined) return [...new Set(anyOf.map((each) => typeOf(each, indent)))].join(' | ');
  if (Array.isArray(type)) return typeOf({ anyOf: type.map((each) => ({ ...schema, type: each })) }, indent);
  switch (type as Type | undefined) {
    case 'string':
    case 'boolean':
    case 'null':
      return String(type);
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      if (schema.prefixItems !== undefined)
        return `readonly [${schema.prefixItems.map((each) => typeOf(each, indent)).join(', ')}]`;
      return listOf(typeOf(schema.items ?? {}, indent));
    case 'object':
      return objectOf(schema, indent);
    case undefined:
      if (Object.keys(schema).every((key) => key === 'description')) return 'unknown';
  }
  throw new Error(`Expected a schema that can be a type, got ${JSON.stringify(schema)}`);
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const names = Object.entries(properties);
  if (names.length === 0 && typeof additionalProperties === 'object')
    return `Readonly<Record<string, ${typeOf(additionalProperties, indent)}>>`;
  const inner = `${indent}  `;
  const fields = names.map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${commentOf(schema, inner)}${inner}readonly ${name}${mark}: ${typeOf(schema, inner)};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

function listOf(type: string): string {
  return `readonly ${/[|\n]/.test(type) ? `(${type})` : type}[]`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function commentOf({ description }: Schema, indent: string): string {
  return description === undefined ? '' : `${indent}/** ${description} */\n`;
}
