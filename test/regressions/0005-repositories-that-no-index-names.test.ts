/**
 * Report: a split index hid a submodule from the probe, and `git status` ran its filter; `git log -p --submodule=diff`,
 * and `git diff-tree` with it, ran the `diff.external` of a submodule that only older commits know, or that nobody asked about.
 * The kind: a read that goes into another repository is parallel only where a complete list has named that repository.
 */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { createRepositoryProbe, type ProbeOptions } from '../../src/dispatcher/repository-probe.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleNode } from '../../src/rules/schema.ts';
import { files } from '../rules/built-in.ts';
import { makePlace, type Place } from '../support/repositories.ts';

const rules = loadRules();

function found({ environment }: Place, directory: string, options: ProbeOptions = {}): readonly string[] {
  const { findings } = createRepositoryProbe()(directory, { environment, index: false, ...options });
  return findings.map(({ code, affects }) => `${code} ${affects}`);
}

function answer({ environment }: Place, directory: string, command: string): string {
  const repository = createRepositoryProbe()(directory, { environment });
  const verdict = classify(command, { rules, cwd: directory, repository });
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
}

/** A work tree with a submodule `mod`. */
function withSubmodule(): { readonly place: Place; readonly top: string; readonly inner: string } {
  const place = makePlace();
  const top = place.repository();
  place.git(top, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', place.repository('other'), 'mod');
  place.git(top, 'commit', '--quiet', '-m', 'a submodule');
  return { place, top, inner: join(top, 'mod') };
}

const UNREAD = 'REPOSITORY_UNREADABLE';

describe('an index that does not name every file', () => {
  test('hides no submodule when it is split: every read is serial, and touches what it shares', () => {
    const { place, top, inner } = withSubmodule();
    place.git(inner, 'config', 'filter.x.clean', place.trap);
    place.write(join(inner, '.gitattributes'), '* filter=x\n');
    writeFileSync(join(inner, 'a.txt'), 'ONE\n');
    expect(answer(place, top, 'git status -s')).toBe('REPOSITORY_CONFIGURED');
    place.git(top, 'update-index', '--split-index');
    expect(found(place, top, { programs: false })).toEqual([`${UNREAD} every-read`]);
    for (const command of ['git status -s', 'git diff-files', 'git ls-files', 'git rev-parse HEAD', 'git grep a'])
      expect([command, answer(place, top, command)]).toEqual([command, UNREAD]);
    // The shared file stays, and does not count when nothing refers to it any more.
    place.git(top, 'update-index', '--no-split-index');
    expect(answer(place, top, 'git rev-parse HEAD')).toBe('parallel');
    expect(answer(place, top, 'git status -s')).toBe('REPOSITORY_CONFIGURED');
  });

  test('hides none of a submodule either', () => {
    const { place, top, inner } = withSubmodule();
    expect(found(place, top)).toEqual([]);
    place.git(inner, 'update-index', '--split-index');
    expect(found(place, top)).toEqual([`${UNREAD} configured-programs`]);
  });

  test('hides none when it names directories', () => {
    const place = makePlace();
    const top = place.repository();
    place.git(top, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'nothing');
    expect(found(place, top)).toEqual([`${UNREAD} configured-programs`]);
    expect(found(place, top, { programs: false })).toEqual([]);
  });
});

describe('a submodule that no index names', () => {
  test.each([
    'git log -p --submodule=diff',
    'git log -p --submodule=log',
    'git show HEAD --submodule=diff',
    'git diff HEAD~1 HEAD --submodule=diff',
    'git diff --submodule HEAD~1 HEAD',
    'git diff-tree -p --submodule=diff HEAD~1 HEAD',
    'git stash show --submodule=diff',
    'git range-diff --submodule=diff HEAD~1...HEAD',
    'git grep --recurse-submodules b HEAD~1',
    'git grep --recurse-submodules --cached b',
    'git ls-files --recurse-submodules',
  ])('is not opened by %s', (command) => {
    const verdict = classify(command, { rules, repository: { findings: [] } });
    expect(verdict).toMatchObject({ kind: 'serial', reason: { check: 'subcommand' } });
  });

  test.each(['diff', 'log', 'Short', ''])('is not opened because diff.submodule is %j', (value) => {
    const place = makePlace();
    const top = place.repository();
    appendFileSync(join(top, '.git/config'), `[diff]\n\tsubmodule = ${value}\n`);
    expect(found(place, top)).toEqual(['REPOSITORY_CONFIGURED configured-programs']);
    expect(['git log -p', 'git show', 'git diff', 'git rev-parse HEAD'].map((one) => answer(place, top, one))).toEqual([
      ...Array(3).fill('REPOSITORY_CONFIGURED'),
      'parallel',
    ]);
  });

  test('may be named in short', () => {
    const place = makePlace();
    const top = place.repository();
    appendFileSync(join(top, '.git/config'), '[diff]\n\tsubmodule = short\n');
    expect(answer(place, top, 'git log -p --submodule=short')).toBe('parallel');
  });

  test('is not searched because of submodule.recurse, checked out or not', () => {
    const { place, top } = withSubmodule();
    expect(answer(place, top, 'git grep b HEAD~1')).toBe('parallel');
    place.git(top, 'config', 'submodule.recurse', 'true');
    const recursing = ['REPOSITORY_CONFIGURED every-read'];
    expect(found(place, top, { programs: false })).toEqual(recursing);
    place.git(top, 'rm', '--quiet', '-f', '--cached', 'mod');
    expect(found(place, top)).toEqual(recursing);
    rmSync(join(top, 'mod'), { recursive: true });
    rmSync(join(top, '.gitmodules'));
    expect(found(place, top)).toEqual(recursing);
    // What is left below .git is enough for a search of an older commit.
    rmSync(join(top, '.git/modules'), { recursive: true });
    expect(found(place, top)).toEqual([]);
  });
});

/** Those that only list, count or lay out, and come to no difference and no program. */
const HARMLESS = ['git tag', 'git verify-pack', 'git bundle verify', 'git fsck, fsck-objects'];

test('whatever starts another git says that it may start configured programs', () => {
  const { groups = {}, command } = files.find(({ binary }) => binary === 'git')!;
  const silent: string[] = [];
  const visit = (node: RuleNode, path: string, above: readonly string[]): void => {
    const effects = node.effects ?? above;
    const options = [node.options ?? {}, ...(node.use ?? []).map((name) => groups[name]!)].flatMap(Object.values);
    const starts = [node, ...options].flatMap((one) => one.starts ?? []);
    if (starts.includes('git') && !effects.includes('configured-programs')) silent.push(path);
    for (const [name, below] of Object.entries(node.subcommands ?? {})) visit(below, `${path} ${name}`, effects);
  };
  visit(command, 'git', []);
  expect(silent.sort()).toEqual([...HARMLESS].sort());
});

test('a note that is a commit is no way round the probe', () => {
  const place = makePlace();
  const top = place.repository();
  place.git(top, 'config', 'diff.t.textconv', place.trap);
  place.write(join(top, '.gitattributes'), '*.txt diff=t\n');
  expect(answer(place, top, 'git notes show HEAD')).toBe('REPOSITORY_CONFIGURED');
  expect(answer(place, top, 'git notes list')).toBe('parallel');
});
