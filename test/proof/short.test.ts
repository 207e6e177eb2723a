import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Candidate, CORPUS_DRAWN, hasCorpus } from './commands.ts';
import { affected, type Comparison, compare, withoutSettings } from './profiles.ts';
import { drawEvenly } from './sample.ts';
import { type Services, startServices } from './services.ts';
import { type Grounds, groundsFor, type Proved, parted, proveAll, readProof, withEveryOption } from './suite.ts';

/**
 * The short form of the proof by execution: of all commands that the rules call parallel some are drawn from every file
 * by a fixed seed, and run under strace as the dispatcher runs them. `npm run prove` runs every one.
 */

/** Commands that are run under strace, and those that are run with and without their profile. */
const DRAWN = 260;
const OPTIONS_DRAWN = 100;
const COMPARED = 30;
const SEED = 7311;

const set = readProof();
const options = withEveryOption(set, { most: OPTIONS_DRAWN, seed: SEED, spellings: true }).candidates.slice(
  set.candidates.length,
);
const drawn = [...drawEvenly(set.candidates, ({ binary }) => binary, DRAWN, SEED), ...options];
const binaries = [...new Set(drawn.map(({ binary }) => binary))].sort();

let services: Services;
let grounds: Grounds;
let before: readonly string[];
let proved: readonly Proved[];
let missing: readonly Candidate[];
beforeAll(async () => {
  services = await startServices();
  grounds = groundsFor({ ...set, candidates: drawn }, services, true);
  before = fingerprints();
  const parts = parted({ ...set, candidates: drawn });
  missing = parts.missing;
  proved = await proveAll(set, parts.present, grounds);
}, 600_000);
afterAll(() => {
  for (const fixture of Object.values(grounds ?? {})) fixture.remove();
  services?.close();
});

function fingerprints(): readonly string[] {
  return Object.values(grounds).map((fixture) => fixture.fingerprint());
}

describe('what the rules call parallel only reads', () => {
  test.each(binaries)('%s', (binary) => {
    const own = proved.filter((one) => one.binary === binary);
    const faults = own.flatMap(({ command, outcome }) => outcome.findings.map((one) => `${command}: ${one}`));
    expect(faults).toEqual([]);
    // What is not installed is not green: the last of these tests names it.
    const isOwn = (one: Candidate): boolean => one.binary === binary;
    expect(own.length + missing.filter(isOwn).length).toBe(drawn.filter(isOwn).length);
  });

  test('and leaves both repositories as they were, to the last time stamp', () => {
    expect(fingerprints()).toEqual(before);
  });

  test('comes upon no trap, and asks nobody for a change', () => {
    expect(Object.values(grounds).flatMap((fixture) => fixture.traps.sprung())).toEqual([]);
    expect(services.changes).toEqual([]);
  });

  test('and answers: an example that a person wrote proves nothing where it only fails', () => {
    const failed = proved.filter(({ source, outcome }) => source === 'example' && (outcome.result.exitCode ?? 255) > 1);
    const written = proved.filter(({ source }) => source === 'example');
    expect(failed.length / written.length, failed.map(({ command }) => command).join('\n')).toBeLessThan(0.05);
  });

  test('on whatever is installed, which is named', () => {
    const lacking = parted(set).missing;
    const names = [...new Set(lacking.map(({ binary }) => binary))];
    if (names.length > 0) console.warn(`not installed, ${lacking.length} commands not proved: ${names.join(', ')}`);
    if (!hasCorpus()) console.warn(`no corpus beside the project: ${CORPUS_DRAWN} commands not proved`);
    const everywhere = ['cat', 'find', 'git', 'grep', 'head', 'ls', 'npm', 'sed', 'sort', 'tail', 'wc'];
    expect(everywhere.filter((name) => !proved.some(({ binary }) => binary === name))).toEqual([]);
    expect(proved.length).toBeGreaterThan(missing.length);
  });
});

// Each is run twice, one after the other: on a busy machine that takes a while.
test('a profile does not change what a command answers', { timeout: 300_000 }, async () => {
  const chosen = affected(parted(set).present, set.rules);
  const without = withoutSettings(set.rules);
  const plain = groundsFor({ ...set, candidates: chosen }, services, false);
  try {
    const differing: [string, Comparison][] = [];
    for (const { command } of drawEvenly(chosen, ({ binary }) => binary, COMPARED, SEED)) {
      const comparison = await compare(command, plain, set.rules, without);
      if (comparison.kind === 'differs') differing.push([command, comparison]);
    }
    expect(chosen.length).toBeGreaterThan(COMPARED);
    expect(differing).toEqual([]);
  } finally {
    for (const fixture of Object.values(plain)) fixture.remove();
  }
});
