import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, readSources } from './source-files.ts';

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

/** The instructions of a Dockerfile, continued lines joined, comments left out. */
function instructions(text: string): { readonly name: string; readonly rest: string }[] {
  const joined = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  return joined
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }));
}

const lines = instructions(read('Dockerfile'));
const finalStage = lines.slice(lines.findLastIndex(({ name }) => name === 'FROM'));
const rest = (name: string, among = finalStage) => among.filter((line) => line.name === name).map((line) => line.rest);

describe('the Dockerfile', () => {
  test('has two stages on the image of one build argument, node:24-slim by default', () => {
    expect(rest('ARG', lines)[0]).toBe('NODE_IMAGE=node:24-slim');
    expect(rest('FROM', lines)).toEqual([`\${NODE_IMAGE} AS build`, `\${NODE_IMAGE}`]);
  });

  test('everything it copies from the context exists, and the context lets it through', () => {
    const passed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = rest('COPY', lines)
      .filter((copy) => !copy.startsWith('--from='))
      .flatMap((copy) => copy.split(' ').slice(0, -1));
    expect(copied).toEqual(expect.arrayContaining(['package.json', 'src', 'rules', 'scripts']));
    for (const path of copied) {
      expect(existsSync(join(ROOT, path)), path).toBe(true);
      expect(passed).toContain(path);
    }
  });

  test('the build stage has all that the build reads', () => {
    const build = lines.slice(0, lines.length - finalStage.length);
    const copied = rest('COPY', build).flatMap((copy) => copy.split(' ').slice(0, -1));
    const { scripts } = JSON.parse(read('package.json'));
    const named = scripts.build.match(/[\w./-]+\.(?:json|ts)/g) as string[];
    for (const path of named) expect(copied).toContain(path.includes('/') ? path.split('/')[0] : path);
    const { extends: base } = JSON.parse(read('tsconfig.build.json'));
    expect(copied).toContain(base.replace('./', ''));
  });

  test('the image has every file that the built code looks for outside of itself', () => {
    const copied = rest('COPY').flatMap((copy) =>
      copy
        .split(' ')
        .filter((word) => !word.startsWith('--'))
        .slice(0, -1),
    );
    const read = readSources().flatMap(({ path, text }) =>
      [...text.matchAll(/new URL\('([^']+)', import\.meta\.url\)/g)].map(([, named = '']) =>
        relative(ROOT, resolve(ROOT, 'src', dirname(path), named)),
      ),
    );
    const outside = read.filter((path) => !path.startsWith('src/'));
    expect(outside).toEqual(expect.arrayContaining(['rules', 'docs/errors.md']));
    for (const path of outside)
      expect(
        copied.some((one) => path === one || path.startsWith(`${one}/`)),
        path,
      ).toBe(true);
  });

  test('runs as a user who is not root, under an init, and asks for a token', () => {
    expect(rest('USER')).toEqual(['node']);
    const afterUser = finalStage.slice(finalStage.findIndex(({ name }) => name === 'USER'));
    expect(rest('RUN', afterUser)).toEqual([]);
    expect(JSON.parse(rest('ENTRYPOINT')[0] ?? '')).toEqual(['tini', '--', 'signalbox']);
    const command = JSON.parse(rest('CMD')[0] ?? '');
    expect(command).toEqual(['serve', '--host', '0.0.0.0', '--token-file', '/run/secrets/signalbox_token']);
  });

  test('asks its own health with what is in the image', () => {
    const [check = ''] = rest('HEALTHCHECK');
    const [program, flag, script] = JSON.parse(check.slice(check.indexOf('[')));
    expect([program, flag]).toEqual(['node', '-e']);
    expect(script).toContain('/healthz');
    expect(() => new Function(script)).not.toThrow();
  });

  test('has the programs that rules and examples use', () => {
    const [install = ''] = rest('RUN');
    for (const program of ['bash', 'git', 'ripgrep', 'jq', 'tree', 'file', 'procps', 'tini'])
      expect(install).toContain(` ${program}`);
  });
});

describe('compose.yaml', () => {
  const text = read('compose.yaml');

  test('publishes on loopback only', () => {
    const ports = [...text.matchAll(/^ {6}- "([\d.:]+)"$/gm)].map((match) => match[1]);
    expect(ports).toEqual(['127.0.0.1:7311:7311']);
  });

  test('mounts the token file that the image reads', () => {
    expect(text).toMatch(/^ {4}secrets:\n {6}- signalbox_token$/m);
    expect(text).toMatch(/^secrets:\n {2}signalbox_token:\n {4}file: \.\/scratch\/token$/m);
    expect(read('.gitignore').split('\n')).toContain('scratch/');
  });

  test('takes away what the service does not need', () => {
    for (const line of ['read_only: true', 'cap_drop:', 'no-new-privileges:true']) expect(text).toContain(line);
  });
});
