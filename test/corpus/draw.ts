/**
 * Prints rows of the shared corpus that the rules call parallel, for somebody to read one by one against the facts; what
 * was found is in `reading.md`. Drawn evenly over the rules, so that rare ones are read too, and the same for the same
 * seed and rules. `npx tsx test/corpus/draw.ts [simple|compound] [COUNT] [SEED]`
 */
import { loadRules } from '../../src/rules/load.ts';
import '../../scripts/closed-pipe.ts';
import { keyOf } from '../../scripts/snapshot-lines.ts';
import { answer, CORPUS_ROWS, commandsOf } from '../../scripts/snapshot-rows.ts';
import { drawEvenly } from '../proof/sample.ts';

const [mode = 'simple', count = '100', seed = '20261201'] = process.argv.slice(2);
if (mode !== 'simple' && mode !== 'compound') throw new Error(`Expected simple or compound, got ${mode}`);

const rules = loadRules();
const rows = commandsOf(CORPUS_ROWS).map((command) => ({
  command,
  simple: answer(command, rules, 'simple'),
  said: answer(command, rules, mode),
}));
const isParallel = (said: string): boolean => said.startsWith('parallel');
// What compound mode adds is read apart from what simple mode says already.
const parallel = rows.filter(({ said, simple }) => isParallel(said) && (mode === 'simple' || !isParallel(simple)));
const drawn = drawEvenly(parallel, ({ said }) => said, Number(count), Number(seed));
for (const { command, said } of drawn) console.log(`${keyOf(command)}\t${said}\t${JSON.stringify(command)}`);
