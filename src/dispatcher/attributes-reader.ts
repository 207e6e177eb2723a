/** The attributes whose values can select a program. */
const SELECTING = ['diff=', 'filter='];

/**
 * Everything that an attributes file gives as a value to `diff` or `filter`, as `diff=NAME`. More than git would see is
 * told, never less: patterns, quotes, macros and what overrides what are not looked at, nor where a name begins.
 *
 * @param text Latin-1, a character a byte.
 */
export function readAttributes(text: string): ReadonlySet<string> {
  const selected = new Set<string>();
  for (const line of text.split('\n')) {
    if (isComment(line)) continue;
    for (const lead of SELECTING) {
      for (let at = line.indexOf(lead); at >= 0; at = line.indexOf(lead, at + 1)) {
        selected.add(line.slice(at, endOfWord(line, at)));
      }
    }
  }
  return selected;
}

function isComment(line: string): boolean {
  let at = 0;
  while (at < line.length && isBlank(line.charCodeAt(at))) at++;
  return line[at] === '#';
}

function endOfWord(line: string, from: number): number {
  let at = from;
  while (at < line.length && !isBlank(line.charCodeAt(at))) at++;
  return at;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d;
}
