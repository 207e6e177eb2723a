import { linkSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { exportRules } from '../../src/classifier/rule-set.ts';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { findProgram } from '../../src/dispatcher/program.ts';
import {
  ANY_TOOL,
  createToolIdentity,
  type KnownTools,
  knownTools,
  strangerAmong,
} from '../../src/dispatcher/tool-identity.ts';
import { loadRules } from '../../src/rules/load.ts';

const rules = loadRules();

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-identity-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function program(path: string, text = '#!/bin/sh\n'): string {
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

/** Tools by name, each of a rule file of its own, known by these texts. */
function tools(
  texts: Readonly<Record<string, readonly string[]>>,
  never: Readonly<Record<string, string>> = {},
): KnownTools {
  const names = Object.entries(texts);
  return {
    binaryOf: new Map(names.map(([name]) => [name, name])),
    texts: new Map(names),
    never: new Map(Object.entries(never)),
  };
}

describe('a program that is known by a text of its file', () => {
  test('is that one, whatever else it is called, and any other is doubted', () => {
    const directory = temporaryDirectory();
    const real = program(join(directory, 'grep'), '#!/bin/sh\n# GNU grep\n');
    const other = program(join(directory, 'other'));
    const { doubt } = createToolIdentity(tools({ grep: ['exec grep', 'GNU grep'] }), directory);
    expect(doubt('grep', real)).toBeNull();
    expect(doubt('grep', other)).toBe(
      `${other} does not hold "exec grep" or "GNU grep", so it is not the grep that was proved`,
    );
    const link = join(directory, 'link');
    symlinkSync(other, link);
    expect(doubt('grep', link)).toMatch(`${link}, which is ${other}, does not hold`);
  });

  test('is looked at again when it has changed', () => {
    const directory = temporaryDirectory();
    const path = program(join(directory, 'grep'), 'GNU grep');
    const { doubt } = createToolIdentity(tools({ grep: ['GNU grep'] }), directory);
    expect(doubt('grep', path)).toBeNull();
    writeFileSync(path, 'BSD grep');
    utimesSync(path, 1, 1);
    expect(doubt('grep', path)).toMatch('does not hold');
  });

  test('is doubted when its file cannot be read, or is none', () => {
    const directory = temporaryDirectory();
    const { doubt } = createToolIdentity(tools({ grep: ['GNU grep'] }), directory);
    expect(doubt('grep', join(directory, 'missing'))).toMatch('does not hold');
    expect(doubt('grep', directory)).toMatch('does not hold');
  });
});

test('a program without a rule, as the shell that another one starts, is not doubted', () => {
  const directory = temporaryDirectory();
  program(join(directory, 'dash'));
  symlinkSync('dash', join(directory, 'sh'));
  const { doubt } = createToolIdentity(tools({ grep: ['GNU grep'] }, { dash: 'runs any command' }), directory);
  expect(doubt('sh', join(directory, 'sh'))).toBeNull();
});

describe('a program that is known by no text', () => {
  test('is doubted when it is a link to one that is never proved', () => {
    const directory = temporaryDirectory();
    const busybox = program(join(directory, 'busybox'));
    symlinkSync(busybox, join(directory, 'tree'));
    const known = tools({ tree: [] }, { busybox: 'is every command, by its first operand' });
    const { doubt } = createToolIdentity(known, directory);
    expect(doubt('tree', join(directory, 'tree'))).toBe(
      `${join(directory, 'tree')}, which is ${busybox}, is not the tree that was proved: busybox is every command, by its first operand`,
    );
    expect(doubt('tree', program(join(directory, 'own')))).toBeNull();
  });

  test('is doubted when its file answers to names of many rules; a packer with its unpackers is not', () => {
    const directory = temporaryDirectory();
    const many = program(join(directory, 'a'));
    for (const name of ['b', 'c']) symlinkSync(many, join(directory, name));
    linkSync(many, join(directory, 'd'));
    program(join(directory, 'e'));
    const names = { a: [], b: [], c: [], d: [], e: [] };
    const { doubt } = createToolIdentity(tools(names), `/nowhere:relative:${directory}`);
    expect(doubt('b', join(directory, 'b'))).toMatch(
      /answers to 4 names \(a, b, c …\), so it is not the b that was proved$/,
    );
    expect(doubt('d', join(directory, 'd'))).toMatch('answers to 4 names');
    expect(doubt('e', join(directory, 'e'))).toBeNull();
    const oneRule = { ...tools(names), binaryOf: new Map(Object.keys(names).map((name) => [name, 'a'])) };
    expect(createToolIdentity(oneRule, directory).doubt('b', join(directory, 'b'))).toBeNull();
    expect(createToolIdentity(tools(names), undefined).doubt('b', join(directory, 'b'))).toBeNull();
  });
});

describe('the shim of a version manager', () => {
  const known = knownTools(rules);
  const names = [
    'python3',
    'python3.10',
    'pip',
    'node',
    'npm',
    'ruby',
    'gem',
    'go',
    'perl',
    'php',
    'terraform',
    'kubectl',
  ];
  const scripts = [
    '#!/usr/bin/env bash\nset -e\nexec pyenv exec python3 "$@"\n',
    '#!/bin/sh\nexec asdf exec "$0" "$@"\n',
    '#! /usr/bin/env -S bash -e\n',
    '#!\t/opt/homebrew/bin/bash\n',
    '#!/usr/bin/env mise\n',
    '#!/bin/zsh',
  ];

  test.each(names)('is not the %s that was proved, as a script of any shell', (name) => {
    for (const script of scripts) {
      const directory = temporaryDirectory();
      const shim = program(join(directory, name), script);
      const { doubt } = createToolIdentity(known, directory);
      expect(doubt(name, shim)).toMatch(
        / is a script of \S+ without a text that its rule knows, .* not the \S+ that was proved$/,
      );
      // Also behind a link, which is how some are installed.
      const link = join(directory, `link-to-${name}`);
      symlinkSync(shim, link);
      expect(doubt(name, link)).toMatch('is a script of');
    }
  });

  test.each(names)('is not %s either as a link to the manager', (name) => {
    for (const manager of ['mise', 'volta-shim', 'rustup', 'snap']) {
      const directory = temporaryDirectory();
      symlinkSync(program(join(directory, manager), 'no script'), join(directory, name));
      expect(createToolIdentity(known, directory).doubt(name, join(directory, name))).toMatch(`${manager} `);
    }
  });

  test('a script that the language itself reads is the program, and so is a file that is no script', () => {
    const texts = [
      '#!/usr/bin/env node\n',
      '#!/usr/bin/python3 -s\n',
      '#!/usr/bin/ruby\n# bash\n',
      '# bash\n',
      ' #!/bin/sh\n',
      '',
    ];
    for (const text of texts) {
      const directory = temporaryDirectory();
      expect(createToolIdentity(known, directory).doubt('npm', program(join(directory, 'npm'), text))).toBeNull();
    }
    expect(createToolIdentity(known, '/').doubt('npm', '/nowhere/npm')).toBeNull();
  });

  test('runs alone: its verdict says why', async () => {
    const directory = temporaryDirectory();
    program(join(directory, 'python3'), '#!/bin/sh\necho of the shim\n');
    const environment = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
    const dispatcher = createDispatcher({ rules, cwd: temporaryDirectory(), environment });
    onTestFinished(() => dispatcher.shutdown({ graceMs: 0 }));
    const { commands } = await dispatcher.dispatch(['python3 --version']).done;
    expect(commands[0]).toMatchObject({
      verdict: { kind: 'serial', reason: { code: 'PLATFORM_UNPROVEN' } },
      stdout: 'of the shim\n',
    });
  });
});

test('the first stranger among what a command starts is named; what is missing runs nothing', () => {
  const directory = temporaryDirectory();
  program(join(directory, 'good'), 'text of good');
  program(join(directory, 'bad'));
  const identity = createToolIdentity(tools({ good: ['text of good'], bad: ['text of bad'] }), directory);
  const context = { path: directory, cwd: directory, workspaces: [] };
  expect(strangerAmong(identity, ['good', 'missing'], context)).toBeNull();
  expect(strangerAmong(identity, ['good', 'bad'], context)).toMatch(join(directory, 'bad'));
  expect(strangerAmong(ANY_TOOL, ['good', 'bad'], context)).toBeNull();
});

describe('the built-in rules', () => {
  const known = knownTools(rules);
  const path = process.env.PATH;

  test('know the everyday tools by their files', () => {
    const named = exportRules(rules).files.filter(({ file }) => file.identity !== undefined);
    expect(named.length).toBeGreaterThan(90);
    expect(known.texts.get('egrep')).toEqual(['GNU grep', 'exec grep -']);
    expect(known.never.get('busybox')).toMatch('every command');
  });

  test('know those of this machine, all that are installed', () => {
    const { doubt } = createToolIdentity(known, path);
    const asked = [...known.texts].flatMap(([name, texts]) => {
      const found = findProgram(name, { path, cwd: '/', workspaces: [] });
      return texts.length > 0 && found.kind === 'found' ? [{ name, doubt: doubt(name, found.path) }] : [];
    });
    expect(asked.length).toBeGreaterThan(60);
    expect(asked.filter((one) => one.doubt !== null)).toEqual([]);
  });
});

describe('the dispatcher', () => {
  test('proves commands of every rule whose program is here, with all that it starts', async () => {
    const dispatcher = createDispatcher({ rules, cwd: temporaryDirectory() });
    onTestFinished(() => dispatcher.shutdown({ graceMs: 0 }));
    const commands = [
      'git --version',
      'ls',
      'grep -n x f',
      'egrep x f',
      'tar -tf f.tar',
      'zcat f.gz',
      'gunzip -l f.gz',
    ];
    const verdicts = dispatcher
      .plan(commands)
      .commands.map(({ command, verdict }) => [
        command,
        verdict.kind === 'serial' ? verdict.reason.message : verdict.kind,
      ]);
    expect(verdicts.filter(([, told]) => told?.includes('that was proved'))).toEqual([]);
    expect(verdicts[0]).toEqual(['git --version', 'parallel']);
  });

  test('runs a command alone whose program another userland answers, names what it found, and proves the rest', async () => {
    const directory = temporaryDirectory();
    const busybox = program(join(directory, 'busybox'), '#!/bin/sh\necho another userland\n');
    symlinkSync(busybox, join(directory, 'head'));
    writeFileSync(join(directory, 'f'), 'text\n');
    const work = temporaryDirectory();
    writeFileSync(join(work, 'f'), 'text\n');
    const options = { rules, cwd: work, environment: { ...process.env, PATH: `${directory}:${process.env.PATH}` } };
    const dispatcher = createDispatcher(options);
    onTestFinished(() => dispatcher.shutdown({ graceMs: 0 }));
    const { commands } = await dispatcher.dispatch(['head -n 1 f', 'wc -l f']).done;
    expect(commands[0]).toMatchObject({
      verdict: { kind: 'serial', reason: { code: 'PLATFORM_UNPROVEN', check: 'environment' } },
      stdout: 'another userland\n',
    });
    expect(commands[0]?.verdict).toMatchObject({
      reason: {
        message: `${join(directory, 'head')}, which is ${busybox}, is not the head that was proved: busybox is every command, by its first operand`,
      },
    });
    expect(commands[1]).toMatchObject({ verdict: { kind: 'parallel' }, stdout: '1 f\n' });

    const believing = createDispatcher({ ...options, allowUnprovenPlatform: true });
    expect(believing.plan(['head -n 1 f']).commands[0]?.verdict.kind).toBe('parallel');
    await believing.shutdown({ graceMs: 0 });
  });
});
