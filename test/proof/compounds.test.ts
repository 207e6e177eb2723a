import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compoundsOf, groundsOf, partedCompounds, proveCompounds } from './compounds.ts';
import type { Outcome } from './run.ts';
import { type Services, startServices } from './services.ts';
import { type Grounds, readProof } from './suite.ts';

/** A sample of the proof of compounds; `npm run prove` runs more. */
const DRAWN = 20;
const SEED = 7312;

const set = readProof();
const drawn = compoundsOf(set, DRAWN, SEED);

let services: Services;
let grounds: Grounds;
let before: readonly string[];
let present: readonly string[];
let outcomes: readonly Outcome[];
beforeAll(async () => {
  services = await startServices();
  grounds = groundsOf(set, drawn, services);
  before = Object.values(grounds).map((fixture) => fixture.fingerprint());
  present = partedCompounds(set, drawn).present;
  outcomes = await proveCompounds(set, present, grounds);
}, 300_000);
afterAll(() => {
  for (const fixture of Object.values(grounds ?? {})) fixture.remove();
  services?.close();
});

describe('what the rules call parallel in compound mode only reads', () => {
  test('every program of it, and the bash that runs it', () => {
    expect(outcomes.flatMap(({ command, findings }) => findings.map((one) => `${command}: ${one}`))).toEqual([]);
    expect(outcomes.length).toBe(present.length);
  });

  test('and leaves both repositories as they were, comes upon no trap, and asks nobody for a change', () => {
    expect(Object.values(grounds).map((fixture) => fixture.fingerprint())).toEqual(before);
    expect(Object.values(grounds).flatMap((fixture) => fixture.traps.sprung())).toEqual([]);
    expect(services.changes).toEqual([]);
  });

  test('and most of it is installed, runs and answers', () => {
    expect(present.length).toBeGreaterThan(DRAWN / 2);
    const answered = outcomes.filter(({ result }) => (result.exitCode ?? 255) < 2);
    expect(answered.length).toBeGreaterThan(outcomes.length / 2);
  });

  test('the same compounds are drawn each time, and others with another seed', () => {
    expect(compoundsOf(set, DRAWN, SEED)).toEqual(drawn);
    expect(compoundsOf(set, DRAWN, SEED + 1)).not.toEqual(drawn);
  });
});
