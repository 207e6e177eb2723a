import { Command, Option } from 'commander';
import type { DoctorFlags } from './doctor-run.ts';
import type { Io } from './io.ts';
import { collect } from './options.ts';

const EXAMPLES = `
Examples:
  signalbox doctor
  signalbox doctor --format json --cwd /srv/repo

It starts bash, and of the programs that have a rule those that are proved,
with --version and nothing else; --no-versions starts only bash.
Exit code: 0 if everything that the rules prove is proved here, 1 if something
makes commands serial, 2 if the call was wrong.`;

/** `signalbox doctor`: what a parallel run rests on here, and what becomes serial because of what was found. */
export function doctorCommand(io: Io): Command {
  return new Command('doctor')
    .summary('show what makes commands serial on this machine')
    .description('Shows what a parallel run rests on here, and what becomes serial because of it.')
    .addOption(new Option('--format <format>', 'text or json').choices(['text', 'json']).default('text'))
    .option('--cwd <directory>', 'where commands would run (default: here)')
    .option('--all', 'a row for every program, also where there is nothing to tell')
    .option('--no-versions', 'do not ask programs for their versions')
    .option('--rules <path>', 'a further rule file or directory; may be repeated', collect)
    .addHelpText('after', EXAMPLES)
    .action(async (flags: DoctorFlags) => {
      // Loaded only when it runs: help and complaints about flags come at once.
      const { runDoctor } = await import('./doctor-run.ts');
      await runDoctor(io, flags);
    });
}
