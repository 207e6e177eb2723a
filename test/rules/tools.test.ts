import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleFile } from '../../src/rules/schema.ts';

/** System tools, languages, packages and clients of services: what the facts say goes wrong with them. */

const rules = loadRules({ experimental: ['brew'] });

const SYSTEM =
  'uname arch whoami id groups logname hostid users who w last tty locale getconf ps pgrep pstree pmap free uptime ' +
  'vmstat lscpu lsblk lsmod findmnt mount dmesg lsattr getfacl namei stty tput getent ss netstat ip ifconfig route arp ' +
  'sysctl lsof journalctl systemctl loginctl timedatectl hostnamectl';
const LANGUAGES =
  'python3 node perl ruby php deno bun uv gcc clang cmake tsc eslint prettier rustc cargo go gofmt gem dotnet pip';
const CLIENTS = 'dpkg dpkg-query apt apt-cache rpm brew terraform helm gh';
const files = [SYSTEM, LANGUAGES, CLIENTS].flatMap((names) => names.split(' ')).map(ruleOf);

function ruleOf(binary: string): RuleFile {
  return JSON.parse(readFileSync(new URL(`../../rules/${binary}.json`, import.meta.url), 'utf8'));
}

function answer(command: string): string {
  const verdict = classify(command, { rules });
  return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
}

const TRAPS: Readonly<Record<string, readonly string[]>> = {
  // Waits without end, however it is spelled.
  OPTION_UNKNOWN: [
    ...[
      'free -s 1',
      'free -s1',
      'free -hs1',
      'free --seconds=1',
      'free --sec=1',
      'dmesg -w',
      'dmesg -Tw',
      'dmesg --follow',
    ],
    ...[
      'journalctl -f',
      'journalctl -fu x',
      'journalctl -qf',
      'journalctl --follow',
      'ss -E',
      'ss -tE',
      'netstat -c',
      'netstat -tnc',
    ],
    ...[
      'lsof -r',
      'lsof -r2',
      'lsof -tr',
      'findmnt -p',
      'findmnt --poll=mount',
      'gh pr checks 1 --watch',
      'systemctl is-system-running --wait',
    ],
    // Changes the system.
    ...[
      'dmesg -C',
      'dmesg -c',
      'dmesg -Tc',
      'dmesg -n 1',
      'ss -K',
      'ss -tnK',
      'arp -d x',
      'arp -nd x',
      'sysctl -w a=b',
      'sysctl -p',
    ],
    ...[
      'mount -a',
      'mount -la',
      'mount --bind a b',
      'ip -b f',
      'ip -batch f',
      'stty -echo',
      'journalctl --vacuum-size=1',
      'journalctl --rotate',
    ],
    // Writes a file.
    ...[
      'ss -D out',
      'ss -D out -t',
      'lsof -D b',
      'journalctl --cursor-file=f',
      'gofmt -w f',
      'gofmt -l -w f',
      'gofmt --w=true f',
    ],
    ...[
      'go env -w A=b',
      'go env -u A',
      'terraform fmt -check -write=true',
      'pip list --log f',
      'gh api user --cache 1h',
    ],
    // Runs a program, or takes one from somewhere else.
    ...[
      'python3 -c 1',
      'python3 -m json.tool f',
      'python3 -Vc 1',
      'node -e 1',
      'node -p 1',
      'node -r ./x --check a.js',
      'node --check a.js --import ./x',
    ],
    ...[
      'perl -e 1',
      'perl -ve 1',
      'ruby -e 1',
      'php -r 1',
      'gcc -wrapper sh --version',
      'cmake -P f',
      'getent -s files passwd',
      'getconf -v X Y',
    ],
    ...[
      'systemctl -H h status',
      'systemctl status --host=h',
      'apt -o A=b list',
      'apt list -o A=b',
      'dpkg -l --pre-invoke=x',
      'helm list --kubeconfig f',
    ],
    ...['rpm -E x', 'rpm -qa', 'rpm -qf x --pipe y', 'cargo --config x --version', 'cargo -vV', 'pip --python x list'],
    // Asks somebody else.
    ...[
      'who --lookup',
      'last -d',
      'ss -r',
      'findmnt -S LABEL=x',
      'findmnt --output-all',
      'pip list --outdated',
      'gh api --hostname h user',
    ],
    // Makes a request that changes something.
    ...[
      'gh api repos/o/r -f a=b',
      'gh api repos/o/r -fa=b',
      'gh api repos/o/r -if a=b',
      'gh api repos/o/r --raw-field=a=b',
      'gh api repos/o/r --input f',
    ],
    ...[
      'gh pr view 1 -w',
      'gh pr view 1 -cw',
      'gh auth status -t',
      'tput -S',
      'tput -T x cols',
      'pgrep -L -F f',
      'pmap -N f',
    ],
  ],
  OPERAND_UNEXPECTED: [
    ...[
      'vmstat 1',
      'vmstat 1 5',
      'vmstat -w 5',
      'free 1',
      'mount /mnt',
      'mount -t tmpfs none /mnt',
      'ifconfig eth0 down',
      'ifconfig lo 1.2.3.4',
    ],
    ...[
      'route -n add default',
      'route -n flush',
      'arp host',
      'journalctl -b 0',
      'journalctl _PID=1',
      'lsblk /dev/sda',
      'arch x',
      'hostid x',
    ],
    ...['python3 --version x.py', 'node -v x.js', 'gcc --version x.c', 'cmake --version .', 'systemctl get-default x'],
    ...[
      'timedatectl status x',
      'hostnamectl status x',
      'gh pr list x',
      'sysctl -a x=1',
      'findmnt /',
      'tsc --version x',
    ],
  ],
  OPERAND_REFUSED: [
    ...[
      'sysctl a=b',
      'sysctl vm.swappiness=1',
      'sysctl vm/swappiness',
      'stty sane',
      'stty raw',
      'tput init',
      'tput reset',
      'ps k pid',
    ],
    ...[
      'lsof +r',
      'lsof -i +r2',
      'lsof +m f',
      'lsof +D .',
      'ss dst example.org',
      'ip l s lo down',
      'ip addr add x dev y',
      'ip a a x',
      'ip link set x up',
    ],
    ...[
      'ip route flush',
      'ip route save',
      'ip rule add x',
      'ip addr show up',
      'getent nothing',
      'go env CGO_CFLAGS',
      'go env A=b',
      'gh api graphql',
    ],
    ...['gh api https://example.org', 'dpkg --compare-versions 1 x 2'],
  ],
  VALUE_REFUSED: [
    ...[
      'gh api -X DELETE repos/o/r',
      'gh api -XPOST user',
      'gh api -X=PUT user',
      'gh api --method=PATCH user',
      'gh api --method post user',
    ],
    ...[
      "gh api -H 'X-HTTP-Method-Override: DELETE' user",
      'findmnt -o TARGET,UUID',
      'findmnt -o LABEL',
      'rustc --print link-args',
      'helm list -o x',
    ],
    ...[
      'last -n x',
      'journalctl -n all',
      'journalctl -o x',
      'pip list --format x',
      'vmstat -S x',
      'dmesg --time-format x',
    ],
  ],
  OPTION_REQUIRED: [
    ...[
      'python3',
      'python3 x.py',
      'python3 -',
      'node',
      'node x.js',
      'perl x.pl',
      'ruby',
      'php x.php',
      'gcc x.c',
      'cmake .',
      'tsc',
      'eslint .',
    ],
    ...[
      'netstat',
      'netstat -tl',
      'route',
      'route add x',
      'pip',
      'pip freeze',
      'cargo',
      'rustc x.rs',
      'terraform fmt',
      'dpkg',
      'rpm',
      'brew',
    ],
  ],
  SUBCOMMAND_UNKNOWN: [
    ...[
      'ip monitor',
      'ip netns exec x ls',
      'ip vrf exec x ls',
      'systemctl restart x',
      'systemctl edit x',
      'systemctl stat x',
      'loginctl kill-user x',
    ],
    ...[
      'timedatectl set-time 1',
      'hostnamectl set-hostname x',
      'hostnamectl hostname x',
      'apt install x',
      'apt changelog x',
      'apt search x',
      'apt-cache gencaches',
    ],
    ...[
      'cargo build',
      'cargo metadata',
      'cargo fmt --check',
      'cargo foo',
      'cargo +nightly --version',
      'go list',
      'go test',
    ],
    ...[
      'go tool x',
      'pip install x',
      'pip config set a b',
      'terraform version',
      'terraform plan',
      'terraform show',
      'terraform validate',
      'terraform state pull',
      'terraform providers schema',
      'terraform output',
    ],
    ...[
      'helm template .',
      'helm repo add a b',
      'helm plugin list',
      'helm show chart x',
      'helm foo',
      'gh foo',
      'gh pr create',
      'gh pr checkout 1',
      'gh run watch',
    ],
    ...[
      'gh run download',
      'gh auth token',
      'gh alias list',
      'gh extension list',
      'gh repo clone x',
      'gh browse',
      'brew info x',
    ],
  ],
  PATH_DEVICE: [
    'users /dev/tty',
    'last -f /dev/tty',
    'lsattr /dev/sda',
    'lsattr -R /',
    'getfacl -R /',
    'namei /dev/tty',
    'lsof /dev/tty',
    'findmnt -T /dev/sda1',
    'node --check /dev/stdin',
    'go version /proc/1/exe',
  ],
  STDIN_READ: ['getfacl -', 'gofmt', 'gofmt -l', 'node --check -', 'terraform fmt -check -'],
  GLOB_REFUSED: ['ps 1*', 'dpkg -l lib*', 'apt list lib*', 'lsof *', 'namei *', 'gofmt *', 'lsattr *', 'who *'],
};

describe('what the facts say goes wrong is serial', () => {
  for (const [code, commands] of Object.entries(TRAPS)) {
    test.each(commands)(`${code}: %s`, (command) => {
      expect(answer(command)).toBe(code);
    });
  }
});

type Refusing = {
  readonly refuses?: Readonly<Record<string, string>>;
  readonly subcommands?: Readonly<Record<string, Refusing>>;
};

/** The notes of every node on the way to the one that proved the command. */
function notesOnTheWay({ command }: RuleFile, path: string): readonly string[] {
  const notes: string[] = [];
  let node: Refusing = command as Refusing;
  for (const name of [null, ...path.split(' ').slice(1)]) {
    if (name !== null) {
      node = Object.entries(node.subcommands ?? {}).find(([key]) => key.split(', ').includes(name))?.[1] ?? {};
    }
    notes.push(...Object.keys(node.refuses ?? {}).flatMap((key) => key.split(/[,;] /)));
  }
  return notes;
}

describe.each(files)('$binary', (file) => {
  test('a word that its notes call unsafe, put behind any parallel example, makes it serial', () => {
    for (const command of file.examples.parallel) {
      const verdict = classify(command, { rules });
      if (verdict.kind === 'serial') throw new Error(`${command} is serial: ${verdict.reason.message}`);
      const words = notesOnTheWay(file, verdict.rule[0]!.path).filter(
        (word) => word.startsWith('-') || word.startsWith('+'),
      );
      expect(words.filter((word) => answer(`${command} ${word}`) === 'parallel')).toEqual([]);
    }
  });
});

const VERSION_ONLY = LANGUAGES.split(' ').filter(
  (name) => !['node', 'go', 'gofmt', 'cargo', 'pip', 'rustc'].includes(name),
);

test.each(VERSION_ONLY)('%s is asked for what it is, alone and with nothing else', (name) => {
  const file = ruleOf(name);
  for (const command of file.examples.parallel) {
    expect(answer(command)).toBe('parallel');
    for (const more of ['x', '-c 1', '-e 1', '--', './x', 'run']) {
      if (more !== '--') expect([command, more, answer(`${command} ${more}`)]).not.toEqual([command, more, 'parallel']);
    }
    // In front of it, the same words would be the program.
    expect(answer(command.replace(' ', ' ./program '))).not.toBe('parallel');
  }
});
