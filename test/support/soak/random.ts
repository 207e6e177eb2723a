/** Numbers that look random and are the same for the same seed. */
export type Random = {
  /** From 0 up to, and not including, 1. */
  readonly real: () => number;
  /** An integer from `least` to `most`, both included. */
  readonly integer: (least: number, most: number) => number;
  /** True so often, of 1. */
  readonly chance: (share: number) => boolean;
  readonly pick: <Value>(values: readonly Value[]) => Value;
  /** One of the keys, as often as its weight says. */
  readonly weighted: <Key extends string>(weights: Readonly<Record<Key, number>>) => Key;
};

/** A stream of its own for each part of a soak, so that any batch can be made again by itself. */
export function randomOf(seed: number, part: number): Random {
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(part + 1, 0x85ebca6b)) | 0;
  // Mulberry32, public domain.
  const real = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  for (let warm = 0; warm < 4; warm++) real();
  const integer = (least: number, most: number): number => least + Math.floor(real() * (most - least + 1));
  return {
    real,
    integer,
    chance: (share) => real() < share,
    pick: (values) => values[integer(0, values.length - 1)] as (typeof values)[number],
    weighted: (weights) => {
      const entries = Object.entries<number>(weights);
      let left = real() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      const found = entries.find(([, weight]) => {
        left -= weight;
        return left < 0;
      });
      return (found ?? entries[0])?.[0] as keyof typeof weights;
    },
  };
}
