import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Programs and files that nobody should ever come upon, named by variables of the parent and by the configuration of the
 * repository. Each leaves a mark of its own name when it is run or loaded.
 */
export type Traps = {
  readonly directory: string;
  /** The variables of the parent that lead into them, or would change what a program answers. */
  readonly environment: Readonly<Record<string, string>>;
  /** The names of those that were sprung. */
  readonly sprung: () => readonly string[];
};

/** Variables that name a program, or begin a command line with one. */
const PROGRAMS: Readonly<Record<string, string>> = {
  GIT_EXTERNAL_DIFF: '',
  GIT_PAGER: '',
  GIT_EDITOR: '',
  GIT_ASKPASS: '',
  GIT_SSH: '',
  GIT_SSH_COMMAND: '',
  GIT_PROXY_COMMAND: '',
  SSH_ASKPASS: '',
  PAGER: '',
  MANPAGER: '',
  SYSTEMD_PAGER: '',
  BAT_PAGER: '',
  GH_PAGER: '',
  AWS_PAGER: '',
  EDITOR: '',
  VISUAL: '',
  BROWSER: '',
  KUBECTL_EXTERNAL_DIFF: '',
  KUBE_EDITOR: '',
  RUSTC_WRAPPER: '',
  DIFFPROG: '',
  LESSOPEN: ' %s',
  LESSCLOSE: ' %s %s',
  npm_config_git: '',
  npm_config_script_shell: '',
  npm_config_viewer: '',
};

/** Programs that the configuration of the repository names. `fsmonitor` is also the one of its submodule. */
const CONFIGURED = ['fsmonitor', 'config-pager', 'gpg', 'config-editor', 'config-askpass', 'hook', 'alias', 'rg-pre'];

/** @param at a directory that exists. `marks` is where traps write; whoever runs them must be able to. */
export function makeTraps(at: string, marks: string): Traps {
  const directory = join(at, 'traps');
  for (const below of ['', 'python', 'perl']) mkdirSync(join(directory, below), { recursive: true });
  const program = (name: string): string => {
    const path = join(directory, name);
    writeFileSync(path, `#!/bin/sh\n: >'${join(marks, name)}'\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const loaded = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  for (const name of CONFIGURED) program(name);
  const mark = (name: string): string => join(marks, name);
  const environment: Record<string, string> = {
    RIPGREP_CONFIG_PATH: loaded('ripgreprc', `--pre=${join(directory, 'rg-pre')}\n`),
    TAR_OPTIONS: `--checkpoint=1 --checkpoint-action=exec=${program('TAR_OPTIONS')}`,
    GREP_OPTIONS: `--exclude-from=${loaded('GREP_OPTIONS', '*\n')}`,
    NODE_OPTIONS: `--require=${loaded('node.cjs', `require('fs').writeFileSync('${mark('NODE_OPTIONS')}', '')\n`)}`,
    BASH_ENV: loaded('BASH_ENV', `: >'${mark('BASH_ENV')}'\n`),
    ENV: join(directory, 'BASH_ENV'),
    'BASH_FUNC_ls%%': `() { : >'${mark('BASH_FUNC')}'; }`,
    'BASH_FUNC_echo%%': `() { : >'${mark('BASH_FUNC')}'; }`,
    PYTHONPATH: join(directory, 'python'),
    PERL5LIB: join(directory, 'perl'),
    PERL5OPT: '-MMark',
    RUBYOPT: `-r${loaded('mark.rb', `File.write('${mark('RUBYOPT')}', '')\n`)}`,
    GIT_TRACE: mark('GIT_TRACE'),
    GIT_TRACE2_EVENT: mark('GIT_TRACE2_EVENT'),
    GIT_CONFIG_GLOBAL: loaded('gitconfig', `[core]\n\tfsmonitor = ${join(directory, 'fsmonitor')}\n`),
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${join(directory, 'fsmonitor')}'`,
    GIT_INDEX_FILE: join(directory, 'index'),
    GOFLAGS: `-toolexec=${program('GOFLAGS')}`,
    MAKEFLAGS: `--eval=$(shell ${program('MAKEFLAGS')})`,
    XZ_OPT: `--files=${loaded('XZ_OPT', '')}`,
    LESS: `--log-file=${mark('LESS')}`,
    npm_config_cache: mark('npm_config_cache'),
    npm_config_node_options: `--require=${join(directory, 'node.cjs')}`,
  };
  loaded('python/sitecustomize.py', `open('${mark('PYTHONPATH')}', 'w')\n`);
  loaded('perl/Mark.pm', `package Mark; open(my $f, '>', '${mark('PERL5OPT')}'); 1;\n`);
  for (const [name, words] of Object.entries(PROGRAMS)) environment[name] = `${program(name)}${words}`;
  environment.LESSOPEN = `|${environment.LESSOPEN}`;
  return { directory, environment, sprung: () => readdirSync(marks).sort() };
}
