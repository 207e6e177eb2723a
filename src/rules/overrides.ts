import { pointerOf } from '../classifier/problems.ts';

/** The JSON pointers of every `override` in a rule file. */
export function overridesIn(file: object): readonly string[] {
  return search(file, []);
}

function search(value: unknown, path: readonly string[]): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, key];
    return key === 'override' && inner === true ? [pointerOf(here)] : search(inner, here);
  });
}
