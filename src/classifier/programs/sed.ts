/**
 * The programs of sed that can only print and must end. Everything outside this grammar is refused:
 *
 *     program  = { ";" | blank } item { separator item }        at least one command
 *     item     = [ address [ "," second ] ] [ "!" ] command  |  [ address [ "," second ] ] [ "!" ] "{"  |  "}"
 *     command  = "p" | "d" | "q" | "Q" | "=" | "n"  |  "s" delim regex delim replacement delim { "g" "p" "i" "I" "m" "M" 0-9 }
 *     address  = number [ "~" number ]  |  "$"  |  "/" regex "/" { "I" | "M" }  |  "\" delim regex delim { "I" | "M" }
 *     second   = address | "+" number | "~" number
 *
 * A separator is a semicolon; before "}" and after "{" none is needed. A blank is a space or a tab. Left out on purpose:
 * `w W e r R` and the flags `w e` (files, programs), `b t T D :` (loops), `a i c` and `#` (their text reaches to the end
 * of the line, and `a\` at the end of one `-e` continues in the next), the hold space (`G;h` doubles what it holds with
 * every line). So each `-e` is a whole program, and joining several with newlines, as sed does, joins whole programs.
 *
 * Where a regex ends is the one thing on which versions of sed differ: 4.9 reads on past a delimiter inside a bracket
 * expression, 4.8 stops there. `pastRegex` accepts only text on which both readings agree.
 */

/** What the functions below return when the text is not of the grammar; otherwise the index after what they read. */
const REFUSED = -1;

const BLANKS = ' \t';
const SEPARATORS = ' \t;';
const COMMANDS = 'pdqQ=n';
const SUBSTITUTE_FLAGS = 'gpiImM0123456789';
const ADDRESS_FLAGS = 'IM';
const DIGITS = '0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
/** Without the backslash and the characters that open, negate or close a bracket expression. */
const DELIMITERS = '/|,#:@!%_+=~-.*?()$&<>;"\'`';

/**
 * Whether the text is a sed program of the grammar above, in GNU sed with or without `-E`, `-n`, `-s`, `-z`, `--posix`.
 * Linear in the text, and total: any string has an answer. Facts: tried against `sed --sandbox --debug` 4.9.
 */
export function sedProgram(text: string): boolean {
  if (!readsTheSameEverywhere(text)) return false;
  let at = skip(text, 0, SEPARATORS);
  let open = 0;
  let commands = 0;
  while (at < text.length) {
    if (text[at] === '}') {
      if (open === 0) return false;
      open -= 1;
      at += 1;
    } else {
      at = pastAddresses(text, at);
      if (at === REFUSED) return false;
      if (text[at] === '{') {
        open += 1;
        at = skip(text, at + 1, SEPARATORS);
        continue;
      }
      at = pastCommand(text, at);
      if (at === REFUSED) return false;
      commands += 1;
    }
    at = skip(text, at, BLANKS);
    const next = text[at];
    if (next === ';') at = skip(text, at, SEPARATORS);
    else if (next !== undefined && next !== '}') return false;
  }
  return open === 0 && commands > 0;
}

/**
 * No control character but the tab, and no character whose bytes a multi-byte locale could join with the one after it:
 * in Big5, GBK, GB18030 and Shift_JIS letters, digits, `|`, `\` and `}` may be the second byte of a character, and
 * space to slash and colon to question mark never are.
 */
function readsTheSameEverywhere(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return false;
    if (code > 0x7f && !neverJoins(text.charCodeAt(at + 1))) return false;
  }
  return true;
}

function neverJoins(code: number): boolean {
  return (code >= 0x20 && code <= 0x2f) || (code >= 0x3a && code <= 0x3f) || code > 0x7f;
}

function pastAddresses(text: string, start: number): number {
  let at = pastAddress(text, start);
  if (at === REFUSED) return REFUSED;
  if (at > start) {
    at = skip(text, at, BLANKS);
    if (text[at] === ',') {
      at = pastSecond(text, skip(text, at + 1, BLANKS));
      if (at === REFUSED) return REFUSED;
      at = skip(text, at, BLANKS);
    }
  }
  return text[at] === '!' ? skip(text, at + 1, BLANKS) : at;
}

/** The index itself when there is no address at it. */
function pastAddress(text: string, start: number): number {
  const first = text[start];
  if (first === '$') return start + 1;
  if (first === '/') return pastAddressRegex(text, start + 1, '/');
  if (first === '\\') return pastAddressRegex(text, start + 2, text[start + 1]);
  const at = skip(text, start, DIGITS);
  return at > start && text[at] === '~' ? pastNumber(text, at + 1) : at;
}

function pastSecond(text: string, start: number): number {
  const first = text[start];
  if (first === '+' || first === '~') return pastNumber(text, start + 1);
  const at = pastAddress(text, start);
  return at > start ? at : REFUSED;
}

function pastAddressRegex(text: string, start: number, delimiter: string | undefined): number {
  if (!isDelimiter(delimiter)) return REFUSED;
  const at = pastRegex(text, start, delimiter);
  return at === REFUSED ? REFUSED : skip(text, at, ADDRESS_FLAGS);
}

function pastNumber(text: string, start: number): number {
  const at = skip(text, start, DIGITS);
  return at > start ? at : REFUSED;
}

function pastCommand(text: string, start: number): number {
  const name = text[start];
  if (name === undefined) return REFUSED;
  if (COMMANDS.includes(name)) return start + 1;
  if (name === 's') return pastSubstitute(text, start + 1);
  return REFUSED;
}

function pastSubstitute(text: string, start: number): number {
  const delimiter = text[start];
  if (!isDelimiter(delimiter)) return REFUSED;
  const middle = pastRegex(text, start + 1, delimiter);
  if (middle === REFUSED) return REFUSED;
  const end = pastReplacement(text, middle, delimiter);
  return end === REFUSED ? REFUSED : skip(text, end, SUBSTITUTE_FLAGS);
}

/** Past the delimiter that ends the regex in every reading; see the head of this file. */
function pastRegex(text: string, start: number, delimiter: string): number {
  let at = start;
  while (at < text.length) {
    const char = text[at];
    if (char === delimiter) return at + 1;
    if (char === '[') {
      at = pastBracket(text, at, delimiter);
      if (at === REFUSED) return REFUSED;
    } else if (char === '\\') {
      // `\c` takes the character after it, a backslash included, in some versions and not in others.
      if (text[at + 1] === 'c') return REFUSED;
      at += 2;
    } else at += 1;
  }
  return REFUSED;
}

/**
 * Past the `]` that closes the bracket expression. The delimiter may stand in it only behind a backslash: 4.8 takes the
 * pair for an escape, 4.9 for two members, and both read on. `[.x.]` and `[=x=]` are refused, `[:name:]` is read.
 */
function pastBracket(text: string, start: number, delimiter: string): number {
  let at = start + 1;
  if (text[at] === '^') at += 1;
  if (text[at] === ']') at += 1;
  while (at < text.length) {
    const char = text[at];
    const next = text[at + 1];
    if (char === delimiter) return REFUSED;
    if (char === ']') return at + 1;
    if (char === '[' && (next === '.' || next === '=')) return REFUSED;
    if (char === '[' && next === ':') {
      at = pastClass(text, at + 2, delimiter);
      if (at === REFUSED) return REFUSED;
    } else if (char === '\\' && next !== ']' && next !== '[') at += 2;
    else at += 1;
  }
  return REFUSED;
}

function pastClass(text: string, start: number, delimiter: string): number {
  const at = skip(text, start, LOWER);
  return delimiter !== ':' && text[at] === ':' && text[at + 1] === ']' ? at + 2 : REFUSED;
}

function pastReplacement(text: string, start: number, delimiter: string): number {
  let at = start;
  while (at < text.length) {
    const char = text[at];
    if (char === delimiter) return at + 1;
    if (char === '\\' && text[at + 1] === 'c') return REFUSED;
    at += char === '\\' ? 2 : 1;
  }
  return REFUSED;
}

function isDelimiter(char: string | undefined): char is string {
  return char !== undefined && DELIMITERS.includes(char);
}

function skip(text: string, start: number, chars: string): number {
  let at = start;
  while (at < text.length && chars.includes(text.charAt(at))) at += 1;
  return at;
}
