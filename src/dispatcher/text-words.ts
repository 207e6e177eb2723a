/** Characters of one text that are looked at, with all that its words hold. */
const MAX_CHARS = 65_536;

/** Texts within words within texts: `bash -c "sh -c 'make -C ..'"`. */
const MAX_DEPTH = 4;

/** Where a word ends, outside quotes. */
const SEPARATORS = new Set(' \t\n\r;|&<>()`');

/**
 * Roughly the words of any text for a shell, however odd, with the quotes taken away; a quoted word that is a text of
 * its own is followed by its words. It decides nothing: it only tells which places a text might be about, and a word
 * too many costs a lock too many.
 */
export function* roughWords(text: string): Generator<string> {
  const budget = { chars: MAX_CHARS };
  yield* wordsWithin(text, MAX_DEPTH, budget);
}

function* wordsWithin(text: string, depth: number, budget: { chars: number }): Generator<string> {
  const end = Math.min(text.length, budget.chars);
  budget.chars -= end;
  let word: string | null = null;
  let quote = '';
  let isText = false;
  for (let at = 0; at <= end; at++) {
    const character = at === end ? '' : text.charAt(at);
    if (character === '' || (quote === '' && SEPARATORS.has(character))) {
      if (word !== null) {
        yield word;
        if (isText && depth > 1) yield* wordsWithin(word, depth - 1, budget);
      }
      word = null;
      isText = false;
    } else if (character === '\\' && quote !== "'") {
      const next = at + 1 < end ? text.charAt(++at) : '';
      word = `${word ?? ''}${next === '\n' ? '' : next}`;
    } else if (quote === '' ? character === "'" || character === '"' : character === quote) {
      quote = quote === '' ? character : '';
      word ??= '';
    } else {
      isText ||= SEPARATORS.has(character);
      word = `${word ?? ''}${character}`;
    }
  }
}
