/**
 * How much a filter of jq can make of its input, so that only those are accepted that come to an end soon: bounds of the
 * form `factor * n ** degree`, where `n` is the size of the input, in values and bytes of strings, and at least one.
 */

export type Bound = { readonly factor: number; readonly degree: number };

/** Of one run of a filter on one input. */
export type Cost = {
  /** How many outputs it has; at least one is counted. */
  readonly count: Bound;
  /** The size of all that it makes on the way, its outputs among it. */
  readonly total: Bound;
};

export const ONE: Bound = { factor: 1, degree: 0 };
/** As much as the input. */
export const INPUT: Bound = { factor: 1, degree: 1 };

/** One output, no larger than the input: `.`, `.name`. */
export const IDENTITY: Cost = { count: ONE, total: INPUT };
/** Every value directly in the input, each once: `.[]`. */
export const EACH: Cost = { count: INPUT, total: INPUT };
/** Every value at any depth, with all below it: `..`. */
export const EVERY: Cost = { count: INPUT, total: { factor: 1, degree: 2 } };

/** The longest that a number or an escaped character becomes as text, in bytes. */
export const AS_TEXT = 32;

/** What an ordinary filter needs is below; every stage that doubles what it is given doubles the factor. */
const MOST_FACTOR = 100_000;
const MOST_DEGREE = 3;

export function isBearable({ total }: Cost): boolean {
  return total.factor <= MOST_FACTOR && total.degree <= MOST_DEGREE;
}

/** A value that does not depend on the input. */
export function constant(size: number): Cost {
  return { count: ONE, total: { factor: Math.max(size, 1), degree: 0 } };
}

/** One output, at most so many times as large as the input. */
export function scaled(factor: number): Cost {
  return { count: ONE, total: { factor, degree: 1 } };
}

/** One step into each output, which makes nothing: `f.name`, `f[0]`, `f?`. */
export function part(f: Cost): Cost {
  return f;
}

/** All values directly in the outputs: `f[]`. */
export function elements({ total }: Cost): Cost {
  return { count: total, total };
}

/** `f | g` */
export function pipe(f: Cost, g: Cost): Cost {
  return { count: summed(g.count, f), total: plus(f.total, summed(g.total, f)) };
}

/** `f, g`, `f // g` */
export function either(f: Cost, g: Cost): Cost {
  return { count: plus(f.count, g.count), total: plus(f.total, g.total) };
}

/** Whatever pairs each output of one with each of the other: `f + g`, `{a: f, b: g}`, `"\(f)\(g)"`. */
export function pair(f: Cost, g: Cost): Cost {
  return {
    count: times(f.count, g.count),
    total: plus(times(g.count, f.total), times(f.count, g.total)),
  };
}

/** `[f]` */
export function collected(f: Cost): Cost {
  return { count: ONE, total: plus(f.total, ONE) };
}

/** For each output of `f`, something that is at most so many times as large as the input. */
export function perOutput(f: Cost, factor: number): Cost {
  return { count: f.count, total: plus(f.total, times(f.count, { factor, degree: 1 })) };
}

/** The cost of `f` with one output, and at most so many times the input besides. */
export function single(f: Cost, factor: number): Cost {
  return { count: ONE, total: plus(f.total, { factor, degree: 1 }) };
}

/** Everything so many times. */
export function repeated(f: Cost, factor: number): Cost {
  return { count: f.count, total: times(f.total, { factor, degree: 0 }) };
}

export function plus(a: Bound, b: Bound): Bound {
  return { factor: a.factor + b.factor, degree: Math.max(a.degree, b.degree) };
}

export function times(a: Bound, b: Bound): Bound {
  return { factor: a.factor * b.factor, degree: a.degree + b.degree };
}

/**
 * A bound for each output of `f`, added up. What grows with the output is at most what it would be for all outputs in
 * one, because `x ** d + y ** d <= (x + y) ** d`.
 */
function summed(bound: Bound, f: Cost): Bound {
  if (bound.degree === 0) return times(bound, f.count);
  return { factor: bound.factor * f.total.factor ** bound.degree, degree: bound.degree * f.total.degree };
}
