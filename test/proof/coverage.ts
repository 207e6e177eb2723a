import { examine } from '../../src/classifier/classify.ts';
import type { BinaryRule, NodeRule, OptionRule, Rules, ShapeRule } from '../../src/classifier/compiled.ts';
import { type RuleSet, rulesOf } from '../../src/classifier/rule-set.ts';
import { A_NUMBER } from '../../src/rules/candidates.ts';

/**
 * Which entries of the rules a command rests on: every spelling of an option that was read, the shape that fitted, the
 * node, a word that stands alone. An entry that no command of the proof rests on has never been run.
 */

/** One claim of a rule file. Its key is its place and itself: `git log --graph`, `git log shape 1`. */
export type Entry = {
  readonly key: string;
  readonly binary: string;
  readonly kind: 'option' | 'spelling' | 'shape' | 'alone';
  /** The node's words: `git log`. */
  readonly path: string;
  /** The spelling, or what stands alone; empty for a shape. */
  readonly text: string;
  /** Why no command would be found for it, if none is. */
  readonly whyNot: string;
};

export type Observer = {
  /** Every entry of the rules, in a fixed order. */
  readonly entries: readonly Entry[];
  /** The keys of the entries that a command rests on; empty for what is serial. */
  readonly entriesOf: (command: string) => readonly string[];
};

/** The rules as they are, but with look-ups that are noted. */
export function observe(ruleSet: RuleSet): Observer {
  const rules = rulesOf(ruleSet);
  const entries = new Map<string, Entry>();
  let noted = new Set<string>();
  /** The last shape that was asked: the one that fitted, when one did. */
  let fitting: string | null = null;

  const note = (key: string): void => {
    noted.add(key);
  };
  const add = (entry: Omit<Entry, 'whyNot'>, shapes: readonly ShapeRule[] = []): string => {
    const isPiped =
      rules.binaries.get(entry.binary)?.compoundOnly ||
      (shapes.length > 0 && shapes.every(({ stdin }) => stdin === 'always'));
    const whyNot = isPiped ? 'reads standard input whatever it is given: only behind a pipe' : 'no command was found';
    if (!entries.has(entry.key)) entries.set(entry.key, { ...entry, whyNot });
    return entry.key;
  };

  const ofBinary = (binary: BinaryRule): BinaryRule => {
    const { name } = binary;
    const alone = new Map(
      [...binary.alone].map(([word, proof]) => {
        add({ key: `${name} alone ${word}`, binary: name, kind: 'alone', path: name, text: word });
        return [word, proof] as const;
      }),
    );
    const keep = new NotingMap(alone, (word) => note(`${name} alone ${word}`));
    return { ...binary, alone: keep, root: ofNode(name, binary.root) };
  };

  const ofNode = (binary: string, node: NodeRule): NodeRule => {
    const { path } = node;
    const first = new Map<number, string>();
    for (const [spelling, { id }] of node.options) if (!first.has(id)) first.set(id, spelling);
    const keysOf = (spelling: string, { id }: OptionRule): readonly string[] => [
      add({ key: `${path} option ${first.get(id)}`, binary, kind: 'option', path, text: first.get(id)! }, node.shapes),
      add({ key: `${path} ${spelling}`, binary, kind: 'spelling', path, text: spelling }, node.shapes),
    ];
    const keys = new Map([...node.options].map(([spelling, option]) => [spelling, keysOf(spelling, option)] as const));
    if (node.number !== null) {
      add({ key: `${path} ${A_NUMBER}`, binary, kind: 'option', path, text: A_NUMBER }, node.shapes);
    }
    const noteOption = (spelling: string): void => keys.get(spelling)?.forEach(note);
    return {
      ...node,
      options: new NotingMap(node.options, noteOption),
      letters: new Proxy(node.letters, {
        get(letters, code) {
          const letter = Reflect.get(letters, code);
          if (letter !== undefined && typeof code === 'string' && Number(code) > 0)
            noteOption(`-${String.fromCharCode(Number(code))}`);
          return letter;
        },
      }),
      // Asked again once it is known that there is one, and then only for a word that is one.
      ...(node.number === null ? {} : { number: node.number }),
      shapes: node.shapes.map((shape, index) => {
        const key = add({ key: `${path} shape ${index}`, binary, kind: 'shape', path, text: '' }, [shape]);
        return watched(shape, () => {
          fitting = key;
        });
      }),
      subcommands: new Map([...node.subcommands].map(([word, below]) => [word, ofNode(binary, below)])),
    };
  };

  const observed: Rules = {
    ...rules,
    binaries: new Map([...rules.binaries].map(([name, binary]) => [name, ofBinary(binary)])),
  };
  return {
    entries: [...entries.values()],
    entriesOf: (command) => {
      noted = new Set();
      fitting = null;
      const { verdict, reading } = examine(command, observed, {}, false);
      if (verdict.kind === 'serial') return [];
      if (fitting !== null) noted.add(fitting);
      const number = `${verdict.rule[0]?.path} ${A_NUMBER}`;
      const words = reading.words.map(({ raw }) => raw);
      if (entries.has(number) && words.some(isNumber)) noted.add(number);
      return [...noted];
    },
  };
}

/** `-20` */
function isNumber(raw: string): boolean {
  return raw.length > 1 && raw.startsWith('-') && [...raw.slice(1)].every((digit) => digit >= '0' && digit <= '9');
}

/** A map that tells of what was found in it. */
class NotingMap<Value> extends Map<string, Value> {
  readonly #note: (key: string) => void;

  constructor(map: ReadonlyMap<string, Value>, note: (key: string) => void) {
    super(map);
    this.#note = note;
  }

  override get(key: string): Value | undefined {
    const value = super.get(key);
    if (value !== undefined) this.#note(key);
    return value;
  }
}

/** A shape that tells when its options are asked for. */
function watched(shape: ShapeRule, tell: () => void): ShapeRule {
  return {
    ...shape,
    get with() {
      tell();
      return shape.with;
    },
  };
}
