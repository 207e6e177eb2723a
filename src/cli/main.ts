#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { VERSION } from '../version.ts';
import { classifyCommand } from './classify.ts';
import { complaint, EXIT, exitCodeOf } from './complaint.ts';
import { doctorCommand } from './doctor.ts';
import { explainCommand } from './explain.ts';
import type { Io } from './io.ts';
import { isReaderGone, openOutput } from './output.ts';
import { planCommand } from './plan.ts';
import { rulesCommand } from './rules-command.ts';
import { runCommand } from './run.ts';
import { serveCommand } from './serve.ts';
import { tokenCommand } from './token.ts';

const EXAMPLES = `
Examples:
  signalbox classify 'git log --oneline -5'
  signalbox explain 'git branch new'
  signalbox plan examples/inspect.json
  signalbox run examples/inspect.json
  signalbox serve --port 7311
  signalbox rules docs git
  signalbox doctor

Exit codes: 0 all went well, 1 something failed, 2 the call was wrong.`;

/** Commander's own messages begin with "error: "; ours with the program's name, like every tool's. */
function sayInOurWords(text: string, command: Command, write: (text: string) => void): void {
  const sentence = text.startsWith('error: ') ? text.slice('error: '.length) : text;
  // A command that was not quoted looks like more arguments, or like options of ours; a bad value of one does not.
  const isAboutQuotes = ONE_TEXT.has(command.name()) && !sentence.startsWith('option ');
  const names = command.parent === null ? 'signalbox' : `${ancestors(command)} ${command.name()}`;
  const hints = [
    ...(isAboutQuotes ? ['The command must be one argument, in quotes.'] : []),
    `${names} --help tells what there is.`,
  ];
  write(`signalbox: ${sentence}${hints.map((hint) => `signalbox: ${hint}\n`).join('')}`);
}

/** The commands that take a text for bash. */
const ONE_TEXT: ReadonlySet<string> = new Set(['classify', 'explain']);

function ancestors({ parent }: Command): string {
  if (parent === null) return '';
  return parent.parent === null ? parent.name() : `${ancestors(parent)} ${parent.name()}`;
}

function buildProgram(io: Io): Command {
  const program = new Command('signalbox')
    .description(
      'Tells whether a shell command may run at the same time as its siblings,\nand runs batches of commands on that answer.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', EXAMPLES);
  for (const command of [
    classifyCommand(io),
    explainCommand(io),
    planCommand(io),
    runCommand(io),
    serveCommand(io),
    tokenCommand(io),
    rulesCommand(io),
    doctorCommand(io),
  ])
    program.addCommand(command.helpOption('-h, --help', 'print this help'));
  for (const command of withSubcommands(program))
    command.exitOverride().configureOutput({ outputError: (text, write) => sayInOurWords(text, command, write) });
  return program;
}

function withSubcommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** Runs one call and returns what the process should end with. */
async function main(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const stdout = openOutput(process.stdout);
  // Nobody reads complaints any more: there is nobody left to tell that.
  process.stderr.on('error', () => undefined);
  const program = buildProgram({
    stdin: process.stdin,
    stdout,
    terminal: process.stdout,
    env: process.env,
    cwd: process.cwd(),
    now: Date.now,
    exitWith: (code) => {
      exitCode = code;
    },
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    process.stderr.write(complaint(error));
    exitCode = exitCodeOf(error);
  }
  if (stdout.closed.aborted && !isReaderGone(stdout.closed.reason)) {
    process.stderr.write(complaint(stdout.closed.reason));
    return EXIT.failed;
  }
  return exitCode;
}

process.exitCode = await main(process.argv.slice(2));
