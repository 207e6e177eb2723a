import { createHash, randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { ALL_SCOPES, type Scope } from '../http/scopes.ts';
import type { Io } from './io.ts';

const EXAMPLES = `
Examples:
  signalbox token new ci --scope classify,run
  signalbox token new laptop --scope classify,run,admin --expires 2027-01-31T00:00:00Z
  signalbox token new ci --scope run --format json

The token is shown once and kept nowhere: the file for signalbox serve
--token-file holds its hash. Scopes: ${ALL_SCOPES.join(', ')}.`;

type NewFlags = { readonly scope: readonly Scope[]; readonly expires?: string; readonly format: 'text' | 'json' };

/** `signalbox token`: makes bearer tokens for the service. */
export function tokenCommand(io: Io): Command {
  const add = new Command('new')
    .summary('make a token')
    .description('Makes a bearer token, and the line for the token file.')
    .argument('<name>', 'who will use it: letters, digits, dots, dashes and underscores', nameOf)
    .requiredOption('--scope <scopes>', 'what it may do, with commas between several', scopesOf)
    .option('--expires <time>', 'when it stops to count, in UTC', timeOf)
    .option('--format <format>', 'text or json', formatOf, 'text')
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, { scope, expires, format }: NewFlags) => {
      const token = randomBytes(32).toString('base64url');
      const hash = `sha256:${createHash('sha256').update(token).digest('hex')}`;
      const line = [name, scope.join(','), hash, ...(expires === undefined ? [] : [expires])].join(' ');
      await io.stdout.write(
        format === 'json'
          ? `${JSON.stringify({ name, scopes: scope, expires: expires ?? null, token, line })}\n`
          : `Token, shown this once:\n  ${token}\n\nLine for the token file:\n  ${line}\n`,
      );
    });
  return new Command('token')
    .summary('make bearer tokens for the service')
    .description('Makes bearer tokens for the service.')
    .addHelpText('after', EXAMPLES)
    .addCommand(add);
}

function nameOf(text: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected 1 to 64 letters, digits, dots, dashes and underscores.');
}

function scopesOf(text: string): readonly Scope[] {
  const scopes = [...new Set(text.split(','))];
  if (scopes.every((one): one is Scope => (ALL_SCOPES as readonly string[]).includes(one))) return scopes;
  throw new InvalidArgumentError(`Expected some of ${ALL_SCOPES.join(', ')}, with commas between them.`);
}

function timeOf(text: string): string {
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text) && Number.isFinite(Date.parse(text));
  if (isTime) return text;
  throw new InvalidArgumentError('Expected a time in UTC such as 2027-01-31T00:00:00Z.');
}

function formatOf(text: string): string {
  if (text === 'text' || text === 'json') return text;
  throw new InvalidArgumentError('Expected text or json.');
}
