import { displayWidth } from '../classifier/display-width.ts';
import { visibleCharacter } from '../classifier/visible-text.ts';

/**
 * Text of others on a terminal: nothing in it may move the cursor, change colours, hide or reorder what stands beside
 * it, and its width in columns must be known, because the timeline redraws in place.
 */

/** Every character that a terminal acts on, or that a reader cannot see: controls, formats, odd blanks, surrogates. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** In the notation of the classifier's own messages, so that a person sees one character under one name. */
function spellOut(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const shown = visibleCharacter(code);
  return shown === char ? `\\u{${code.toString(16)}}` : shown;
}

/** The text on one line, with every unseen character as something that can be seen: `\n` for LF, `\u{202e}` for a bidi override. */
export function visible(text: string): string {
  let shown = '';
  for (const char of text) shown += char !== ' ' && UNSEEN.test(char) ? spellOut(char) : char;
  return shown;
}

/** Like `visible`, for output of several lines: LF stays, and a tab becomes two blanks. */
export function visibleLines(text: string): string[] {
  return text.split('\n').map((line) => visible(line.replaceAll('\t', '  ')));
}

/** Visible text in exactly `width` columns: filled with blanks, or cut with `…` at its end. */
export function toWidth(text: string, width: number): string {
  const full = displayWidth(text);
  if (full <= width) return text + ' '.repeat(width - full);
  if (width <= 0) return '';
  let kept = '';
  let used = 0;
  for (const char of text) {
    const next = displayWidth(char);
    if (used + next > width - 1) break;
    kept += char;
    used += next;
  }
  return `${kept}…${' '.repeat(width - 1 - used)}`;
}
