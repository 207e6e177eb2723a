import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Directory, type Ground, programPath, unprivileged } from './bash-oracle.ts';

/**
 * The slow way to ask: a `bash -c` of its own for each text, and a real program under every name on a PATH that holds
 * nothing else. It shows what functions in a running bash cannot: that the text is read the same from a command line.
 */
export type ProcessOracle = {
  /** The words the printer got, its name first; null when it was not called exactly once, or bash complained. */
  ask(text: string, directory: Directory, noGlob: boolean): readonly string[] | null;
};

export function openProcessOracle(ground: Ground, names: readonly string[]): ProcessOracle {
  const path = join(ground.root, 'printers');
  const printer = join(ground.root, 'printer');
  const surroundings = join(ground.root, 'surroundings');
  const bash = programPath('bash');
  mkdirSync(path);
  // -p: the printer itself must not read BASH_ENV. The newline at the end tells two calls from one.
  writeFileSync(printer, `#!${bash} -p\nbuiltin printf '%s\\0' "\${0##*/}" "$@"\nbuiltin printf '\\n'\n`);
  chmodSync(printer, 0o755);
  for (const name of names) symlinkSync(printer, join(path, name));
  // Builtins of these names would answer before PATH is looked at. Read by bash before the text.
  const disabled = names.map((name) => `'${name}'`).join(' ');
  writeFileSync(surroundings, `for name in ${disabled}; do enable -n "$name" 2>&-; done; unset name\n`);
  return {
    ask(text, directory, noGlob) {
      const [program, ...words] = unprivileged([bash, '--noprofile', '--norc', ...(noGlob ? ['-f'] : []), '-c', text]);
      const run = spawnSync(program, words, {
        cwd: ground.directories[directory],
        env: { PATH: path, HOME: '/home', LC_ALL: 'C.UTF-8', BASH_ENV: surroundings },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 10_000,
        encoding: 'utf8',
      });
      if (run.status !== 0 || run.stderr !== '' || !run.stdout.endsWith('\0\n')) return null;
      const argv = run.stdout.slice(0, -2).split('\0');
      return argv.some((word) => word.startsWith('\n') && names.includes(word.slice(1))) ? null : argv;
    },
  };
}
