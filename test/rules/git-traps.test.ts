import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { namesOf, spellingsOf } from '../../src/classifier/usage.ts';
import type { ReasonCode, Verdict } from '../../src/classifier/verdict.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleFile, RuleNode, RuleOption } from '../../src/rules/schema.ts';

/**
 * Every trap that the facts about git name, each with the code it must be refused with. They are only classified, never
 * run. A trap that is met as a file written or a program started was found with git 2.39.5.
 */

const rules = loadRules();
const file: RuleFile = JSON.parse(readFileSync(new URL('../../rules/git.json', import.meta.url), 'utf8'));
const ask = (command: string): Verdict => classify(command, { rules });

function codeOf(command: string): ReasonCode | 'parallel' {
  const verdict = ask(command);
  return verdict.kind === 'serial' ? verdict.reason.code : 'parallel';
}

type Traps = Readonly<Partial<Record<ReasonCode, readonly string[]>>>;

function hold(title: string, traps: Traps): void {
  describe(title, () => {
    for (const [code, commands] of Object.entries(traps)) {
      test.each(commands)(`%s is serial: ${code}`, (command) => expect(codeOf(command)).toBe(code));
    }
  });
}

hold('global options', {
  OPTION_UNKNOWN: [
    'git -c alias.x=!cmd x',
    'git -c core.pager=./x log',
    'git -c core.fsmonitor=./x status',
    'git -c core.sshCommand=./x fetch',
    'git -c diff.external=./x diff',
    'git -c diff.x.textconv=./x log -p',
    'git -c core.hooksPath=. status',
    'git -c gpg.program=./x log',
    'git -ccore.pager=./x log',
    'git --no-pager -c a.b=c log',
    'git --config-env=core.pager=X log',
    'git --exec-path=./x status',
    'git --exec-path status',
    'git --git-dir=x log',
    'git --git-dir x log',
    'git --work-tree=x status',
    'git --work-tree x status',
    'git --namespace=x log',
    'git --super-prefix=x ls-files',
    'git --attr-source=x diff',
    'git --bare log',
    'git -p log',
    'git --paginate log',
    'git --list-cmds=main',
    'git --html-path',
    'git --help',
    'git -h log',
    'git --no-pag log',
    'git -Pp log',
  ],
  OPTION_FORM: ['git -Cdir status', 'git -C. -Cdir status'],
  OPTION_VALUE_MISSING: ['git -C', 'git log --author', 'git diff -S'],
  VALUE_REFUSED: ["git -C '' status", "git -C '-c' status", 'git -C -c status'],
  PATH_DEVICE: ['git -C /dev status', 'git -C /proc/self/cwd status', 'git -C /x/../sys log'],
  SUBCOMMAND_MISSING: ['git', 'git -C dir', 'git --no-pager'],
});

hold('words that are no listed subcommand: aliases, git-NAME on the PATH, autocorrection, and everything that writes', {
  SUBCOMMAND_UNKNOWN: [
    'git st',
    'git stat',
    'git statu',
    'git lg',
    'git foo',
    'git help log',
    'git "status"',
    'git s\\tatus',
    ...words('add stage rm mv commit checkout switch restore reset clean merge rebase cherry-pick revert am apply'),
    ...words('init clone fetch pull push ls-remote gc prune repack pack-refs maintenance update-ref update-index'),
    ...words('read-tree write-tree commit-tree checkout-index mktag mktree merge-tree rerere'),
    ...words('lfs flow subtree bisect filter-branch difftool mergetool hook for-each-repo credential'),
    ...words('verify-tag verify-commit bugreport diagnose format-patch archive daemon shell gui citool gitk'),
    ...words('upload-pack receive-pack http-backend instaweb web--browse send-email request-pull fast-import svn p4'),
    ...words('column stripspace patch-id mailinfo interpret-trailers fmt-merge-msg'),
    'git bundle create x HEAD',
    'git bundle unbundle x',
    'git commit-graph write',
    ...['write', 'expire', 'repack'].map((verb) => `git multi-pack-index ${verb}`),
    ...['init', 'set src', 'add src', 'reapply', 'disable', 'check-rules'].map((rest) => `git sparse-checkout ${rest}`),
  ],
  SUBCOMMAND_MISSING: words('bundle commit-graph multi-pack-index sparse-checkout'),
});

hold('--output writes a file wherever differences or commits are printed', {
  OPTION_UNKNOWN: [
    ...words(
      'diff log whatchanged show reflog shortlog diff-tree diff-index diff-files rev-list blame annotate range-diff',
    ).flatMap((command) => [`${command} --output=x HEAD`, `${command} --output x`]),
    'git stash list --output=x',
    'git stash show --output=x',
    'git reflog show --output=x',
    'git diff --no-index --output=x a b',
    'git diff --stat --output x -- a',
    'git log -5 --output=../x',
  ],
  SUBCOMMAND_UNKNOWN: ['git archive -o x HEAD'],
});

hold('an option behind another option, so that the value of one is the other', {
  VALUE_REFUSED: [
    'git diff --no-index --word-diff-regex -- --output=x a b',
    'git diff --word-diff-regex --output=x',
    'git log --author -L -p -S --output=x',
    'git log --author --decorate-refs -p -S --output=x',
    'git log -S --output=x',
    'git log --grep --output=x',
    'git show --src-prefix --output=x HEAD',
    'git log --since --output=x',
    'git blame -L --output=x f',
    'git describe --match --dirty',
    'git branch --points-at -D x',
  ],
  OPTION_UNKNOWN: ['git stash show --src-prefix stash@{0} -S --output=x', 'git stash show -S x'],
});

hold('programs that a read starts when it is asked to', {
  OPTION_UNKNOWN: [
    'git diff --ext-diff',
    'git log -p --ext-diff',
    'git show --textconv HEAD:f',
    'git log --textconv -p',
    'git blame --textconv f',
    'git grep --textconv x',
    'git cat-file --textconv HEAD:f',
    'git cat-file --filters HEAD:f',
    'git cat-file --text HEAD:f',
    'git log --show-signature',
    'git show --show-signature',
    'git reflog --show-signature',
    'git shortlog --show-signature HEAD',
    'git tag -v v1',
    'git tag --verify v1',
    'git tag -s v1',
    'git branch --edit-description',
    'git config -e',
    'git config --edit',
    'git grep -O foo',
    'git grep -Ovim foo',
    'git grep -nO"cmd" foo',
    'git grep -nOcmd foo',
    'git grep --open-files-in-pager=cmd foo',
    'git grep --open-f=./x y',
    'git grep --ext-grep foo',
    'git diff -O order',
    'git diff -Oorder',
    'git log -O order',
    'git log --alternate-refs',
  ],
  VALUE_REFUSED: [
    ...['%G?', '%GG', '%GS', '%GK', '%GF', '%GP', '%GT', '%h %G?', '%%%G?', '%(describe)', '%(trailers)'].flatMap(
      (format) => [
        `git log --format='${format}'`,
        `git log --pretty='format:${format}'`,
        `git show -s --pretty='tformat:${format}' HEAD`,
        `git stash list --pretty='${format}'`,
        `git rev-list --pretty='${format}' HEAD`,
      ],
    ),
    'git log --pretty=mine',
    'git log --format=mine',
    "git log --format='%C(%G?)'",
    "git log --format='%<(%G?'",
    "git log --format='%x%G?'",
    "git branch --format='%(signature)'",
    "git tag --format='%(signature:grade)'",
    "git for-each-ref --format='%(refname) %(signature:key)'",
    "git for-each-ref --format='%(describe)'",
    "git branch --format='%(refname'",
    'git branch --sort=signature',
    'git tag --sort=-signature',
    'git for-each-ref --sort=mine',
  ],
  OPTION_FORM: ["git log --format '%h'", 'git branch --sort -D'],
});

hold('index locks, objects and settings that a read writes when it is asked to', {
  OPTION_UNKNOWN: [
    'git describe --dirty',
    'git describe --dirty=-x',
    'git describe --dirt',
    'git describe --broken',
    'git show --remerge-diff HEAD',
    'git log -m -p',
    'git show -m HEAD',
    'git reflog -m -p',
    'git config --add a.b c',
    'git config --ad a.b c',
    'git config --unset a.b',
    'git config --unse a.b',
    'git config --unset-all a.b',
    'git config --replace-all a.b c',
    'git config --rename-section a b',
    'git config --remove-section a',
    'git config -f x a.b',
    'git config --file=x a.b',
    'git config --blob x a.b',
  ],
  VALUE_REFUSED: [
    'git log --diff-merges=remerge',
    'git log --diff-merges=r',
    'git log --diff-merges=on',
    'git log --diff-merges=m',
  ],
  OPERAND_UNEXPECTED: [
    'git config a.b c',
    'git config --global a.b c',
    'git config a.b --local',
    'git config a.b --get',
    'git config a.b --list',
    "git config a.b ''",
  ],
  OPERAND_REFUSED: ['git config set a.b c', 'git config unset a.b', 'git config edit', 'git config get get'],
  OPERAND_MISSING: ['git config', 'git config --get'],
});

hold('branch, tag, stash, remote and others: a word too many writes', {
  OPERAND_UNEXPECTED: [
    'git branch new',
    'git branch -v new',
    'git branch -a new',
    'git branch -r new',
    'git branch new HEAD',
    'git branch -- new',
    'git branch --sort=refname new',
    'git branch --points-at HEAD new',
    'git branch --show-current new',
    'git branch --merged main new',
    'git tag v1',
    'git tag v1 HEAD',
    'git tag -i v1',
    'git tag --sort=refname v1',
    'git tag --contains HEAD v1',
    'git symbolic-ref HEAD refs/heads/x',
    'git symbolic-ref -- HEAD refs/heads/x',
    'git stash list x',
    'git worktree list x',
    'git count-objects x',
  ],
  OPTION_REQUIRED: [
    'git remote show origin',
    'git remote show',
    'git remote -v show origin',
    'git hash-object a.txt',
    'git replace HEAD HEAD~1',
  ],
  OPTION_UNKNOWN: [
    'git hash-object -w --no-filters a.txt',
    'git fsck --lost-found',
    'git replace -d HEAD',
    'git replace -f HEAD HEAD~1',
    'git replace --edit HEAD',
    ...['-d', '-D', '-m', '-M', '-c', '-C', '-f', '-u', '-t', '-q'].map((letter) => `git branch ${letter} x`),
    ...['--delete', '--move', '--copy', '--force', '--track', '--set-upstream-to=o/m', '--unset-upstream'].map(
      (name) => `git branch ${name} x`,
    ),
    'git branch --create-reflog x',
    'git branch --recurse-submodules x',
    'git branch --del x',
    'git branch -vd x',
    'git branch -rd o/x',
    'git branch -qf x',
    'git branch --list -D x',
    'git branch --merged -D x',
    ...['-d', '-a', '-s', '-f', '-u', '-e'].map((letter) => `git tag ${letter} v1`),
    'git tag -m msg v1',
    'git tag -F f v1',
    'git tag -l -d v1',
    'git tag -ld v1',
    'git tag --del v1',
    'git tag --delete v1',
    'git symbolic-ref -d HEAD',
    'git symbolic-ref --delete HEAD',
    'git symbolic-ref -m why HEAD refs/heads/x',
  ],
  SUBCOMMAND_MISSING: ['git stash', 'git worktree'],
  SUBCOMMAND_UNKNOWN: [
    ...['push', 'pop', 'apply', 'drop', 'clear', 'branch', 'save', 'create', 'store'].map(
      (verb) => `git stash ${verb}`,
    ),
    ...['add o u', 'remove o', 'rm o', 'rename o p', 'set-url o u', 'set-head o -a'].map(
      (rest) => `git remote ${rest}`,
    ),
    ...['update', 'prune o'].map((rest) => `git remote ${rest}`),
    'git remote -v update',
    'git reflog expire --all',
    'git reflog delete HEAD@{0}',
    'git reflog drop HEAD',
    'git reflog main',
    'git notes add -m x',
    'git notes append -m x',
    'git notes prune',
    'git notes remove',
    'git notes --ref=x edit',
    ...['add x', 'remove x', 'prune', 'move x y', 'lock x', 'unlock x', 'repair'].map((rest) => `git worktree ${rest}`),
    ...['foreach ls', 'update', 'init', 'add u', 'sync', 'deinit x', 'absorbgitdirs', 'summary'].map(
      (rest) => `git submodule ${rest}`,
    ),
  ],
});

hold('standard input, devices and files that are no part of the repository', {
  OPTION_UNKNOWN: [
    'git log --stdin',
    'git show --stdin',
    'git rev-list --stdin',
    'git diff-tree --stdin',
    'git cat-file --batch',
    'git cat-file --batch-check',
    'git cat-file --batch-command',
    'git cat-file --batch-check --batch-all-objects',
    'git check-ignore --stdin',
    'git for-each-ref --stdin',
    'git show-ref --exclude-existing',
    'git name-rev --stdin',
    'git name-rev --annotate-stdin',
    'git rev-parse --parseopt',
    'git grep -f patterns',
    'git grep --no-index foo',
    'git grep -f - x',
    'git blame --contents - f',
    'git blame --contents=f f',
    'git blame -S revs f',
  ],
  STDIN_READ: [
    'git shortlog',
    'git shortlog -sn',
    'git shortlog -sn --all',
    'git shortlog --branches',
    'git diff - f',
    'git diff --no-index f -',
    'git diff -- -',
  ],
  OPERAND_REFUSED: ['git shortlog -sn src', 'git shortlog HEADER.md', 'git shortlog main', 'git shortlog --all src'],
  PATH_DEVICE: [
    'git diff /dev/zero a',
    'git diff --no-index /dev/tty a',
    'git diff /dev/stdin a',
    'git diff -- /proc/self/fd/0',
    'git diff HEAD /dev/null',
    'git grep foo /dev/tty',
    'git ls-files -X /dev/stdin',
    'git blame --ignore-revs-file /dev/stdin f',
    'git blame /dev/zero',
    'git -C /tmp diff ../dev/zero a',
  ],
});

hold('globs, quotes and text that the shell would act on', {
  GLOB_REFUSED: [
    'git diff -- ?',
    'git log -- *.ts',
    'git log -- src/*.ts',
    'git branch --list feature/*',
    'git log --format=%G?',
  ],
  OPERAND_QUOTED_OPTION: ['git diff "--output=x"', "git log '-5'", "git grep '-Ovim' x"],
  OPTION_QUOTED: ['git diff --out"put"=x', "git log --o'neline'", 'git branch -"d" x'],
  TEXT_EXPANSION: ['git log $OPTS', 'git show $(cat x)', 'git log "`x`"'],
  TEXT_BRACE: ['git {status,stash}'],
  TEXT_REDIRECTION: ['git diff >patch', 'git status 2>&1'],
  TEXT_ASSIGNMENT: [
    'GIT_EXTERNAL_DIFF=./x git diff',
    'GIT_TRACE=/tmp/t git status',
    'GIT_DIR=x git log',
    "PAGER='touch x' git log",
  ],
  TEXT_NEWLINE: ['git status\ngit checkout -- .'],
  COMMAND_NOT_PLAIN: ['/usr/bin/git status', '"git" status', './git status'],
});

describe('laws of the whole file', () => {
  const options = [...optionsOf(file.command, 'git')];

  test('no value that may be a word of its own begins with a dash, but the pattern of git grep', () => {
    const open = options
      .filter(({ option }) => option.takes !== undefined && !option.optional && option.form !== 'joined')
      .filter(({ option, path, spelling }) => {
        const verdict = ask(`${path} ${spelling} --output=x`);
        const code = verdict.kind === 'serial' ? verdict.reason.code : 'parallel';
        expect(option.takes, `${path} ${spelling}`).not.toBe('text');
        return code !== 'VALUE_REFUSED';
      });
    expect(open.map(({ path, spelling }) => `${path} ${spelling}`)).toEqual(['git grep -e']);
  });

  test('no option is read from the beginning of its name, as git itself would', () => {
    const names = new Map<string, Set<string>>();
    for (const { path, spelling } of options) names.set(path, (names.get(path) ?? new Set()).add(spelling));
    for (const { path, spelling } of options) {
      const short = spelling.slice(0, -1);
      if (!spelling.startsWith('--') || short === '-' || short === '--' || names.get(path)?.has(short)) continue;
      expect(codeOf(`${path} ${short} HEAD`), `${path} ${short}`).toBe('OPTION_UNKNOWN');
    }
  });

  test('every word that a note calls unsafe is serial, and is explained as known to be unsafe', () => {
    const notes = [...refusesOf(file.command, 'git')];
    expect(notes.length).toBeGreaterThan(200);
    for (const { path, word } of notes) {
      const verdict = ask(`${path} ${word}`);
      if (verdict.kind === 'parallel') throw new Error(`${path} ${word} is parallel`);
      expect(verdict.reason.knowledge, `${path} ${word}: ${verdict.reason.message}`).toBe('known-unsafe');
    }
  });
});

function words(list: string): string[] {
  return list.split(' ').map((word) => `git ${word}`);
}

type Placed = { readonly path: string; readonly spelling: string; readonly option: RuleOption };

function* optionsOf(node: RuleNode, path: string): Generator<Placed> {
  const tables = [...(node.use ?? []).map((group) => file.groups![group]!), node.options ?? {}];
  for (const [key, option] of tables.flatMap((table) => Object.entries(table))) {
    for (const spelling of spellingsOf(key).flat()) yield { path, spelling, option };
  }
  for (const [key, below] of Object.entries(node.subcommands ?? {})) {
    for (const name of namesOf(key)) yield* optionsOf(below, `${path} ${name}`);
  }
}

function* refusesOf(node: RuleNode, path: string): Generator<{ readonly path: string; readonly word: string }> {
  for (const key of Object.keys(node.refuses ?? {})) {
    for (const word of spellingsOf(key).flat()) yield { path, word };
  }
  for (const [key, below] of Object.entries(node.subcommands ?? {})) {
    for (const name of namesOf(key)) yield* refusesOf(below, `${path} ${name}`);
  }
}
