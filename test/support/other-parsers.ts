import bashParser from 'bash-parser';
import shellQuote from 'shell-quote/parse.js';
import { parse as unbash } from 'unbash';

/** How another parser reads a text: the words of one simple command, leading assignments included, or nothing of the kind. */
export type Opinion = readonly string[] | null;

export type OtherParser = {
  readonly name: string;
  /** Texts longer than this are not shown to it. */
  readonly maxChars: number;
  read(text: string): Opinion;
};

export const OTHER_PARSERS: readonly OtherParser[] = [
  { name: 'shell-quote', maxChars: 16_384, read: (text) => readShellQuote(text) },
  // It takes seconds for two thousand backticks.
  { name: 'bash-parser', maxChars: 512, read: (text) => readBashParser(text) },
  { name: 'unbash', maxChars: 16_384, read: (text) => readUnbash(text) },
];

function readShellQuote(text: string): Opinion {
  const words = shellQuote(text, () => ({ op: 'expansion' })).map((entry) =>
    typeof entry === 'object' && 'pattern' in entry ? entry.pattern : entry,
  );
  return words.every((word) => typeof word === 'string') ? words : null;
}

type BashParserWord = { readonly text: string; readonly expansion?: readonly unknown[] };
type BashParserCommand = {
  readonly type: string;
  readonly name?: BashParserWord;
  readonly prefix?: readonly BashParserWord[];
  readonly suffix?: readonly BashParserWord[];
};

function readBashParser(text: string): Opinion {
  const { commands } = bashParser(text) as { readonly commands: readonly BashParserCommand[] };
  const [command, ...more] = commands;
  if (command?.type !== 'Command' || command.name === undefined || more.length > 0) return null;
  const words = [...(command.prefix ?? []), command.name, ...(command.suffix ?? [])];
  return words.some((word) => word.expansion !== undefined) ? null : words.map((word) => word.text);
}

function readUnbash(text: string): Opinion {
  const [statement, ...more] = unbash(text).commands;
  const command = statement?.command;
  if (command?.type !== 'Command' || command.name === undefined || more.length > 0) return null;
  const words: (string | null)[] = [
    ...command.prefix.map((prefix) => (prefix.type === 'Assignment' ? prefix.text : null)),
    command.name.value,
    ...command.suffix.map((suffix) => (suffix.type === 'Word' ? suffix.value : null)),
  ];
  return words.every((word) => word !== null) ? words : null;
}
