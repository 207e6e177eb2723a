/** A generator of numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Draws without putting back, in rounds: each round takes one item of every stratum that has any left. So small strata
 * are there whole, and large ones share the rest. The same seed draws the same.
 */
export function drawEvenly<Item>(
  items: readonly Item[],
  stratumOf: (item: Item) => string,
  count: number,
  seed: number,
): readonly Item[] {
  const random = randomFrom(seed);
  const strata = new Map<string, Item[]>();
  for (const item of items) {
    const stratum = stratumOf(item);
    strata.set(stratum, [...(strata.get(stratum) ?? []), item]);
  }
  const names = [...strata.keys()].sort();
  const drawn: Item[] = [];
  while (drawn.length < count && names.some((name) => strata.get(name)!.length > 0)) {
    for (const name of names) {
      const left = strata.get(name)!;
      if (left.length === 0 || drawn.length === count) continue;
      drawn.push(...left.splice(Math.floor(random() * left.length), 1));
    }
  }
  return drawn;
}
