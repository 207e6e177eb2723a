// The checks of a CI job through a service: those that only read overlap, the others run alone, the first failure stops the
// rest, and the job fails with it. Start `signalbox serve` where the checkout is, then: node examples/ci-list.mjs [address]
import { createClient } from 'signalbox/client';

const checks = [
  { id: 'merge markers', command: "! grep -rn '^<<<<<<< ' --include='*.ts' ." },
  { id: 'sources', command: "find . -name '*.ts' -type f" },
  { id: 'build', command: 'mkdir -p out && echo built > out/stamp' },
  { id: 'size', command: 'du -s out' },
];

const client = createClient({ url: process.argv[2] ?? 'http://127.0.0.1:7311', token: process.env.SIGNALBOX_TOKEN });
const { commands } = await client.run({ commands: checks, mode: 'compound', onFailure: 'stop' });

for (const { id, state, exitCode, stderr, ranMs } of commands) {
  const isGood = state === 'exited' && exitCode === 0;
  console.log(
    `${isGood ? 'ok  ' : 'FAIL'}  ${id}: ${state} ${exitCode ?? ''} ${ranMs === null ? '' : `${Math.round(ranMs)} ms`}`,
  );
  if (!isGood) process.exitCode = 1;
  if (!isGood && stderr !== '') console.log(stderr.trimEnd().replaceAll(/^/gm, '      '));
}
