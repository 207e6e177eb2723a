import { Readable } from 'node:stream';

/**
 * JSON in pieces of bounded length, joined exactly what JSON.stringify writes. A body is made as fast as its reader
 * takes it: whoever reads nothing costs the piece that waits for him and no more.
 */

/** Characters after which a piece is written although more could be added. */
export const PIECE_CHARS = 65_536;

/** Characters of a text that are escaped at a time; each can become six. Shorter ones are written in one go. */
export const SLICE_CHARS = 16_384;

/** An object, of which the fields in `long` are texts that are handed over in parts. */
export function* objectTexts(
  object: object,
  long: ReadonlyMap<string, () => Iterable<string>>,
): Generator<string, void> {
  let before = '{';
  for (const key of Object.keys(object)) {
    const texts = long.get(key);
    if (texts === undefined) {
      const json = JSON.stringify((object as Record<string, unknown>)[key]);
      if (json === undefined) continue;
      yield `${before}${JSON.stringify(key)}:${json}`;
    } else {
      yield `${before}${JSON.stringify(key)}:`;
      yield* texts();
    }
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** A list, of which each element is handed over in parts. */
export function* listTexts<Element>(
  list: Iterable<Element>,
  element: (value: Element) => Iterable<string>,
): Generator<string, void> {
  let before = '[';
  for (const value of list) {
    yield before;
    yield* element(value);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** One string, of texts none of which ends within a surrogate pair. */
export function* stringTexts(texts: Iterable<string>): Generator<string, void> {
  yield '"';
  for (const text of texts) for (const slice of slicesOf(text)) yield JSON.stringify(slice).slice(1, -1);
  yield '"';
}

/** Joins small texts, so that a body is written in few pieces. */
export function* joined(texts: Iterable<string>): Generator<string, void> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** A short body as it is, a long one as a stream that is made while it is read. */
export function bodyOf(texts: Iterable<string>): string | Readable {
  const pieces = joined(texts)[Symbol.iterator]();
  const [first, second] = [pieces.next(), pieces.next()];
  if (second.done === true) return first.done === true ? '' : first.value;
  return Readable.from(restOf(first.value as string, second.value, pieces), { objectMode: false, highWaterMark: 1 });
}

function* restOf(first: string, second: string, pieces: Iterator<string, void>): Generator<string, void> {
  yield first;
  yield second;
  for (let next = pieces.next(); next.done !== true; next = pieces.next()) yield next.value;
}

function* slicesOf(text: string): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    const end = Math.min(text.length, from + SLICE_CHARS);
    // Half of a pair would be written as an escape.
    const isTorn = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const to = isTorn ? end - 1 : end;
    yield text.slice(from, to);
    from = to;
  }
}
