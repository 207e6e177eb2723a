import type { Asked, Expected } from './evidence.ts';
import type { Random } from './random.ts';
import { contentOf, FILES, fileOf, LINES, lineOf, TREES, type Tree } from './trees.ts';

/** What a command does, before it is dressed for a batch. */
export type Deed = Omit<Asked, 'name' | 'id'>;

const NOTHING: Expected = { kind: 'exact', text: '' };

/** A deed that reads: everything that a proof should know, unless something in the tree has changed meanwhile. */
export function readingDeed(random: Random, name: string, tree: Tree, isCompound: boolean): Deed {
  const kind = random.weighted({
    plain: 10,
    git: tree.isRepository ? 6 : 0,
    seat: 4,
    away: 1,
    compound: isCompound ? 8 : 0,
  });
  switch (kind) {
    case 'plain':
      return plainReading(random, name, tree);
    case 'git':
      return gitReading(random, tree);
    case 'seat':
      return seatReading(random, tree);
    case 'away':
      return awayReading(random, tree);
    case 'compound':
      return compoundReading(random, name, tree);
  }
}

type Told = { readonly stdout?: Expected; readonly stderr?: Expected; readonly exits?: readonly number[] };

function reading(
  tree: Tree,
  command: string,
  { stdout = NOTHING, stderr = NOTHING, exits = [0] }: Told,
  reads: readonly string[] = [],
): Deed {
  const fields = { cwd: tree.path };
  return { command, fields, verdict: 'parallel', places: tree.places, reads, exits, stdout, stderr, records: 'none' };
}

const exactly = (text: string): Told => ({ stdout: { kind: 'exact', text } });

function plainReading(random: Random, name: string, tree: Tree): Deed {
  const number = random.integer(1, LINES);
  const file = random.integer(0, FILES - 1);
  const line = lineOf(number, tree.name);
  const word = line.slice(0, 9);
  const makers: readonly (() => Deed)[] = [
    () => reading(tree, `echo ${name}`, exactly(`${name}\n`)),
    () => reading(tree, `printf '%s and %s\\n' ${name} 'a b'`, exactly(`${name} and a b\n`)),
    () => reading(tree, `grep -n ${word} lines.txt`, exactly(`${number}:${line}\n`)),
    () => reading(tree, `sed -n '${number}p' lines.txt`, exactly(`${line}\n`)),
    () => reading(tree, `cat ${fileOf(file)}`, exactly(contentOf(file, tree.name))),
    () => reading(tree, 'wc -l lines.txt', exactly(`${LINES} lines.txt\n`)),
    () => reading(tree, `ls ${fileOf(file)}`, exactly(`${fileOf(file)}\n`)),
    () => reading(tree, 'head -n 2 lines.txt', exactly(`${lineOf(1, tree.name)}\n${lineOf(2, tree.name)}\n`)),
    () => reading(tree, `grep -c ${name} lines.txt`, { ...exactly('0\n'), exits: [1] }),
    () => reading(tree, `cat missing-${name}`, { stderr: { kind: 'holds', text: `missing-${name}` }, exits: [1] }),
    () => reading(tree, 'cat lines.txt', exactly(allLines(tree.name))),
  ];
  return random.pick(makers)();
}

const known = new Map<string, string>();

function allLines(name: string): string {
  const text = known.get(name) ?? Array.from({ length: LINES }, (_, index) => `${lineOf(index + 1, name)}\n`).join('');
  known.set(name, text);
  return text;
}

function gitReading(random: Random, tree: Tree): Deed {
  const number = random.integer(1, LINES);
  const line = lineOf(number, tree.name);
  const file = random.integer(0, FILES - 1);
  const branch = tree.path === 'linked' ? 'linked' : 'main';
  const makers: readonly (() => Deed)[] = [
    () => reading(tree, 'git log --format=%s -n 1 -- lines.txt', exactly(`first of ${tree.name}\n`)),
    () => reading(tree, `git show HEAD:${fileOf(file)}`, exactly(contentOf(file, tree.name))),
    () => reading(tree, `git grep -n ${line.slice(0, 9)}`, exactly(`lines.txt:${number}:${line}\n`)),
    () => reading(tree, 'git status', { stdout: { kind: 'starts', text: `On branch ${branch}\n` } }),
    () => reading(tree, `git ls-files ${fileOf(file)}`, exactly(`${fileOf(file)}\n`)),
    () => reading(tree, 'git log --oneline -3', { stdout: { kind: 'any' } }),
    () => reading(tree, 'git diff --stat', { stdout: { kind: 'any' } }),
  ];
  return random.pick(makers)();
}

/** What the last writer left there. */
function seatReading(random: Random, tree: Tree): Deed {
  const inner = TREES.find(({ path }) => path.startsWith(`${tree.path}/`) && !path.includes('three'));
  const [place, path] = inner !== undefined && random.chance(0.3) ? [inner.path, 'inner/.seat'] : [tree.path, '.seat'];
  return reading(tree, `cat ${path}`, { stdout: { kind: 'seat', place } });
}

/** Reads what another tree holds, named by an option or an operand. */
function awayReading(random: Random, tree: Tree): Deed {
  const away = random.pick(TREES.filter(({ path }) => path !== tree.path && !path.includes('/')));
  const up = tree.path.includes('/') ? '../..' : '..';
  const number = random.integer(1, LINES);
  const line = `${lineOf(number, away.name)}\n`;
  if (away.isRepository && random.chance(0.5)) {
    const command = `git -C ${up}/${away.path} log --format=%s -n 1 -- lines.txt`;
    return reading(tree, command, exactly(`first of ${away.name}\n`), away.places);
  }
  // A file that lies in no repository stands for itself.
  const reads = away.isRepository ? away.places : [`${away.path}/lines.txt`];
  return reading(tree, `sed -n '${number}p' ${up}/${away.path}/lines.txt`, exactly(line), reads);
}

function compoundReading(random: Random, name: string, tree: Tree): Deed {
  const number = random.integer(1, LINES);
  const line = lineOf(number, tree.name);
  const file = random.integer(0, FILES - 1);
  const makers: readonly (() => Deed)[] = [
    () => reading(tree, `grep -n ${line.slice(0, 9)} lines.txt | head -n 3`, exactly(`${number}:${line}\n`)),
    () => reading(tree, `cat ${fileOf(file)} && echo ${name}`, exactly(`${contentOf(file, tree.name)}${name}\n`)),
    () => reading(tree, `cat missing-${name} 2>/dev/null || echo ${name}`, exactly(`${name}\n`)),
    () => ({
      ...reading(tree, `cd files && cat ${fileOf(file).slice(6)}`, exactly(contentOf(file, tree.name))),
      // What it works in is where it changes to, or the repository around that.
      places: tree.isRepository ? tree.places : [`${tree.path}/files`],
    }),
    () => reading(tree, `cat lines.txt | wc -l; echo ${name}`, exactly(`${LINES}\n${name}\n`)),
  ];
  return random.pick(makers)();
}
