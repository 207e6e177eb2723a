import { spellingsOf } from '../../src/classifier/usage.ts';
import type { RuleFile, RuleNode, RuleOption } from '../../src/rules/schema.ts';

/**
 * The programs that a rule lets one command start, by base name: the binary itself, what the nodes on the way to its
 * subcommand name, and what the options name that stand in the command.
 *
 * @param path of the verdict, as words: `git remote get-url`.
 */
export function startsOf(file: RuleFile, path: string, command: string): readonly string[] {
  const words = command.split(' ');
  const named = new Set([file.binary, ...(file.also ?? [])]);
  let node: RuleNode | undefined = file.command;
  for (const word of [null, ...path.split(' ').slice(1)]) {
    if (word !== null) node = subcommandOf(node, word);
    if (node === undefined) break;
    for (const program of node.starts ?? []) named.add(program);
    for (const program of optionsOf(file, node).flatMap((one) => startsOfOption(one, words))) named.add(program);
  }
  return [...named];
}

function subcommandOf(node: RuleNode | undefined, word: string): RuleNode | undefined {
  return Object.entries(node?.subcommands ?? {}).find(([key]) => key.split(', ').includes(word))?.[1];
}

function optionsOf(file: RuleFile, node: RuleNode): readonly (readonly [key: string, option: RuleOption])[] {
  const groups = (node.use ?? []).map((group) => file.groups?.[group] ?? {});
  return [node.options ?? {}, ...groups].flatMap((table) => Object.entries(table));
}

function startsOfOption([key, { starts = [] }]: readonly [string, RuleOption], words: readonly string[]) {
  const stands = spellingsOf(key)
    .flat()
    .some((spelling) => words.some((word) => isSpelled(word, spelling)));
  return stands ? starts : [];
}

/** `--name`, `--name=value`, `-n` alone, with a value or among other letters. */
function isSpelled(word: string, spelling: string): boolean {
  if (word === spelling || word.startsWith(`${spelling}=`)) return true;
  const letter = spelling.length === 2 && spelling.startsWith('-') ? spelling[1]! : null;
  return letter !== null && word.startsWith('-') && !word.startsWith('--') && word.includes(letter);
}
