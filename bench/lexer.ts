/**
 * How long the reading of a text takes, and whether it stays linear. Run: `npx tsx bench/lexer.ts`. A figure, not a
 * test: the machine decides it.
 */
import { fileURLToPath } from 'node:url';
import parse from 'shell-quote/parse.js';
import { lex } from '../src/classifier/lexer.ts';
import { bestOf, medianOf, sampleCommands } from './measure.ts';

const MEGABYTE = 1_048_576;
const LIMITS = { maxChars: 4 * MEGABYTE, maxWords: 4 * MEGABYTE };

/** Each makes every character cost as much as it can; behind the name, what is repeated. */
const ALPHABETS: readonly (readonly [name: string, piece: string, before?: string, after?: string])[] = [
  ['letters', 'a'],
  ['words of one letter', 'a '],
  ['blanks', ' \t'],
  ['escapes', '\\a'],
  ['empty quotes', "''"],
  ['quotes of both kinds', '\'a\'"b"'],
  ['one quote of operators', ';|&<>()', "'", "'"],
  ['escapes within quotes', '\\"', '"', '"'],
  ['backslashes that stay', '\\a', '"', '"'],
  ['globs', '*?['],
  ['revision braces', '@{u}'],
  ['dots and revision braces', '.@{0}'],
  ['hashes and tildes', 'a#~!^='],
  ['letters beyond ASCII', 'é'],
  ['pairs of surrogates', '😀'],
  ['a quote left open', 'a', "'"],
  ['a brace left open', 'a', '@{'],
  ['digits before a redirection', '1', '', '>'],
  ['operators', ';'],
];

export function benchLexer(): void {
  const { commands, source } = sampleCommands();
  const simple = commands.filter((command) => lex(command).ok);
  const ours = medianOf(simple, (command) => lex(command));
  const theirs = medianOf(simple, (command) => parse(command, () => ''));
  console.log(`${simple.length} simple commands of ${source}, median per command`);
  console.log(`  lex                  ${ours.toFixed(2)} µs`);
  console.log(`  shell-quote parse    ${theirs.toFixed(2)} µs  (${(theirs / ours).toFixed(1)} times as long)\n`);

  console.log('1 MB and 2 MB of one alphabet, limits raised');
  for (const [name, piece, before = '', after = ''] of ALPHABETS) {
    const text = (length: number) => `ls ${before}${piece.repeat(length / piece.length)}${after}`;
    const [small, large] = [text(MEGABYTE), text(2 * MEGABYTE)];
    const once = bestOf(() => readAll(small));
    const twice = bestOf(() => readAll(large));
    const took = `${once.toFixed(1).padStart(7)} ms ${twice.toFixed(1).padStart(7)} ms  × ${(twice / once).toFixed(2)}`;
    console.log(`  ${name.padEnd(28)} ${took}  ${readAll(small).ok ? 'accepted' : 'refused'}`);
  }
}

/** Reads the text and then each word, because strings that were put together are only flattened when they are used. */
function readAll(text: string): { readonly ok: boolean } {
  const lexed = lex(text, LIMITS);
  for (const word of lexed.words) word.text.charCodeAt(word.text.length - 1);
  return lexed;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) benchLexer();
