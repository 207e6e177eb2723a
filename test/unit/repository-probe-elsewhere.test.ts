/**
 * Reads that come to another repository than the one that was looked at: a submodule that the index does not name, or no
 * longer, and an index that is shared. What is configured there only leaves a mark.
 */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import type { RepositoryFacts } from '../../src/classifier/judgement.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { createRepositoryProbe, probeRepository } from '../../src/dispatcher/repository-probe.ts';
import { loadRules } from '../../src/rules/load.ts';
import { makePlace, type Place } from '../support/repositories.ts';

const rules = loadRules();
const { examples } = JSON.parse(readFileSync(new URL('../../rules/git.json', import.meta.url), 'utf8'));

/** One read of each kind, and those that look at what changed. */
const READS: readonly string[] = [
  ...new Map((examples.parallel as string[]).map((command) => [command.split(' ', 2).join(' '), command])).values(),
  'git log -p',
  'git diff HEAD~2 HEAD',
  'git diff HEAD~2',
  'git show HEAD~1',
  'git diff-tree -p HEAD~2 HEAD',
  'git diff-index -p HEAD~2',
  'git reflog -p',
  'git stash list -p',
  'git whatchanged -p',
  'git range-diff HEAD~2..HEAD HEAD~1..HEAD',
  'git grep one HEAD~1',
  'git rev-parse :a.txt',
];

/** The verdict with what a probe finds for exactly this read. */
function probed({ home }: Place, top: string, command: string): Verdict {
  const plain = classify(command, { rules, cwd: top });
  const programs = plain.kind === 'parallel' && plain.effects.includes('configured-programs');
  const repository: RepositoryFacts = probeRepository(top, { environment: { HOME: home }, programs });
  return classify(command, { rules, cwd: top, repository });
}

function told(verdict: Verdict): string {
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
}

/** Runs what was proved, without the shell. @returns its exit status. */
function run({ environment }: Place, cwd: string, verdict: Verdict, more: Record<string, string> = {}): number | null {
  if (verdict.kind !== 'parallel' || verdict.run.form !== 'argv') throw new Error('Expected a command to run');
  const [file, ...args] = verdict.run.argv as [string, ...string[]];
  const env = { ...environment, ...verdict.run.env, ...more };
  return spawnSync(file, args, { cwd, env, stdio: 'ignore', timeout: 20_000 }).status;
}

/** Runs git as the profile would, whatever is said of the text. */
function runAnyway(place: Place, cwd: string, args: readonly string[]): void {
  const verdict = classify('git status', { rules, cwd });
  if (verdict.kind !== 'parallel' || verdict.run.form !== 'argv') throw new Error('Expected a command to run');
  const env = { ...place.environment, ...verdict.run.env };
  spawnSync('git', args, { cwd, env, stdio: 'ignore', timeout: 20_000 });
}

/** Every read that stays parallel, run; those after which `what` has happened. */
function culprits(
  place: Place,
  top: string,
  happened: () => boolean,
): { readonly ran: number; readonly did: readonly string[] } {
  const proved = READS.map((command) => ({ command, verdict: probed(place, top, command) }));
  const runnable = proved.filter(({ verdict }) => verdict.kind === 'parallel' && verdict.run.form === 'argv');
  happened();
  const did = runnable.flatMap(({ command, verdict }) => {
    run(place, top, verdict);
    return happened() ? [command] : [];
  });
  return { ran: runnable.length, did };
}

const ENTERING = [
  'git log -p --submodule=diff',
  'git show HEAD~1 --submodule=diff',
  'git diff HEAD~2 HEAD~1 --submodule=diff',
  'git diff-tree -p --submodule=diff HEAD~2 HEAD~1',
  'git reflog -p --submodule=diff',
  'git whatchanged -p --submodule=diff',
];

type Left = 'the directory' | 'what git keeps of it' | 'a repository that was never a module';

/** A repository whose index names no submodule any more, and what is left of one that changed in its history. */
function withForgotten(place: Place, left: Left): { readonly top: string; readonly inner: string } {
  const { git, write } = place;
  const top = place.repository();
  const source = place.repository('source');
  if (left === 'a repository that was never a module') {
    git(top, 'clone', '--quiet', source, 'mod');
    git(top, '-c', 'advice.addEmbeddedRepo=false', 'add', 'mod');
  } else git(top, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'mod');
  git(top, 'commit', '--quiet', '-m', 'a submodule');
  const work = join(top, 'mod');
  write(join(work, 'a.txt'), 'changed\n');
  git(work, 'commit', '--quiet', '-a', '-m', 'second');
  git(top, 'commit', '--quiet', '-a', '-m', 'follows');
  git(top, 'rm', '--quiet', '--cached', 'mod');
  git(top, 'commit', '--quiet', '-m', 'forgotten');
  if (left === 'what git keeps of it') rmSync(work, { recursive: true });
  const inner = left === 'a repository that was never a module' ? join(work, '.git') : join(top, '.git/modules/mod');
  return { top, inner };
}

describe.each<Left>(['the directory', 'what git keeps of it', 'a repository that was never a module'])(
  'a submodule that only older commits know, of which this is left: %s',
  (left) => {
    test('is where another git would run what is configured there', () => {
      const place = makePlace();
      const { top, inner } = withForgotten(place, left);
      appendFileSync(join(inner, 'config'), `[diff]\n\texternal = ${place.trap}\n`);
      for (const command of ENTERING) {
        expect(told(classify(command, { rules, cwd: top }))).toBe('VALUE_REFUSED');
        runAnyway(place, top, command.split(' ').slice(1));
        expect(place.sprung()).toBe(true);
      }
    });

    test('and a setting that sends each printed change there is found, whosever it is', () => {
      const place = makePlace();
      const { top, inner } = withForgotten(place, left);
      place.git(top, 'config', 'extensions.worktreeConfig', 'true');
      appendFileSync(join(inner, 'config'), `[diff]\n\texternal = ${place.trap}\n`);
      for (const file of ['repo/.git/config', 'repo/.git/config.worktree', '.gitconfig']) {
        expect(told(probed(place, top, 'git log -p'))).toBe('parallel');
        const path = join(place.home, file);
        const before = existsSync(path) ? readFileSync(path) : '';
        appendFileSync(path, '[diff]\n\tsubmodule = diff\n');
        run(place, top, classify('git log -p', { rules, cwd: top }));
        expect(place.sprung()).toBe(true);
        expect(told(probed(place, top, 'git log -p'))).toBe('REPOSITORY_CONFIGURED');
        expect(told(probed(place, top, 'git rev-parse HEAD'))).toBe('parallel');
        writeFileSync(path, before);
      }
    });

    test('no read that stays parallel starts it, with every setting that leads there', () => {
      const place = makePlace();
      const { top, inner } = withForgotten(place, left);
      const programs = ['diff.external', 'core.fsmonitor', 'core.alternateRefsCommand', 'remote.origin.uploadpack'];
      const config = join(inner, 'config');
      for (const name of programs) place.git(top, 'config', '--file', config, name, place.trap);
      for (const setting of ['diff.ignoreSubmodules=none', 'status.submoduleSummary=true', 'diff.submodule=diff']) {
        place.git(top, 'config', ...setting.split('='));
      }
      const { ran, did } = culprits(place, top, place.sprung);
      expect(did).toEqual([]);
      expect(ran).toBeGreaterThan(20);
      place.git(top, 'config', 'submodule.recurse', 'true');
      expect(culprits(place, top, place.sprung).did).toEqual([]);
    });
  },
);

describe('a search that goes into submodules', () => {
  test.each(['git grep --recurse-submodules one', 'git grep --recurse-submodules one HEAD~1'])(
    'is not proved, since it would fetch what is missing there: %s',
    (command) => {
      const place = makePlace();
      const { top, inner } = withForgotten(place, 'the directory');
      expect(told(classify(command, { rules, cwd: top }))).toBe('OPTION_UNKNOWN');
      place.git(inner, 'config', 'remote.origin.promisor', 'true');
      expect(told(probed(place, top, 'git grep one HEAD~1'))).toBe('parallel');
      place.git(top, 'config', 'submodule.recurse', 'true');
      expect(told(probed(place, top, 'git grep one HEAD~1'))).toBe('REPOSITORY_CONFIGURED');
    },
  );
});

/** Lets an index share its entries, and gives the shared file a time long ago. @returns whether it was touched since. */
function split(place: Place, top: string, directory: string): () => boolean {
  place.git(top, 'update-index', '--split-index');
  const name = readdirSync(directory).find((entry) => entry.startsWith('sharedindex.')) as string;
  const file = join(directory, name);
  utimesSync(file, 1_600_000_000, 1_600_000_000);
  return () => {
    const was = statSync(file).mtimeMs !== 1_600_000_000_000;
    utimesSync(file, 1_600_000_000, 1_600_000_000);
    return was;
  };
}

describe('a split index', () => {
  test.each([
    'git status',
    'git ls-files',
    'git grep one',
    'git rev-parse :a.txt',
    'git check-attr -a a.txt',
    'git fsck',
  ])('is touched by whatever reads it, so that no read is proved: %s', (command) => {
    const place = makePlace();
    const top = place.repository();
    const touched = split(place, top, join(top, '.git'));
    run(place, top, classify(command, { rules, cwd: top }));
    expect(touched()).toBe(true);
    expect(told(probed(place, top, command))).toMatch(/^REPOSITORY_/);
    place.git(top, 'update-index', '--no-split-index');
    expect(told(probed(place, top, command))).toBe('parallel');
  });

  test('is touched by no read that stays parallel', () => {
    const place = makePlace();
    const top = place.repository();
    const { ran, did } = culprits(place, top, split(place, top, join(top, '.git')));
    expect(did).toEqual([]);
    expect(ran).toBeLessThan(10);
  });

  test('of another work tree counts, since some reads look at all of them', () => {
    const place = makePlace();
    const top = place.repository();
    const linked = join(place.home, 'linked');
    place.git(top, 'worktree', 'add', '--quiet', linked);
    split(place, linked, join(top, '.git/worktrees/linked'));
    for (const from of [top, linked]) expect(told(probed(place, from, 'git fsck'))).toMatch(/^REPOSITORY_/);
    place.git(linked, 'update-index', '--no-split-index');
    for (const from of [top, linked]) expect(told(probed(place, from, 'git fsck'))).toBe('parallel');
    split(place, top, join(top, '.git'));
    for (const from of [top, linked]) expect(told(probed(place, from, 'git fsck'))).toMatch(/^REPOSITORY_/);
  });

  test('is seen by a probe that remembers what it has looked at, and is forgotten when it is joined again', () => {
    const place = makePlace();
    const top = place.repository();
    const linked = join(place.home, 'linked');
    // Its clock is ahead, so that what was just written counts as old enough to be remembered.
    const probe = createRepositoryProbe({ now: () => Date.now() + 60_000 });
    const isFound = () =>
      probe(top, { environment: { HOME: place.home }, programs: false, index: false }).findings.length > 0;
    for (const _ of [1, 2]) expect(isFound()).toBe(false);
    place.git(top, 'worktree', 'add', '--quiet', linked);
    for (const _ of [1, 2]) expect(isFound()).toBe(false);
    for (const directory of [top, linked]) {
      place.git(directory, 'update-index', '--split-index');
      for (const _ of [1, 2]) expect(isFound()).toBe(true);
      place.git(directory, 'update-index', '--no-split-index');
      for (const _ of [1, 2]) expect(isFound()).toBe(false);
    }
  });

  test('of a submodule is touched by reads of the outer one, which are not proved', () => {
    const place = makePlace();
    const { git } = place;
    const top = place.repository();
    git(top, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', place.repository('source'), 'mod');
    git(top, 'commit', '--quiet', '-m', 'a submodule');
    const touched = split(place, join(top, 'mod'), join(top, '.git/modules/mod'));
    run(place, top, classify('git status', { rules, cwd: top }));
    expect(touched()).toBe(true);
    const { ran, did } = culprits(place, top, touched);
    expect(did).toEqual([]);
    expect(ran).toBeGreaterThan(10);
  });
});

describe('an index that does not name all files', () => {
  /** A submodule whose filter is asked about a file that is as long as before. */
  const withFilter = () => {
    const place = makePlace();
    const { git, write, trap } = place;
    const top = place.repository();
    git(top, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', place.repository('source'), 'sub/mod');
    git(top, 'commit', '--quiet', '-m', 'a submodule');
    const mod = join(top, 'sub/mod');
    git(mod, 'config', 'filter.x.clean', trap);
    write(join(mod, '.gitattributes'), '* filter=x\n');
    writeFileSync(join(mod, 'a.txt'), 'ONE\n');
    utimesSync(join(mod, 'a.txt'), 1_600_000_000, 1_600_000_000);
    place.sprung();
    return { place, top };
  };
  const STATES = ['git status', 'git status -s', 'git diff', 'git diff-files', 'git diff-index HEAD', 'git submodule'];

  test.each([
    ['whole', []],
    ['split', ['update-index', '--split-index']],
    ['of version 4 and split', ['update-index', '--index-version', '4', '--split-index']],
  ])('hides no submodule from the probe: %s', (_kind, args) => {
    const { place, top } = withFilter();
    if (args.length > 0) place.git(top, ...args);
    run(place, top, classify('git status', { rules, cwd: top }));
    expect(place.sprung()).toBe(true);
    for (const command of STATES) expect(told(probed(place, top, command))).toMatch(/^REPOSITORY_/);
    const { did } = culprits(place, top, place.sprung);
    expect(did).toEqual([]);
  });

  test('nor does one that git splits by itself when it writes it', () => {
    const { place, top } = withFilter();
    place.git(top, 'config', 'core.splitIndex', 'true');
    place.write(join(top, 'new.txt'), 'new\n');
    place.git(top, 'add', 'new.txt');
    for (const command of STATES) expect(told(probed(place, top, command))).toMatch(/^REPOSITORY_/);
  });

  test('nor does one with directories as entries', () => {
    const { place, top } = withFilter();
    place.git(top, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'nothing');
    const { did } = culprits(place, top, place.sprung);
    expect(did).toEqual([]);
    for (const command of STATES) expect(told(probed(place, top, command))).toMatch(/^REPOSITORY_/);
  });
});

describe('the configuration of the git that is started', () => {
  test.each(['bin', 'libexec/git-core'])('is looked for where links lead to, which is in %s', (inside) => {
    const place = makePlace();
    const top = place.repository();
    const { home, write } = place;
    const environment = { HOME: home, PATH: `${home}/none:${home}/bin:/usr/bin` };
    const codes = () => probeRepository(top, { environment }).findings.map(({ code }) => code);
    write(join(home, 'opt/git-2', inside, 'git'), '#!/bin/sh\n');
    mkdirSync(join(home, 'bin'));
    symlinkSync(join(home, 'opt/git-2', inside, 'git'), join(home, 'bin/git'));
    expect(codes()).toEqual([]);
    write(join(home, 'opt/git-2/etc/gitconfig'), '[filter "x"]\n\tclean = x\n');
    expect(codes()).toEqual([]);
    write(join(home, 'opt/git-2/etc/gitattributes'), '* filter=x\n');
    expect(codes()).toEqual(['REPOSITORY_CONFIGURED']);
    write(join(home, 'opt/git-2/etc/gitconfig'), '[core]\n\tbare = true\n');
    expect(codes()).toEqual(['REPOSITORY_LAYOUT']);
  });
});

describe('a setting that turns a read into another command', () => {
  test.each(['alias.whatchanged', 'alias.whatchanged.command'])(
    'is found: %s, where the name is deprecated',
    (name) => {
      const place = makePlace();
      const top = place.repository();
      expect(told(probed(place, top, 'git whatchanged -1'))).toBe('parallel');
      place.git(top, 'config', name, `!${place.trap}`);
      expect(told(probed(place, top, 'git whatchanged -1'))).toBe('REPOSITORY_CONFIGURED');
      expect(told(probed(place, top, 'git branch'))).toBe('parallel');
    },
  );

  test('is found where a search of no repository would be one of all files', () => {
    const place = makePlace();
    const { home, write } = place;
    const nowhere = join(home, 'nowhere');
    write(join(nowhere, 'text'), 'needle\n');
    const search = classify('git grep needle', { rules, cwd: nowhere });
    expect(run(place, nowhere, search)).toBe(128);
    write(join(home, '.gitconfig'), '[grep]\n\tfallbackToNoIndex\n');
    expect(run(place, nowhere, search)).toBe(0);
    expect(told(probed(place, nowhere, 'git grep needle'))).toBe('REPOSITORY_CONFIGURED');
    expect(told(probed(place, place.repository(), 'git grep needle'))).toBe('parallel');
    write(join(home, '.gitconfig'), '[grep]\n\tfallbackToNoIndex = false\n');
    expect(told(probed(place, nowhere, 'git grep needle'))).toBe('parallel');
  });
});

describe('the repository above a submodule', () => {
  test('is read by another git when it is asked for, which touches a split index there', () => {
    const place = makePlace();
    const top = place.repository();
    const { git } = place;
    git(top, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', place.repository('source'), 'mod');
    git(top, 'commit', '--quiet', '-m', 'a submodule');
    const touched = split(place, top, join(top, '.git'));
    const inner = join(top, 'mod');
    runAnyway(place, inner, ['rev-parse', '--show-superproject-working-tree']);
    expect(touched()).toBe(true);
    expect(told(classify('git rev-parse --show-superproject-working-tree', { rules, cwd: inner }))).toBe(
      'OPTION_UNKNOWN',
    );
    const { ran, did } = culprits(place, inner, touched);
    expect(did).toEqual([]);
    expect(ran).toBeGreaterThan(30);
  });
});
