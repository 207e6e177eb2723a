import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CORPUS = `${ROOT}../shared/corpus/agent-commands.jsonl`;
const VECTORS = ['parallel', 'hostile'].map((name) => `${ROOT}test/vectors/${name}.jsonl`);

/** Rounds over all commands: the first warm the compiler up and are thrown away. */
const WARM_UP = 5;
const ROUNDS = 15;
/** Calls in a row of one command: the clock is too coarse for one. */
const BURST = 8;

/** What agents really typed when the shared corpus lies beside the project, else the vectors; and which of them it is. */
export function sampleCommands(): { readonly commands: readonly string[]; readonly source: string } {
  const fromCorpus = existsSync(CORPUS);
  const lines = (fromCorpus ? [CORPUS] : VECTORS).flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  const commands = lines.filter((line) => line !== '').map((line): string => JSON.parse(line).cmd);
  return { commands, source: fromCorpus ? 'the shared corpus' : 'the vectors' };
}

/** The median of each command's own best time, in microseconds. */
export function medianOf(commands: readonly string[], ask: (command: string) => unknown): number {
  const best = new Float64Array(commands.length).fill(Number.POSITIVE_INFINITY);
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [index, command] of commands.entries()) {
      const start = process.hrtime.bigint();
      for (let call = 0; call < BURST; call++) ask(command);
      const took = Number(process.hrtime.bigint() - start) / 1000 / BURST;
      if (round >= 0 && took < best[index]!) best[index] = took;
    }
  }
  return best.sort()[best.length >> 1]!;
}

/** Milliseconds of processor time for one call, the best of nine: on a busy machine the clock on the wall counts others. */
export function bestOf(ask: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 9; round++) {
    const before = process.cpuUsage();
    ask();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}
