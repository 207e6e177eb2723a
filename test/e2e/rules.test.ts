import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RuleFile } from '../../src/rules/schema.ts';
import { ROOT, runCli, temporaryDirectory } from './cli.ts';

const frobnicate = (more: object = {}) => ({
  schema: 1,
  binary: 'frobnicate',
  docs: 'https://example.org/frobnicate',
  reviewed: { version: '1', on: '2026-01-01', how: 'read its source' },
  maturity: 'stable',
  portable: true,
  syntax: 'getopt',
  command: { why: 'prints a line and ends', stdin: 'never', operands: [] },
  examples: { parallel: ['frobnicate'], serial: [{ command: 'frobnicate x', code: 'OPERAND_UNEXPECTED' }] },
  ...more,
});

/** The built-in rule of one small program, changed. */
function ownWc(change: (file: RuleFile) => object): string {
  return JSON.stringify(change(JSON.parse(readFileSync(join(ROOT, 'rules', 'wc.json'), 'utf8'))));
}

const loosened = ownWc((file) => ({
  ...file,
  command: {
    ...file.command,
    options: { ...file.command.options, '--loud': { why: 'prints more loudly', override: true } },
  },
}));

describe('signalbox rules list', () => {
  test('is a table of what has a rule', async () => {
    const { code, stdout, stderr } = await runCli(['rules', 'list']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^binary +state +origin +profile +effects +other names$/);
    expect(lines).toContainEqual(expect.stringMatching(/^grep +stable +built-in +generic +reads-files +egrep, fgrep$/));
    expect(lines).toContainEqual(expect.stringMatching(/^git +stable +built-in +git.* +.*reads-repository/));
    expect(lines).toContainEqual(expect.stringMatching(/^brew +experimental +built-in/));
    expect(lines.at(-2)).toMatch(/^\d+ rules, \d+ names$/);
  });

  test('tells whose a rule is, and where it loosens a built-in one', async () => {
    const directory = temporaryDirectory({
      'own/frobnicate.json': JSON.stringify(frobnicate({ maturity: 'experimental' })),
      'own/wc.json': loosened,
    });
    const { stdout } = await runCli(['rules', 'list', '--rules', 'own', '--format', 'json'], { cwd: directory });
    const { rules, ruleset } = JSON.parse(stdout);
    const of = (name: string) => rules.find(({ binary }: { binary: string }) => binary === name);
    expect(ruleset).toMatch(/^sha256:/);
    expect(of('frobnicate')).toMatchObject({ state: 'experimental', origin: 'user', inForce: true, overrides: [] });
    expect(of('wc')).toMatchObject({ origin: 'user', overrides: ['/command/options/--loud/override'] });
    expect(of('grep')).toMatchObject({ names: ['grep', 'egrep', 'fgrep'], origin: 'built-in', inForce: true });
    expect(of('brew')).toMatchObject({ state: 'experimental', inForce: false });
    const text = await runCli(['rules', 'list', '--rules', 'own'], { cwd: directory });
    expect(text.stdout).toMatch(/^wc +stable +user, overrides/m);
  });
});

describe('signalbox rules check', () => {
  test('says that files are fine, and how much of them their examples notice', async () => {
    const directory = temporaryDirectory({ 'own/frobnicate.json': JSON.stringify(frobnicate()) });
    const { code, stdout, stderr } = await runCli(['rules', 'check', 'own'], { cwd: directory });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^frobnicate: 2 examples and 0 proposed ones, all as stated$/m);
    expect(stdout).toMatch(/^frobnicate: \d+ of \d+ changes are noticed by an example$/m);
    expect(stdout).toMatch(/^1 file is fine\.$/m);
  });

  test.each([
    ['what is no JSON', '{', /own\.json: expected JSON, got/],
    ['a key twice', '{"a":1,"a":2}', /own\.json at \/a: expected each key once/],
    ['an unknown key', JSON.stringify(frobnicate({ more: 1 })), /own\.json at \/more: expected no key of this name/],
    [
      'an unknown profile',
      JSON.stringify(frobnicate({ profile: 'loud' })),
      /own\.json at \/profile: expected a profile of profiles\.json, got "loud"/,
    ],
    [
      'a wrong example',
      JSON.stringify(frobnicate({ examples: { ...frobnicate().examples, parallel: ['frobnicate x'] } })),
      /own\.json at \/examples\/parallel\/0: expected parallel for "frobnicate x", got OPERAND_UNEXPECTED/,
    ],
    [
      'an override without anything to override',
      JSON.stringify(frobnicate({ override: true })),
      /own\.json at \/override: expected no override here/,
    ],
    [
      'more than the built-in rule permits',
      loosened.replace(',"override":true', ''),
      /own\.json at \/command\/options: expected nothing that the built-in rule does not permit, got the option "--loud"/,
    ],
    [
      'a name that is known to be unsafe',
      JSON.stringify(
        frobnicate({
          binary: 'watch',
          examples: { parallel: ['watch'], serial: [{ command: 'watch x', code: 'OPERAND_UNEXPECTED' }] },
        }),
      ),
      /own\.json at \/binary: expected "override": true at the top for "watch", which runs a command/,
    ],
  ])('refuses %s: exit code 1, the file and the place in it', async (_title, text, said) => {
    const directory = temporaryDirectory({ 'own.json': text });
    const { code, stdout, stderr } = await runCli(['rules', 'check', 'own.json'], { cwd: directory });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(said);
    expect(stdout).toMatch(/^1 file is not fine\.$/m);
  });

  test('a file that is not there is not fine, and no control character of a file reaches the terminal', async () => {
    const directory = temporaryDirectory({ 'own.json': JSON.stringify({ '\u001b[2J': 1 }) });
    const { code, stdout } = await runCli(['rules', 'check', 'own.json', 'nowhere.json'], { cwd: directory });
    expect(code).toBe(1);
    expect(stdout).toContain('nowhere.json: expected a readable file or directory');
    expect(stdout).toContain('2 files are not fine.');
    expect(stdout).not.toContain('\u001b');
  });
});

describe('signalbox rules new', () => {
  test('writes a file that fails its check until it is filled in, and is a rule then', async () => {
    const directory = temporaryDirectory();
    const started = await runCli(['rules', 'new', 'frobnicate'], { cwd: directory });
    expect(started).toMatchObject({ code: 0, stderr: '' });
    expect(started.stdout).toContain('Then: signalbox rules check frobnicate.json');
    const path = join(directory, 'frobnicate.json');
    expect(await runCli(['rules', 'check', path])).toMatchObject({ code: 1 });

    const template = JSON.parse(readFileSync(path, 'utf8'));
    expect(existsSync(join(directory, template.$schema))).toBe(true);
    const filled = structuredClone(template);
    filled.docs = 'https://example.org/frobnicate';
    filled.reviewed = { version: '1', on: '2026-01-01', how: 'read its manual page' };
    filled.alone['--version'].why = 'prints its version and ends';
    filled.command.why = 'prints the files that it is given';
    for (const option of Object.values<{ why: string }>(filled.command.options)) option.why = 'how it is printed';
    filled.command.refuses['-o, --output'] = 'writes a file';
    filled.examples.parallel = ['frobnicate -x a', 'frobnicate --number=3 a', 'frobnicate --version'];
    filled.examples.serial = [{ command: 'frobnicate -o b a', code: 'OPTION_UNKNOWN' }];
    writeFileSync(path, JSON.stringify(filled));
    const checked = await runCli(['rules', 'check', path]);
    expect(checked.stdout).toContain('1 file is fine.');
    expect(checked.code).toBe(0);
    const asked = await runCli(['classify', '--rules', path, 'frobnicate -x a']);
    expect(asked.stdout).toContain('frobnicate (user)');
  });

  test('says when the file would take the place of a built-in one', async () => {
    const { stdout } = await runCli(['rules', 'new', 'wc'], { cwd: temporaryDirectory() });
    expect(stdout).toContain('There is a built-in rule for wc');
  });

  test('a name that is known to be unsafe needs --override, which stands in the file', async () => {
    const directory = temporaryDirectory();
    const refused = await runCli(['rules', 'new', 'watch'], { cwd: directory });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('watch is known to be unsafe: it runs a command');
    expect(readdirSync(directory)).toEqual([]);
    expect(await runCli(['rules', 'new', '--override', 'watch'], { cwd: directory })).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(join(directory, 'watch.json'), 'utf8'))).toMatchObject({ override: true });
  });

  test('never writes over a file', async () => {
    const directory = temporaryDirectory({ 'frobnicate.json': 'mine' });
    const { code, stderr } = await runCli(['rules', 'new', 'frobnicate'], { cwd: directory });
    expect(code).toBe(2);
    expect(stderr).toContain('frobnicate.json is there already');
    expect(readFileSync(join(directory, 'frobnicate.json'), 'utf8')).toBe('mine');
  });
});

describe('signalbox rules docs', () => {
  test('prints the page of a rule, under each of its names', async () => {
    const { code, stdout, stderr } = await runCli(['rules', 'docs', 'egrep']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect((await runCli(['rules', 'docs', 'grep'])).stdout).toBe(stdout);
    for (const part of [
      '# `grep`',
      '`grep -e [PATH…]`',
      '`-f`, `--file`',
      '## Examples',
      '[`STDIN_READ`](../verdicts.md#stdin_read)',
    ])
      expect(stdout).toContain(part);
  });

  test('prints the index without a name, and writes every page with --out', async () => {
    const directory = temporaryDirectory();
    const { stdout } = await runCli(['rules', 'docs', '--out', 'pages'], { cwd: directory });
    expect(stdout).toMatch(/^Wrote \d+ pages to /);
    const pages = readdirSync(join(directory, 'pages'));
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'never.md', 'git.md', 'grep.md']));
    const index = await runCli(['rules', 'docs']);
    expect(index.stdout).toBe(readFileSync(join(directory, 'pages', 'README.md'), 'utf8'));
    for (const page of pages.filter((name) => name !== 'README.md' && name !== 'never.md'))
      expect(index.stdout).toContain(`](${page})`);
  });

  test('knows files of the user', async () => {
    const directory = temporaryDirectory({ 'own.json': JSON.stringify(frobnicate()) });
    const { stdout } = await runCli(['rules', 'docs', '--rules', 'own.json', 'frobnicate'], { cwd: directory });
    expect(stdout).toContain('Prints a line and ends.');
  });
});

test.each([
  [['rules', 'docs', 'nobody'], 'Expected a name that has a rule, got "nobody"'],
  [['rules', 'docs', 'watch'], 'watch has none: it runs a command'],
  [['rules', 'new'], "missing required argument 'name'"],
  [['rules', 'new', 'Foo'], 'bare lower-case name'],
  [['rules', 'new', '--out', 'nowhere', 'foo'], 'Expected a directory, got nowhere'],
  [['rules', 'list', '--format', 'xml'], 'Allowed choices'],
  [['rules', 'list', '--rules', 'nowhere'], 'nowhere'],
  [['rules', 'frobnicate'], "unknown command 'frobnicate'"],
])('%j is a usage error: exit code 2 and a sentence on standard error', async (args, said) => {
  const { code, stdout, stderr } = await runCli(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^signalbox: /);
  expect(stderr).toContain(said);
});

describe('a rule file of the user', () => {
  const bad = () =>
    temporaryDirectory({
      'bad.json': JSON.stringify(frobnicate({ profile: 'loud' })),
      'batch.json': '{"commands":["ls"]}',
    });

  test.each([
    [['classify', '--rules', 'bad.json', 'ls']],
    [['explain', '--rules', 'bad.json', 'ls']],
    [['run', '--rules', 'bad.json', 'batch.json']],
    [['serve', '--port', '0', '--rules', 'bad.json']],
  ])('that is bad means no start of %j: exit code 2, the file and the place in it', async (args) => {
    const { code, stdout, stderr } = await runCli(args, { cwd: bad() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/bad\.json at \/profile: expected a profile of profiles\.json, got "loud"/);
  });

  test('shows in every verdict that rests on it, and so does what it overrides', async () => {
    const directory = temporaryDirectory({
      'wc.json': loosened,
      f: '1\n',
      'batch.json': '{"commands":["wc f","wc --loud f"]}',
    });
    const { stdout } = await runCli(['run', '--rules', 'wc.json', '--format', 'json', 'batch.json'], {
      cwd: directory,
    });
    const { commands } = JSON.parse(stdout);
    expect(commands.map(({ verdict }: { verdict: { rule: object[] } }) => verdict.rule)).toEqual([
      [{ binary: 'wc', path: 'wc', origin: 'user' }],
      [{ binary: 'wc', path: 'wc', origin: 'override' }],
    ]);
  });
});
