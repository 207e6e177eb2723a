import { Command, Option } from 'commander';
import type { Io } from './io.ts';
import { collect } from './options.ts';
import type { DocsFlags, ListFlags, NewFlags } from './rule-files.ts';

const EXAMPLES = `
Examples:
  signalbox rules list
  signalbox rules docs git
  signalbox rules new frobnicate
  signalbox rules check frobnicate.json`;

const LIST_EXAMPLES = `
Examples:
  signalbox rules list
  signalbox rules list --rules my-rules --format json`;

const CHECK_EXAMPLES = `
Examples:
  signalbox rules check
  signalbox rules check frobnicate.json my-rules/

Without a file: the built-in rules. A file of your own may add a binary, or say
less than the built-in file of that name. Of a file that is named, each entry is
changed in turn too: what no example notices may be wrong without anybody seeing
it. Exit code: 0 if every file is fine, 1 if one is not.`;

const NEW_EXAMPLES = `
Examples:
  signalbox rules new frobnicate
  signalbox rules new frobnicate --out my-rules`;

const DOCS_EXAMPLES = `
Examples:
  signalbox rules docs git
  signalbox rules docs --out pages
  signalbox rules docs --rules my-rules frobnicate

Without a name: the page that lists all rules. With --out: files, one a rule.`;

const rulesOption = (): Option =>
  new Option('--rules <path>', 'a further rule file or directory; may be repeated').argParser(collect);

/** `signalbox rules`: shows, checks and starts rule files. Nothing is classified, and nothing is run. */
export function rulesCommand(io: Io): Command {
  // Loaded only when one runs: help and complaints about flags come at once.
  const files = () => import('./rule-files.ts');
  const list = new Command('list')
    .summary('list the rules')
    .description('Lists what has a rule: names, state, origin, profile and effects.')
    .addOption(new Option('--format <format>', 'text or json').choices(['text', 'json']).default('text'))
    .addOption(rulesOption())
    .addHelpText('after', LIST_EXAMPLES)
    .action(async (flags: ListFlags) => (await files()).listRules(io, flags));
  const check = new Command('check')
    .summary('check rule files')
    .description('Checks rule files: their form, what they name, their own examples.')
    .argument('[files...]', 'rule files, or directories of them')
    .addHelpText('after', CHECK_EXAMPLES)
    .action(async (paths: readonly string[]) => (await files()).checkRules(io, paths));
  const start = new Command('new')
    .summary('start a rule file')
    .description('Writes NAME.json, which fails its check until it is filled in.')
    .argument('<name>', 'the bare name of the program')
    .option('--out <directory>', 'where to write it (default: here)')
    .option('--override', 'of a name that is known to be unsafe')
    .addHelpText('after', NEW_EXAMPLES)
    .action(async (name: string, flags: NewFlags) => (await files()).startRules(io, name, flags));
  const docs = new Command('docs')
    .summary('print what a rule allows')
    .description('Prints the page of a rule, in Markdown: all that it allows, and why.')
    .argument('[name]', 'a name that has a rule')
    .option('--out <directory>', 'write the page, or all pages, as files there')
    .addOption(rulesOption())
    .addHelpText('after', DOCS_EXAMPLES)
    .action(async (name: string | undefined, flags: DocsFlags) => (await files()).printDocs(io, name, flags));
  const command = new Command('rules')
    .summary('list, check, start and document rule files')
    .description('Lists, checks, starts and documents rule files. Runs nothing.')
    .addHelpText('after', EXAMPLES);
  for (const one of [list, check, start, docs]) command.addCommand(one.helpOption('-h, --help', 'print this help'));
  return command;
}
