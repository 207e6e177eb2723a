import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileWith, option } from './fixture.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-scripts-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

type Ended = { readonly code: number; readonly output: string };

/** Runs a script of the repository as npm would. */
function run(script: string, ...words: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const argv = ['--import', 'tsx', `scripts/${script}.ts`, ...words];
    execFile(process.execPath, argv, { cwd: root }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ code, output: stdout + stderr });
    });
  });
}

function write(name: string, data: unknown): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(data));
  return path;
}

describe('rules:check', () => {
  test('says that a whole file is fine, and how much of it its examples notice', async () => {
    const { code, output } = await run('rules-check', 'rules/wc.json');
    expect(output).toMatch(/^wc: \d+ examples and \d+ proposed ones, all as stated$/m);
    expect(output).toMatch(/^wc: (\d+) of \1 changes are noticed by an example$/m);
    expect(output).toContain('1 file is fine.');
    expect(code).toBe(0);
  });

  test('lists the entries that no example notices, with commands that would', async () => {
    const thin = fileWith({ command: { options: { '-a, --all': option() }, operands: ['word?'] } });
    const { code, output } = await run('rules-check', write('thin.json', thin));
    expect(output).toContain('/command/options/-a, --all: drop --all');
    expect(output).toContain('parallel: tool --all');
    expect(code).toBe(0);
  });

  test('names everything that is wrong with a file, for people', async () => {
    const shape = await run('rules-check', write('shape.json', { ...fileWith(), docs: 'x', more: 1 }));
    expect(shape.output).toContain('shape.json at /docs: expected an address (https://…), got "x"');
    expect(shape.output).toContain('shape.json at /more: expected no key of this name here');
    expect(shape.code).toBe(1);
    const loose = await run('rules-check', write('loose.json', fileWith({ command: { use: ['none'] } })));
    expect(loose.output).toContain(
      'loose.json at /command/use/0: expected the name of a group of this file, got "none"',
    );
    expect(loose.code).toBe(1);
    const examples = { parallel: ['tool -x'], serial: [{ command: 'tool', code: 'STDIN_READ' as const }] };
    const wrong = await run('rules-check', write('wrong.json', fileWith({ examples })));
    expect(wrong.output).toContain('at /examples/parallel/0: expected parallel for "tool -x", got OPTION_UNKNOWN');
    expect(wrong.output).toContain('tool: 2 examples and 0 proposed ones, 2 not as stated');
    expect(wrong.code).toBe(1);
  });
});

test('rules:new refuses what is no name, and never writes over a file', async () => {
  const before = readFileSync(join(root, 'rules/wc.json'), 'utf8');
  expect(await run('rules-new', 'wc')).toMatchObject({ code: 1, output: expect.stringContaining('is there already') });
  expect(readFileSync(join(root, 'rules/wc.json'), 'utf8')).toBe(before);
  for (const words of [[], ['Tool'], ['/bin/tool'], ['[']]) {
    expect(await run('rules-new', ...words)).toMatchObject({
      code: 2,
      output: expect.stringContaining('npm run rules:new'),
    });
  }
});

test('generate --check agrees with what is committed', async () => {
  const { code, output } = await run('generate', '--check');
  expect(output).toMatch(/^rule-file\.schema\.json: up to date$/m);
  expect(code).toBe(0);
});
