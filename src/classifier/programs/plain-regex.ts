/**
 * The regexes that a backtracking library finds or does not find in little time: characters, `.`, classes, anchors,
 * `\` and one of its letters, groups and alternatives without repetition, and at most two of `*`, `+`, `?` behind a single
 * character, class or `.`. So there are at most three ends to try for every beginning, and nothing is tried twice.
 */

const MOST_REPETITIONS = 2;
const REPETITIONS = '*+?';
/** Behind a backslash: themselves, or classes and anchors; never a digit, which would refer to a group. */
const ESCAPED = '.*+?^$|()[]{}/\\-dDwWsSbBntr';
const CLOSED = '{}';

/** Whether the text is such a regex, in the syntax of Oniguruma and of PCRE. Linear; total. */
export function plainRegex(text: string): boolean {
  let repetitions = 0;
  let open = 0;
  /** Whether what stands before is one character wide, so that it may be repeated. */
  let narrow = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (REPETITIONS.includes(char)) {
      repetitions += 1;
      if (!narrow || repetitions > MOST_REPETITIONS) return false;
      narrow = false;
    } else if (char === '(') {
      if (text[at + 1] === '?') return false;
      open += 1;
      narrow = false;
    } else if (char === ')') {
      open -= 1;
      if (open < 0) return false;
      narrow = false;
    } else if (char === '[') {
      const end = pastClass(text, at);
      if (end < 0) return false;
      at = end - 1;
      narrow = true;
    } else if (char === '\\') {
      at += 1;
      if (at === text.length || !ESCAPED.includes(text[at]!)) return false;
      narrow = !'bB'.includes(text[at]!);
    } else if (CLOSED.includes(char)) return false;
    else narrow = char !== '|' && char !== '^' && char !== '$';
  }
  return open === 0;
}

/** `[abc]`, `[^a-z\\d]`: no class inside a class, and no `&&`. */
function pastClass(text: string, start: number): number {
  let at = start + 1;
  if (text[at] === '^') at += 1;
  const first = at;
  for (; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === ']') return at > first ? at + 1 : -1;
    if (char === '[' || char === '&') return -1;
    if (char === '\\') {
      at += 1;
      if (at === text.length || !ESCAPED.includes(text[at]!)) return -1;
    }
  }
  return -1;
}
