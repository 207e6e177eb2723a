import { Command, Option } from 'commander';
import type { RunFlags } from './batch-run.ts';
import type { Io } from './io.ts';
import { noDaemonOption, noNetworkOption, trustOption } from './judge.ts';
import { collect, integerBetween, modeOption } from './options.ts';

const EXAMPLES = `
Examples:
  signalbox run examples/inspect.json
  signalbox run --output all batch.json
  signalbox run --format ndjson - < batch.json

The file holds one JSON object, as POST /batches takes it: "commands", and if
wanted "cwd", "mode", "maxParallel", "onFailure", "deadlineMs", "allow". "-" is
standard input. A flag counts more than the file.

In the timeline a command is queued (·), waits or is being prepared (░), and
runs (█).
Exit code: 0 if every command ended with 0, 1 if one did not, 2 if the call or
the file was wrong. Ctrl-C cancels the batch, ends what runs, and still prints
the results; a second one does not wait for what runs to end by itself.`;

/** `signalbox run`: a batch from a file, with its timeline. */
export function runCommand(io: Io): Command {
  return new Command('run')
    .summary('run a batch of commands from a file')
    .description('Runs a batch of commands: reads overlap, anything else runs alone, in order.')
    .argument('<file>', 'a JSON file; - is standard input')
    .addOption(
      new Option('--format <format>', 'text: a timeline; json: the results; ndjson: events as they happen')
        .choices(['text', 'json', 'ndjson'])
        .default('text'),
    )
    .addOption(
      new Option('--output <which>', 'whose output stands below the timeline')
        .choices(['none', 'failed', 'all'])
        .default('failed'),
    )
    .addOption(modeOption())
    .option('--cwd <directory>', 'where the commands run (default: here)')
    .option('--max-parallel <number>', 'commands that run at once (default: 10)', integerBetween(1, 256))
    .addOption(trustOption())
    .addOption(noNetworkOption())
    .addOption(noDaemonOption())
    .option('--rules <path>', 'a further rule file or directory; may be repeated', collect)
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, flags: RunFlags) => {
      // Loaded only when it runs: help and complaints about flags come at once.
      const { runBatchFile } = await import('./batch-run.ts');
      await runBatchFile(io, file, flags);
    });
}
