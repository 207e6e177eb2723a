/**
 * The syntax of git's configuration files, as git's own reader takes it apart (config.c of 2.39). Whatever that reader
 * would refuse is refused here, and so is what versions read differently; a test holds both against `git config --list`.
 *
 * Texts are Latin-1, a character a byte: git compares bytes, and names need not be UTF-8.
 */

export type ConfigEntry = {
  /** As git prints it: `section.key` or `section.Sub.Section.key`, everything but the subsection in lower case. */
  readonly name: string;
  /** Null for a name without `=`. */
  readonly value: string | null;
  /** The value holds a bare blank other than a space, which git kept from 2.45 on and turned into a space before. */
  readonly isUnsure: boolean;
};

const LF = 0x0a;
const CR = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

/** What may follow a backslash in a value, and what it stands for. */
const ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x74, '\t'],
  [0x62, '\b'],
  [0x6e, '\n'],
  [BACKSLASH, '\\'],
  [QUOTE, '"'],
]);

/** What stands in a configuration file, in its order; null when not all of it is understood. */
export function readGitConfig(text: string): readonly ConfigEntry[] | null {
  // Git would end a value at a NUL.
  if (text.includes('\0')) return null;
  const cursor = new Cursor(text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text);
  const entries: ConfigEntry[] = [];
  let section: string | null = null;
  for (;;) {
    const code = cursor.next();
    if (cursor.ended) return entries;
    if (isBlank(code)) continue;
    if (code === 0x23 || code === 0x3b) cursor.skipLine();
    else if (code === 0x5b) {
      section = readSection(cursor);
      if (section === null) return null;
    } else {
      if (section === null || !isLetter(code)) return null;
      const entry = readEntry(cursor, section, code);
      if (entry === null) return null;
      entries.push(entry);
    }
  }
}

/** Characters as git's reader gets them: CR LF is LF, and an LF stands behind the last one. */
class Cursor {
  readonly #text: string;
  #at = 0;
  ended = false;

  constructor(text: string) {
    this.#text = text;
  }

  next(): number {
    if (this.#at >= this.#text.length) {
      this.ended = true;
      return LF;
    }
    const code = this.#text.charCodeAt(this.#at++);
    if (code !== CR || this.#text.charCodeAt(this.#at) !== LF) return code;
    this.#at++;
    return LF;
  }

  skipLine(): void {
    while (this.next() !== LF);
  }
}

/** Behind `[`: the name up to `]`, or null. */
function readSection(cursor: Cursor): string | null {
  let name = '';
  for (;;) {
    const code = cursor.next();
    if (cursor.ended) return null;
    // An empty name, or one with a dot at an end, is read by git and then found nowhere or refused.
    if (code === 0x5d) return name === '' || name.startsWith('.') || name.endsWith('.') ? null : name;
    if (isBlank(code)) {
      const subsection = readSubsection(cursor, code);
      return subsection === null || name === '' ? null : `${name}.${subsection}`;
    }
    if (!isKeyCharacter(code) && code !== 0x2e) return null;
    name += lower(code);
  }
}

/** Behind the blank in `[name "sub"]`: the text between the quotes, with the bracket read. */
function readSubsection(cursor: Cursor, blank: number): string | null {
  let code = blank;
  do {
    if (code === LF) return null;
    code = cursor.next();
  } while (isBlank(code));
  if (code !== QUOTE) return null;
  let subsection = '';
  for (;;) {
    code = cursor.next();
    if (code === QUOTE) return cursor.next() === 0x5d ? subsection : null;
    if (code === BACKSLASH) code = cursor.next();
    if (code === LF) return null;
    subsection += String.fromCharCode(code);
  }
}

function readEntry(cursor: Cursor, section: string, first: number): ConfigEntry | null {
  let key = lower(first);
  let code = cursor.next();
  while (!cursor.ended && isKeyCharacter(code)) {
    key += lower(code);
    code = cursor.next();
  }
  while (code === SPACE || code === TAB) code = cursor.next();
  const name = `${section}.${key}`;
  if (code === LF) return { name, value: null, isUnsure: false };
  return code === 0x3d ? readValue(cursor, name) : null;
}

function readValue(cursor: Cursor, name: string): ConfigEntry | null {
  let value = '';
  let blanks = 0;
  let isOdd = false;
  let isUnsure = false;
  let isQuoted = false;
  for (;;) {
    let code = cursor.next();
    if (code === LF) return isQuoted ? null : { name, value, isUnsure };
    if (!isQuoted && isBlank(code)) {
      if (value !== '') blanks++;
      isOdd ||= code !== SPACE;
      continue;
    }
    if (!isQuoted && (code === 0x23 || code === 0x3b)) {
      cursor.skipLine();
      return { name, value, isUnsure };
    }
    if (blanks > 0) {
      value += ' '.repeat(blanks);
      isUnsure ||= isOdd;
      blanks = 0;
    }
    isOdd = false;
    if (code === QUOTE) isQuoted = !isQuoted;
    else if (code === BACKSLASH) {
      code = cursor.next();
      if (code === LF) continue;
      const escaped = ESCAPES.get(code);
      if (escaped === undefined) return null;
      value += escaped;
    } else value += String.fromCharCode(code);
  }
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB || code === LF || code === CR;
}

function isLetter(code: number): boolean {
  const folded = code | 0x20;
  return folded >= 0x61 && folded <= 0x7a;
}

function isKeyCharacter(code: number): boolean {
  return isLetter(code) || (code >= 0x30 && code <= 0x39) || code === 0x2d;
}

function lower(code: number): string {
  return String.fromCharCode(isLetter(code) ? code | 0x20 : code);
}
