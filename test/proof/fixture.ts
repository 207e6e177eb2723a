import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
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
import { fileURLToPath } from 'node:url';
import { type Environment, mindedVariable } from '../../src/dispatcher/environment.ts';
import { UNPRIVILEGED } from '../support/strace.ts';
import { contentOf } from './contents.ts';
import type { Services } from './services.ts';
import { makeTraps, type Traps } from './traps.ts';

/** A throw-away project that is a repository, with a home of its own, owned by whoever runs the commands. */
export type Fixture = {
  /** Where commands run; a real path under the system's temporary directory. */
  readonly project: string;
  /** Empty at first. */
  readonly home: string;
  readonly temporary: string;
  /** Where strace writes. */
  readonly scratch: string;
  /** What the embedder's process has around it: ordinary names, and whatever leads into the traps. */
  readonly environment: Readonly<Record<string, string>>;
  readonly traps: Traps;
  /** Names, kinds, times and contents of everything in the project, its repository included, as one text. */
  readonly fingerprint: () => string;
  readonly remove: () => void;
};

export type FixtureOptions = {
  /** Paths in the project that commands name, to be there from the first commit on. A slash at the end: a directory. */
  readonly files?: readonly string[];
  /** Whether environment and configuration lead into the traps. */
  readonly trapped: boolean;
  /** Whether times in the index differ from those of the files. Default true. */
  readonly stale?: boolean;
  /** Variables, or beginnings of them with a star, with which in its parent a command is serial: they lead into no trap. */
  readonly minds?: readonly string[];
  /** Who answers what the network and daemons are asked. Default: nobody. */
  readonly services?: Services;
};

/** What examples search and print; the repository's own files are in fixture.sh. */
const FILES: Readonly<Record<string, string>> = {
  'app.log': 'error one\nok\n',
  log: 'one\ntwo\n',
  'name with blanks': 'foo\n',
  'src/index.ts': 'export {};\n',
  'src/main.ts': 'export function main() {}\n',
  'docs/page.md': 'codex\n',
  'test/a.test.ts': 'foo\n',
};

/** No command that opens one of these as a file can make it one. */
const DIRECTORIES = ['src', 'packages/core', 'dist', 'node_modules/react', 'docs', 'test'];

/** No entry of the project that runs the proof may come first. */
const PATH = [
  ...new Set([
    '/usr/local/sbin',
    '/usr/local/bin',
    '/usr/sbin',
    '/usr/bin',
    '/sbin',
    '/bin',
    dirname(realpathSync(process.execPath)),
  ]),
].join(':');

/** What Debian calls otherwise than its makers do. */
const RENAMED: Readonly<Record<string, string>> = { bat: '/usr/bin/batcat', fd: '/usr/bin/fdfind' };

/** Whether a program of that name is where every fixture looks. */
export function isInstalled(name: string): boolean {
  const paths = [...PATH.split(':').map((directory) => join(directory, name)), RENAMED[name] ?? ''];
  return paths.some((path) => {
    try {
      accessSync(path, constants.X_OK);
      return path !== '';
    } catch {
      return false;
    }
  });
}

export function makeFixture({ files = [], trapped, stale = true, minds = [], services }: FixtureOptions): Fixture {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-proof-')));
  const at = (name: string): string => join(top, name);
  const [project, home, temporary, scratch, marks] = ['project', 'home', 'tmp', 'scratch', 'marks'].map(at) as [
    string,
    string,
    string,
    string,
    string,
  ];
  for (const directory of [top, project, home, temporary, scratch, marks, at('bin')])
    mkdirSync(directory, { recursive: true });
  for (const name of DIRECTORIES) mkdirSync(join(project, name), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) write(join(project, name), text);
  symlinkSync('src', join(project, 'link'));
  for (const name of files) add(project, name);
  const reaching = services === undefined ? {} : reach(services, top, project);
  for (const [name, path] of Object.entries(RENAMED)) if (existsSync(path)) symlinkSync(path, join(at('bin'), name));
  const traps = makeTraps(top, marks);
  own(top);

  const plain = {
    PATH: `${PATH}:${at('bin')}`,
    HOME: home,
    TMPDIR: temporary,
    USER: 'tester',
    LOGNAME: 'tester',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...reaching,
  };
  const places = { ORIGIN: at('origin.git'), LINKED: at('linked'), STALE: stale ? 'yes' : 'no' };
  const script = fileURLToPath(new URL('fixture.sh', import.meta.url));
  run(['bash', '--noprofile', '--norc', '-c', readFileSync(script, 'utf8')], project, { ...plain, ...places });
  if (trapped) setTraps(project, traps.directory, plain);
  return {
    project,
    home,
    temporary,
    scratch,
    environment: trapped ? { ...plain, ...unminded(traps.environment, minds) } : plain,
    traps,
    fingerprint: () => fingerprint(project),
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
}

function unminded(environment: Environment, minds: readonly string[]): Environment {
  const kept = Object.entries(environment).filter(([name]) => mindedVariable({ [name]: '' }, minds) === null);
  return Object.fromEntries(kept);
}

/** Where readers of the network and of daemons find those who answer them. */
function reach(services: Services, top: string, project: string): Environment {
  write(join(project, '.npmrc'), `registry=${services.address}/npm/\nfetch-retries=0\n`);
  const cluster = { name: 'here', cluster: { server: `${services.address}/cluster` } };
  const contexts = ['default', 'staging'].map((name) => ({ name, context: { cluster: 'here', user: 'tester' } }));
  const kubeconfig = join(top, 'kubeconfig');
  const config = { apiVersion: 'v1', kind: 'Config', clusters: [cluster], contexts, 'current-context': 'default' };
  write(kubeconfig, JSON.stringify({ ...config, users: [{ name: 'tester', user: {} }] }));
  return {
    DOCKER_HOST: `unix://${services.socket}`,
    KUBECONFIG: kubeconfig,
    // Whoever would ask a forge far away gets as far as the connection.
    HTTPS_PROXY: services.address,
    GH_TOKEN: 'made-up',
  };
}

/** What the configuration of a repository can make its readers run, as far as the profile of git says it does not. */
function setTraps(project: string, traps: string, env: Readonly<Record<string, string>>): void {
  const settings: Readonly<Record<string, string>> = {
    'core.fsmonitor': join(traps, 'fsmonitor'),
    'core.pager': join(traps, 'config-pager'),
    'core.editor': join(traps, 'config-editor'),
    'core.askPass': join(traps, 'config-askpass'),
    'pager.log': join(traps, 'config-pager'),
    'pager.status': join(traps, 'config-pager'),
    'gpg.program': join(traps, 'gpg'),
    'log.showSignature': 'true',
    'alias.status': `!${join(traps, 'alias')}`,
    'alias.log': `!${join(traps, 'alias')}`,
  };
  const hooks = 'post-index-change fsmonitor-watchman post-checkout pre-auto-gc reference-transaction'.split(' ');
  const set = Object.entries(settings).map(([key, value]) => `git config '${key}' '${value}'`);
  const link = hooks.map((hook) => `ln -s '${join(traps, 'hook')}' ".git/hooks/${hook}"`);
  const below = `git -C vendor config core.fsmonitor '${join(traps, 'fsmonitor')}'`;
  run(
    ['bash', '--noprofile', '--norc', '-euc', ['mkdir -p .git/hooks', ...set, ...link, below].join('\n')],
    project,
    env,
  );
}

function run(argv: readonly string[], cwd: string, env: Environment): void {
  const [program = '', ...words] = argv;
  execFileSync(program, words, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'], ...UNPRIVILEGED });
}

/** Puts a file or directory where a command expects one. What is there, or would need a file to be a directory, stays. */
function add(project: string, name: string): void {
  const path = join(project, name);
  if (existsSync(path) || !path.startsWith(`${project}/`)) return;
  try {
    if (name.endsWith('/')) write(join(path, 'inside.txt'), 'foo\n');
    else write(path, contentOf(name));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['ENOTDIR', 'EEXIST', 'EISDIR', 'ENAMETOOLONG'].includes(code)) throw error;
  }
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Hands a tree over to whoever runs the commands. */
function own(path: string): void {
  const stat = lstatSync(path);
  if (UNPRIVILEGED.uid !== undefined && !stat.isSymbolicLink()) chownSync(path, UNPRIVILEGED.uid, UNPRIVILEGED.gid!);
  if (!stat.isDirectory()) return;
  chmodSync(path, 0o755);
  for (const name of readdirSync(path)) own(join(path, name));
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
