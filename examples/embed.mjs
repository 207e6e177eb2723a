// The library in one page: verdicts, a batch that grows while it runs, results in call order.
// Run it from a clone: node examples/embed.mjs
import { createDispatcher, isConcurrencySafe, loadRules } from 'signalbox';

for (const command of ['git status', 'git push', 'ls src | wc -l'])
  console.log(`${isConcurrencySafe(command) ? 'parallel' : 'serial  '}  ${command}`);

const dispatcher = createDispatcher({ rules: loadRules() });
const batch = dispatcher.open({ maxParallel: 4 });
batch.add('ls -la');
batch.add({ id: 'versions', command: 'git --version', timeoutMs: 5000 });
batch.add('echo "written at $(date)" > /dev/null');
batch.close();

const { commands } = await batch.done;
for (const { id, verdict, exitCode, ranMs } of commands)
  console.log(`${id}: ${verdict.kind}, exit code ${exitCode}, ran ${Math.round(ranMs)} ms`);
await dispatcher.shutdown();
