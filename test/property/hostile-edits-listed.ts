import { posix } from 'node:path';
import type { RuleData, RuleFile, RuleNode, RuleOption, RuleShape } from '../../src/rules/schema.ts';
import { isValue, type Programs, type Where, type Word } from './hostile-edits-words.ts';

/*
 * A second reading of the rule files, written from docs/rules.md and not from the engine: whether the words that a
 * program would get are in one of the shapes that its file lists. Slower and simpler than the engine, and free to accept
 * more: it sees words without their quotes. What the engine accepts and this does not is a finding.
 */

const SYNTAX = {
  getopt: { clusters: true, joined: true, equals: true, ends: true, stops: false },
  'no-clusters': { clusters: false, joined: true, equals: true, ends: true, stops: false },
  pflag: { clusters: true, joined: true, equals: true, ends: true, stops: false },
  go: { clusters: false, joined: false, equals: true, ends: true, stops: true },
  words: { clusters: false, joined: false, equals: false, ends: false, stops: false },
  spaced: { clusters: true, joined: false, equals: false, ends: true, stops: false },
} as const;

/** One option of a node: the entry, and which of the entries it is. */
type Listed = { readonly spellings: readonly string[]; readonly option: RuleOption };

type Operand = Word & { readonly at: number };

/** What was read at one node. */
type Level = {
  readonly node: RuleNode;
  readonly listed: readonly Listed[];
  readonly used: Set<Listed>;
  readonly roles: string[];
  readonly operands: Operand[];
  where: Where;
  lastOption: number;
  dashes: number;
};

/** As bash hands it over: rule files list `\(` and `'('` as they are typed. */
const unquoted = (spelling: string): string => spelling.replaceAll(/['"\\]/g, '');

export class Reader {
  private readonly file: RuleData;
  private readonly programs: Programs;
  private readonly cwd: string;

  constructor(file: RuleFile, programs: Programs, cwd: string) {
    this.file = file;
    this.programs = programs;
    this.cwd = cwd;
  }

  /** Whether the words, the name of the program among them, are in a shape that the file lists. */
  lists(words: readonly Word[]): boolean {
    const [, only, ...more] = words;
    const alone = Object.keys(this.file.alone ?? {}).flatMap((key) => key.split(/[;,] /));
    if (only !== undefined && more.length === 0 && alone.includes(only.text)) return true;
    if (this.file.only === 'compound') return false;
    if (this.file.builtin && words.slice(1).some(({ text }) => text.includes('['))) return false;
    return this.node(this.file.command, words, 1, 'never', [this.cwd]);
  }

  private node(node: RuleNode, words: readonly Word[], from: number, above: string, where: Where): boolean {
    const stdin = node.stdin ?? above;
    const syntax = SYNTAX[node.syntax ?? this.file.syntax];
    const level: Level = {
      node,
      listed: this.optionsOf(node),
      used: new Set(),
      roles: [],
      operands: [],
      where,
      lastOption: 0,
      dashes: -1,
    };
    let ended = false;
    for (let at = from; at < words.length; at++) {
      const word = words[at]!;
      if (!ended && syntax.ends && node.dashes !== 'text' && word.text === '--') {
        ended = true;
        level.dashes = level.operands.length;
        level.lastOption = at;
        continue;
      }
      const taken = ended ? 'operand' : this.option(level, words, at);
      if (taken === null) return false;
      if (taken !== 'operand') {
        at += taken;
        level.lastOption = at;
        continue;
      }
      if (node.subcommands !== undefined && !ended) {
        const below = Object.entries(node.subcommands).find(([names]) => names.split(', ').includes(word.text));
        return below !== undefined && this.node(below[1], words, at + 1, stdin, level.where);
      }
      level.operands.push({ ...word, at });
      level.roles.push('operand');
      if (syntax.stops) ended = true;
    }
    if (node.delegates !== undefined || !this.isExpression(level)) return false;
    const single = { why: node.why, operands: node.operands, globs: node.globs };
    const shapes = (node.shapes ?? (node.operands === undefined ? [] : [single])) as readonly RuleShape[];
    return shapes.some((shape) => this.fits(level, shape, shape.stdin ?? stdin));
  }

  private optionsOf(node: RuleNode): readonly Listed[] {
    const tables = [...(node.use ?? []).map((name) => this.file.groups![name]!), node.options ?? {}];
    return tables
      .flatMap((table) => Object.entries(table))
      .flatMap(([key, option]) =>
        key.split('; ').map((spellings) => ({ spellings: spellings.split(', ').map(unquoted), option })),
      );
  }

  /** How many words more than its own an option takes, `operand` when the word is none, null when it is not listed. */
  private option(level: Level, words: readonly Word[], at: number): number | 'operand' | null {
    const { text, glob } = words[at]!;
    const name = this.file.syntax === 'go' || level.node.syntax === 'go' ? text.replace(/^--/, '-') : text;
    const find = (spelling: string) => level.listed.find(({ spellings }) => spellings.includes(spelling));
    const exact = find(text) ?? find(name);
    if (exact !== undefined && !glob) return this.used(level, exact, text, words, at);
    if (!text.startsWith('-') || text === '-' || level.node.dashes === 'text') return 'operand';
    if (glob) return null;
    const digits = find('-NUMBER');
    if (digits !== undefined && /^-\d+$/.test(text)) return this.used(level, digits, text, words, at);
    const syntax = SYNTAX[level.node.syntax ?? this.file.syntax];
    const [, key = '', value] = /^(-[^=]+)=(.*)$/s.exec(name) ?? [];
    if (syntax.equals && value !== undefined && (text.startsWith('--') || syntax === SYNTAX.go)) {
      const option = find(key) ?? find(`-${key}`);
      if (option?.option.takes === undefined || option.option.form === 'spaced') return null;
      return this.value(level, option, value) ? 0 : null;
    }
    return text.startsWith('--') ? null : this.cluster(level, words, at);
  }

  private cluster(level: Level, words: readonly Word[], at: number): number | null {
    const { text } = words[at]!;
    const syntax = SYNTAX[level.node.syntax ?? this.file.syntax];
    for (let letter = 1; letter < text.length; letter++) {
      const found = level.listed.find(({ spellings }) => spellings.includes(`-${text[letter]}`));
      if (found === undefined || (letter > 1 && !syntax.clusters)) return null;
      const { takes, optional, form } = found.option;
      const rest = text.slice(letter + 1);
      const behindEquals = syntax === SYNTAX.pflag && rest.startsWith('=');
      const joined = rest !== '' && (!optional || syntax !== SYNTAX.pflag || behindEquals);
      if (takes !== undefined && joined) {
        if (!syntax.joined || form === 'spaced') return null;
        return this.value(level, found, behindEquals ? rest.slice(1) : rest) ? 0 : null;
      }
      if (takes !== undefined && !optional) return this.used(level, found, `-${text[letter]}`, words, at);
      level.used.add(found);
    }
    return 0;
  }

  private used(level: Level, found: Listed, text: string, words: readonly Word[], at: number): number | null {
    const { takes, optional, form } = found.option;
    level.roles.push(text);
    if (takes === undefined || optional) {
      level.used.add(found);
      return 0;
    }
    const next = words[at + 1];
    if (next === undefined || next.glob || form === 'joined') return null;
    return this.value(level, found, next.text) ? 1 : null;
  }

  private value(level: Level, found: Listed, text: string): boolean {
    level.used.add(found);
    const { takes } = found.option;
    if (!isValue(takes!, text, this.file, level.where, this.programs)) return false;
    if (takes === 'directory') level.where = level.where.map((base) => posix.resolve(base, text));
    return true;
  }

  /** Terms, joins and groups in an order that means something. */
  private isExpression({ node: { expression }, roles }: Level): boolean {
    if (expression === undefined) return true;
    const roleOf = (text: string): string => {
      for (const role of ['open', 'close', 'not', 'join', 'leading'] as const)
        if (expression[role]?.map(unquoted).includes(text)) return role;
      return 'term';
    };
    const letters = { open: '(', close: ')', not: '!', join: ',', leading: '^', term: 't', operand: 'o' } as const;
    let shape = roles
      .map((role) => letters[(role === 'operand' ? 'operand' : roleOf(role)) as keyof typeof letters])
      .join('');
    if (expression.operandsFirst && !/^\^*o*[^^o]*$/.test(shape)) return false;
    if (!expression.operandsFirst && !/^\^*[^^]*$/.test(shape)) return false;
    shape = shape.replaceAll(/[\^o]/g, '');
    const join = expression.implicitJoin ? ',?' : ',';
    for (let before = ''; before !== shape; ) {
      before = shape;
      shape = shape
        .replaceAll(/!t/g, 't')
        .replaceAll('(t)', 't')
        .replaceAll(new RegExp(`t${join}t`, 'g'), 't');
    }
    return shape === '' || shape === 't';
  }

  private fits(level: Level, shape: RuleShape, stdin: string): boolean {
    const has = (spelling: string) => [...level.used].some(({ spellings }) => spellings.includes(unquoted(spelling)));
    if (!(shape.with ?? []).every((one) => one.split(' | ').some(has))) return false;
    if ((shape.without ?? []).some(has)) return false;
    const usage = shape.operands ?? [];
    const cut = usage.indexOf('--');
    const parted = cut >= 0 && level.dashes >= 0;
    const lists = parted
      ? [
          { items: usage.slice(0, cut), words: level.operands.slice(0, level.dashes), globs: false },
          { items: usage.slice(cut + 1), words: level.operands.slice(level.dashes), globs: shape.globs === true },
        ]
      : [
          {
            items: cut < 0 ? usage : usage.slice(0, cut),
            words: level.operands,
            globs: shape.globs === true && cut < 0,
          },
        ];
    const last = lists.at(-1)!;
    if (!lists.every(({ items, words, globs }) => this.assigns(level, items, words, globs))) return false;
    if (stdin === 'always') return false;
    return stdin !== 'unless-operand' || last.words.length > leastOf(last.items.slice(0, -1));
  }

  /** Whether the words can be given to the items of a usage line, each as often as it may stand. */
  private assigns(
    level: Level,
    items: readonly (string | readonly string[])[],
    words: readonly Operand[],
    globs: boolean,
  ): boolean {
    const [item, ...others] = items;
    if (item === undefined) return words.length === 0;
    const mark = typeof item === 'string' ? /[?*+]$/.exec(item)?.[0] : undefined;
    const kind = typeof item === 'string' && mark !== undefined ? item.slice(0, -1) : item;
    const most = mark === '*' || mark === '+' ? words.length : 1;
    const unbounded = (mark === '*' || mark === '+') && others.length === 0;
    const least = mark === '?' || mark === '*' ? 0 : 1;
    for (let count = least; count <= most; count++) {
      if (count > words.length) return false;
      const mine = words.slice(0, count);
      if (!mine.every((word) => this.isOperand(level, kind, word, globs && unbounded))) return false;
      if (this.assigns(level, others, words.slice(count), globs)) return true;
    }
    return false;
  }

  private isOperand(
    level: Level,
    kind: string | readonly string[],
    { text, glob, at }: Operand,
    globs: boolean,
  ): boolean {
    if (glob) {
      const plainly = /^[^-*?[\]]/.test(text) && at > level.lastOption;
      const device = [this.cwd, ...level.where].some((base) => mayBeDevice(posix.resolve(base, text)));
      if (!globs || !plainly || device) return false;
    }
    return isValue(kind, text, this.file, level.where, this.programs);
  }
}

/** Whether the first name of a path with globs may be one of the device trees. */
function mayBeDevice(path: string): boolean {
  const [, first = ''] = path.split('/');
  const pattern = first
    .replaceAll(/\[[^\]]*\]?/g, '?')
    .replaceAll(/[^\w*?]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return ['dev', 'proc', 'sys'].some((tree) => new RegExp(`^${pattern}$`).test(tree));
}

function leastOf(items: readonly (string | readonly string[])[]): number {
  return items.filter((item) => typeof item !== 'string' || !/[?*]$/.test(item)).length;
}
