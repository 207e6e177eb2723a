import type { RuleValue } from '../rules/schema.ts';
import { isRoot, reachesDevices } from './paths.ts';
import { jqFilter } from './programs/jq.ts';
import { printfFormat } from './programs/printf.ts';
import { sedProgram } from './programs/sed.ts';
import type { ReasonCode } from './verdict.ts';

/** What a value is judged against besides its text. */
export type Place = {
  /** The directory the command works in; see paths.ts. */
  readonly base: string;
  /** Whether the command reads from a pipe, so that `-` is an honest file name. */
  readonly piped: boolean;
};

/** One kind of value. */
export type Kind = {
  /** As the rule file names it, or what it lists; for messages. */
  readonly name: string;
  /** `path`: told to the dispatcher. `directory`: also where the command works from then on. */
  readonly role: 'plain' | 'path' | 'directory';
  /** The words it lists, or what a file says of it; absent for built-in kinds. The loader compares files by it. */
  readonly definition?: readonly string[] | RuleValue;
  /** What is known of the values that it refuses; a note, which never decides. */
  readonly otherwise?: string;
  /** Null when the text is such a value, else why not. */
  readonly refuses: (text: string, place: Place) => ReasonCode | null;
  /** Everything below such a path is read, and everything below the working directory where none is named. */
  readonly walked?: true;
};

const MINUS = 45;
const PLUS = 43;

/** Longest first, so that `KiB` is not read as `K` and `iB`. */
const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'kB', 'KB', 'MB', 'GB', 'TB', 'b', 'k', 'K', 'M', 'G', 'T'];
const MOST_DIGITS = 15;
const ARCHIVES = ['.tgz', '.tar', '.tar.gz'];

const anything = (): null => null;

/** The kinds that need no rule file to define them. */
const BUILT_IN: readonly Kind[] = [
  plain('number', isDigits),
  plain('offset', (text) => isDigits(withoutSign(text))),
  plain('size', (text) => isDigits(withoutUnit(withoutSign(text)))),
  plain('word', isWord),
  plain('name', (text) => isWord(text) && !text.includes('/')),
  { name: 'text', role: 'plain', refuses: anything },
  { name: 'pattern', role: 'plain', refuses: anything },
  plain('revision', isWord),
  plain('dotted-name', (text) => isWord(text) && text.includes('.')),
  plain('package', isPackage),
  { name: 'path', role: 'path', refuses: refusesPath },
  { name: 'tree', role: 'path', refuses: refusesTree, walked: true },
  { name: 'unsigned-path', role: 'path', refuses: refusesUnsignedPath },
  { name: 'local-path', role: 'path', refuses: refusesLocalPath },
  { name: 'directory', role: 'directory', refuses: refusesDirectory },
  program('sed-program', sedProgram),
  program('jq-filter', jqFilter),
  program('printf-format', printfFormat),
];

const BY_NAME: ReadonlyMap<string, Kind> = new Map(BUILT_IN.map((kind) => [kind.name, Object.freeze(kind)]));

/** The names of the built-in kinds, in the order of the documentation. */
export const KIND_NAMES: readonly string[] = Object.freeze([...BY_NAME.keys()]);

/** The built-in kind of this name. */
export function builtInKind(name: string): Kind | undefined {
  return BY_NAME.get(name);
}

/** A kind that is a test of the text alone. */
export function plain(name: string, accepts: (text: string) => boolean): Kind {
  return { name, role: 'plain', refuses: (text) => (accepts(text) ? null : 'VALUE_REFUSED') };
}

/** The same, with what a rule file says of it. */
export function defined(
  name: string,
  definition: readonly string[] | RuleValue,
  accepts: (text: string) => boolean,
): Kind {
  return { ...plain(name, accepts), definition };
}

/** A small language with a parser of its own, which accepts only programs that end and touch nothing. */
function program(name: string, accepts: (text: string) => boolean): Kind {
  return { name, role: 'plain', refuses: (text) => (accepts(text) ? null : 'PROGRAM_REFUSED') };
}

function refusesPath(text: string, place: Place): ReasonCode | null {
  if (text === '-') return place.piped ? null : 'STDIN_READ';
  return refusesName(text, place);
}

/** `+5` and `+f` are options in old clothes for some programs. */
function refusesUnsignedPath(text: string, place: Place): ReasonCode | null {
  return text.charCodeAt(0) === PLUS ? 'VALUE_REFUSED' : refusesPath(text, place);
}

/** Who reads all that is below the root reads devices and what the kernel says of itself, which may block or consume it. */
function refusesTree(text: string, place: Place): ReasonCode | null {
  return refusesPath(text, place) ?? (isRoot(text, place.base) ? 'PATH_DEVICE' : null);
}

/** `host:file` makes some programs start a remote shell. */
function refusesLocalPath(text: string, place: Place): ReasonCode | null {
  return text.includes(':') ? 'VALUE_REFUSED' : refusesPath(text, place);
}

function refusesDirectory(text: string, place: Place): ReasonCode | null {
  return refusesName(text, place);
}

function refusesName(text: string, place: Place): ReasonCode | null {
  if (!isWord(text)) return 'VALUE_REFUSED';
  return reachesDevices(text, place.base, false) ? 'PATH_DEVICE' : null;
}

function isWord(text: string): boolean {
  return text !== '' && text.charCodeAt(0) !== MINUS;
}

/** ASCII digits, few enough that no program can overflow on them. */
export function isDigits(text: string): boolean {
  if (text === '' || text.length > MOST_DIGITS) return false;
  for (let at = 0; at < text.length; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** ASCII only: `toLowerCase` would take the Kelvin sign for a `k`. */
function isLetterOrDigit(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function withoutSign(text: string): string {
  const first = text.charCodeAt(0);
  return first === PLUS || first === MINUS ? text.slice(1) : text;
}

function withoutUnit(text: string): string {
  const unit = UNITS.find((one) => text.endsWith(one));
  return unit === undefined ? text : text.slice(0, -unit.length);
}

/** `name`, `name@version`, `@scope/name@version`: never an address, a path, an archive or `user/repository`. */
function isPackage(text: string): boolean {
  if (ARCHIVES.some((ending) => text.toLowerCase().endsWith(ending))) return false;
  const parts = text.split('/');
  const scope = parts.length === 2 ? parts[0]! : null;
  if (parts.length > 2 || (scope !== null && !(scope.startsWith('@') && isName(scope.slice(1))))) return false;
  const [name, version, more] = parts.at(-1)!.split('@');
  return more === undefined && isName(name!) && (version === undefined || isVersion(version));
}

function isName(text: string): boolean {
  return isLetterOrDigit(text.charCodeAt(0)) && consistsOf(text, '._-');
}

function isVersion(text: string): boolean {
  const number = text.startsWith('^') || text.startsWith('~') ? text.slice(1) : text;
  return isLetterOrDigit(number.charCodeAt(0)) && consistsOf(number, '._-+');
}

function consistsOf(text: string, marks: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (!isLetterOrDigit(text.charCodeAt(at)) && !marks.includes(text[at]!)) return false;
  }
  return true;
}
