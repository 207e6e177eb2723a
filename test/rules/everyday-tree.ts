import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Surroundings, UNPRIVILEGED } from '../support/strace.ts';

/** A throw-away project that holds whatever the examples of the everyday rules name, owned by whoever runs them. */
export type Tree = {
  /** Where the examples run; a real path under the OS's temporary directory. */
  readonly project: string;
  readonly home: string;
  readonly surroundings: Surroundings;
  /** Names, kinds, times and contents of everything in the project, as one text. */
  readonly fingerprint: () => string;
  readonly remove: () => void;
};

const FILES: Readonly<Record<string, string>> = {
  'README.md': '# start\nfoo x (a|b)\nend\n-x a.b aaa\n',
  'package.json': '{ "name": "core", "version": "1.0.0", "scripts": { "build": "touch built" } }\n',
  'app.log': 'error one\nok\n',
  log: 'one\ntwo\n',
  'name with blanks': 'foo\n',
  'src/a.ts': 'export function foo() {}\n// TODO: class MyError\nbar\n',
  'src/b.ts': 'export const b = 1;\n',
  'src/index.ts': 'export {};\n',
  'docs/page.md': 'codex\n',
  'test/a.test.ts': 'foo\n',
  'node_modules/react/package.json': '{ "name": "react", "version": "18.0.0" }\n',
};

export function makeTree(): Tree {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-everyday-')));
  const project = join(top, 'project');
  const home = join(top, 'home');
  const scratch = join(top, 'tmp');
  for (const directory of [top, project, home, scratch]) makeDirectory(directory);
  for (const [name, text] of Object.entries(FILES)) {
    makeDirectory(dirname(join(project, name)));
    writeFileSync(join(project, name), text);
    own(join(project, name));
  }
  symlinkSync('src', join(project, 'link'));
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: home, TMPDIR: scratch, LC_ALL: 'C.UTF-8' };
  return {
    project,
    home,
    surroundings: { cwd: project, env, scratch, ...UNPRIVILEGED },
    fingerprint: () => fingerprint(project),
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
}

function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o755);
  own(path);
}

function own(path: string): void {
  if (UNPRIVILEGED.uid !== undefined) chownSync(path, UNPRIVILEGED.uid, UNPRIVILEGED.gid ?? UNPRIVILEGED.uid);
}

function fingerprint(directory: string): string {
  const hash = createHash('sha256');
  const walk = (path: string): void => {
    for (const name of readdirSync(path).sort()) {
      const entry = join(path, name);
      const stat = lstatSync(entry);
      hash.update(`${entry}\0${stat.mode}\0${stat.mtimeMs}\0${stat.ino}\0`);
      if (stat.isDirectory()) walk(entry);
      else hash.update(stat.isFile() ? readFileSync(entry) : '');
    }
  };
  walk(directory);
  return hash.digest('hex');
}
