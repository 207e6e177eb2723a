import { pointerOf } from '../classifier/problems.ts';

type Open = { readonly keys: Set<string> | null; step: string | number };

/**
 * The JSON pointer of the first key that stands twice in one object, or null. `JSON.parse` keeps the last of two equal
 * keys without a word, and the reviewer might have read the first.
 *
 * @param json text that `JSON.parse` has accepted.
 */
export function duplicateKey(json: string): string | null {
  const open: Open[] = [];
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    const inner = open.at(-1);
    if (character === '{') open.push({ keys: new Set(), step: '' });
    else if (character === '[') open.push({ keys: null, step: 0 });
    else if (character === '}' || character === ']') open.pop();
    else if (character === ',' && typeof inner?.step === 'number') inner.step++;
    else if (character === '"') {
      const end = stringEnd(json, at);
      if (inner?.keys != null && isKey(json, end)) {
        const key: string = JSON.parse(json.slice(at, end));
        inner.step = key;
        if (inner.keys.has(key)) return pointerOf(open.map(({ step }) => step));
        inner.keys.add(key);
      }
      at = end - 1;
    }
  }
  return null;
}

/** The index behind the string that begins at `at`. */
function stringEnd(json: string, at: number): number {
  let end = at + 1;
  while (json[end] !== '"') end += json[end] === '\\' ? 2 : 1;
  return end + 1;
}

function isKey(json: string, end: number): boolean {
  let at = end;
  while (' \t\r\n'.includes(json[at] ?? '"')) at++;
  return json[at] === ':';
}
