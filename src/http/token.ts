import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { SignalboxError } from '../errors.ts';
import { ALL_SCOPES, type Scope } from './scopes.ts';

/** Who asks: a token by its name, with what it may do. */
export type Principal = {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Milliseconds of the epoch from which on it counts no more. */
  readonly expiresAt: number;
};

/** The tokens of a file, as it is at the moment of each question. */
export type Tokens = {
  /** Who presents this token; undefined for one that the file does not hold. Takes the same time for every wrong one. */
  find(presented: string): Principal | undefined;
};

type Entry = Principal & { readonly hash: Buffer };

const BARE = /^[\x21-\x7e]{16,512}$/;
const NAME = /^[A-Za-z0-9._-]{1,64}$/;
const HASH = /^sha256:([0-9a-f]{64})$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/;
const MAX_TOKENS = 1_000;

/**
 * Reads a token file. Either it holds one bare token of 16 to 512 visible ASCII characters, which may do everything, or
 * a line `NAME SCOPES sha256:HASH [EXPIRES]` for each token: scopes with commas between them, the hash of the token in
 * hexadecimal digits, and a time in UTC. Empty lines and those that begin with `#` do not count. Of a bare token, too, only
 * the hash is kept.
 *
 * The file is looked at again with every question, so that tokens come, go and change without a restart. Where it has gone,
 * or holds no token any more, nobody is let in. One that cannot be read or has a fault changes nothing, and is told once
 * through `onProblem`: somebody may be in the midst of writing it.
 *
 * @throws SignalboxError CONFIG_INVALID, at the start, which never repeats the content.
 */
export function readTokens(path: string, onProblem: (problem: SignalboxError) => void = () => undefined): Tokens {
  let stamp = stampOf(path);
  let entries = parse(path);
  if (entries.length === 0) throw invalid(path, 'a token', 'none');
  const refresh = (): void => {
    const now = stampOf(path);
    if (now === stamp) return;
    stamp = now;
    try {
      entries = now === '' ? [] : parse(path);
    } catch (problem) {
      onProblem(problem as SignalboxError);
    }
  };
  return {
    find(presented) {
      refresh();
      const hash = digest(presented);
      let found: Entry | undefined;
      // All of them, whichever it is: how long it takes tells nothing.
      for (const entry of entries) if (timingSafeEqual(hash, entry.hash)) found = entry;
      return found;
    },
  };
}

/** What changes when the file does; the same for one that is not there. */
function stampOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}

function parse(path: string): readonly Entry[] {
  const content = readContent(path);
  const lines = content
    .split(/\r?\n/)
    .map((line, index) => ({ words: line.split(/[ \t]+/).filter((word) => word !== ''), number: index + 1 }))
    .filter(({ words }) => words.length > 0 && !words[0]?.startsWith('#'));
  if (lines.length === 0) return [];
  if (lines.every(({ words }) => words.length === 1)) return [bare(path, content)];
  if (lines.length > MAX_TOKENS) throw invalid(path, `at most ${MAX_TOKENS} tokens`, `${lines.length}`);
  const names = new Set<string>();
  return lines.map(({ words, number }) => {
    const entry = entryOf(path, words, number);
    if (names.has(entry.name)) throw invalid(path, `one token named ${entry.name}`, `another one in line ${number}`);
    names.add(entry.name);
    return entry;
  });
}

function entryOf(path: string, words: readonly string[], number: number): Entry {
  const [name = '', scopes = '', hash = '', expires, more] = words;
  const fault = (expected: string): SignalboxError => invalid(path, expected, `something else in line ${number}`);
  if (!NAME.test(name)) throw fault('a name of 1 to 64 letters, digits, dots, dashes and underscores');
  const given = scopes.split(',');
  if (!given.every((one): one is Scope => (ALL_SCOPES as readonly string[]).includes(one))) {
    throw fault(`scopes out of ${ALL_SCOPES.join(', ')}, with commas and no blanks between them`);
  }
  const hex = HASH.exec(hash)?.[1];
  if (hex === undefined) throw fault('sha256: and the 64 lower-case hexadecimal digits of the hash of the token');
  const expiresAt = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires);
  if (more !== undefined || (expires !== undefined && !(TIME.test(expires) && Number.isFinite(expiresAt)))) {
    throw fault('NAME SCOPES sha256:HASH, and perhaps a time such as 2027-01-31T00:00:00Z');
  }
  return { name, scopes: new Set(given), expiresAt, hash: Buffer.from(hex, 'hex') };
}

function bare(path: string, content: string): Entry {
  const token = content.replace(/\r?\n$/, '');
  if (!BARE.test(token)) {
    throw invalid(
      path,
      'one token of 16 to 512 visible ASCII characters on one line, or lines NAME SCOPES sha256:HASH',
      `${token.length} characters`,
    );
  }
  return { name: 'token', scopes: new Set(ALL_SCOPES), expiresAt: Number.POSITIVE_INFINITY, hash: digest(token) };
}

function readContent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const detail = `Expected a readable token file, got ${JSON.stringify(path)}`;
    throw new SignalboxError('CONFIG_INVALID', detail, { cause });
  }
}

/** Equal lengths for the comparison, and nothing in memory that a heap dump could be asked for. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Never says what stands there: it may be a secret in the wrong place. */
function invalid(path: string, expected: string, got: string): SignalboxError {
  const detail = `Expected ${expected} in the token file ${JSON.stringify(path)}, got ${got}`;
  return new SignalboxError('CONFIG_INVALID', detail, { hint: 'signalbox token new NAME --scope classify,run' });
}
