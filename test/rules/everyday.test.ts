import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { classify, judge } from '../../src/classifier/classify.ts';
import { spellingsOf } from '../../src/classifier/usage.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { loadRules } from '../../src/rules/load.ts';
import type { RuleFile, RuleNode } from '../../src/rules/schema.ts';

/** The everyday rules against the vectors, against what agents send, and against hostile words put into good commands. */

const BINARIES = 'sed ls cat rg grep echo find pwd head tail wc npm docker kubectl'.split(' ');
const rules = loadRules();
const ask = (command: string): Verdict => classify(command, { rules });
const isParallel = (command: string): boolean => ask(command).kind === 'parallel';
const binaryOf = (command: string): string => command.split(' ')[0]!;
const fromRoot = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const ruleOf = (binary: string): RuleFile => JSON.parse(readFileSync(fromRoot(`rules/${binary}.json`), 'utf8'));

type Row = { readonly cmd: string; readonly count?: number; readonly guess?: string; readonly shape?: string };
function rowsOf(path: URL): readonly Row[] {
  const rows = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): Row => JSON.parse(line));
  return rows.filter(({ cmd }) => BINARIES.includes(binaryOf(cmd)));
}

describe('the vectors of these binaries', () => {
  test('no hostile one is parallel', () => {
    const rows = rowsOf(fromRoot('test/vectors/hostile.jsonl'));
    expect(rows.length).toBeGreaterThan(130);
    expect(rows.map(({ cmd }) => cmd).filter(isParallel)).toEqual([]);
  });

  test('every harmless one is parallel', () => {
    const rows = rowsOf(fromRoot('test/vectors/parallel.jsonl'));
    expect(rows.length).toBeGreaterThan(70);
    expect(rows.map(({ cmd }) => cmd).filter((command) => !isParallel(command))).toEqual([]);
  });
});

/** A sample of what agents send, for a clone that does not have the whole corpus beside it. */
const SENT = [
  "sed -n '1,260p' './Use Cases/UC-13.md'",
  "sed -n '15p' /app/src/process_data.py",
  "sed -n '39,43p; 54,58p' src/a.ts",
  'ls -la /app/src',
  'ls -lh dist',
  'cat package.json',
  'cat "docs/01 notes.md"',
  "rg --files -g 'AGENTS.md'",
  'rg -n "CREATE TABLE" -n -C 3 migrations/schema.sql',
  'rg "group_membership" -n',
  'rg -n "codex" docs -g"*.md"',
  'grep -n "loop over" /app/src/grammar.cpp',
  'grep -r "sourceMap" /app/internal --include="*.go" -B2 -A2',
  'grep -n "decode" /app/internal/decoder/*.go',
  "grep -A5 'toctree-l1' _build/index.html",
  "find . -maxdepth 3 -type d -regex '.*/[0-9]+-ui'",
  'find testbed -name "defaultfilters.py" -type f',
  'find ./src -name "*skeleton*" -type f',
  'head -20 README.md',
  'tail -n 40 logs/out.log',
  'wc -l src/a.ts src/b.ts',
  'echo "---"',
  'pwd',
  'docker ps -a --filter "name=web" --format "{{.Names}}"',
];

test('a sample of what agents send is parallel', () => {
  expect(SENT.filter((command) => !isParallel(command))).toEqual([]);
});

test('so is at least 97 % of the simple reads of the corpus, when it is beside the project', () => {
  const corpus = fromRoot('../shared/corpus/agent-commands.jsonl');
  const rows: readonly Row[] = existsSync(corpus)
    ? rowsOf(corpus)
    : SENT.map((cmd) => ({ cmd, guess: 'ro', shape: 'simple' }));
  const reads = rows.filter(
    ({ cmd, guess, shape }) => guess !== 'no' && shape?.startsWith('simple') && !/[|<>]|\$|~/.test(withoutQuotes(cmd)),
  );
  const proved = reads.filter(({ cmd }) => isParallel(cmd));
  expect(reads.length).toBeGreaterThan(20);
  expect(proved.length / reads.length).toBeGreaterThan(0.97);
});

function withoutQuotes(command: string): string {
  return command.replace(/'[^']*'|"[^"$`]*"/g, '');
}

/** Words that make a command write, run, block or reach elsewhere, in every place where they would be options. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  sed: ['-i', '-i.bak', '-ni', '--in-place', '--in-place=x', '-f', '--file=x', '-e1w\\ x', "-e'w x'", '--expression=w'],
  ls: ['--unknown', '>x', '&', ';'],
  cat: ['-l', '/dev/tty', '-', '*', '>x', '/proc/kmsg'],
  head: ['/dev/zero', '-f', '-', '*', '|tee'],
  tail: ['-f', '-F', '-qf', '-5f', '--follow', '--follow=name', '--retry', '+f', '+1f', '/dev/tty', '--pid=1'],
  wc: ['--files0-from=-', '--files0-from=x', '/dev/zero', '-'],
  grep: ['-f', '-nf', '--file=x', '-D', '--devices=read', '-P', '--exclude-from=x', '>x', ';', '*'],
  find: [
    '-delete',
    '-exec',
    '-execdir',
    '-ok',
    '-okdir',
    '-fprint',
    '-fprint0',
    '-fprintf',
    '-fls',
    '-files0-from',
    '/dev/tty',
  ],
  rg: ['--pre', '--pre=x', '-z', '-nz', '--search-zip', '--hostname-bin', '-f', '--file=x', '-P', '*'],
  npm: [
    '--prefix',
    '--prefix=x',
    '-C',
    '--userconfig=x',
    '--script-shell=x',
    '--browser=x',
    '--registry=x',
    '--fix',
    '--node-options=x',
    '--cache=x',
    '-gl',
    '$x',
  ],
  docker: ['--follow', '--host=ssh://h', '--config', '--context=x', '-c', '--help', '--output=x', '-o', '--tls', '$x'],
  kubectl: [
    '-w',
    '--watch',
    '--watch=true',
    '-Aw',
    '-wn',
    '--raw=/x',
    '-f',
    '--filename=x',
    '-k',
    '--kubeconfig=x',
    '-s',
    '--server=x',
    '--token=x',
    '--as=x',
    '--cache-dir=x',
    '--profile=cpu',
    '--profile-output=x',
    '--follow',
  ],
};

/** Every spelling anywhere in the file that takes the next word as its value, and the letters that end such a cluster. */
function valueTakers(file: RuleFile): ReadonlySet<string> {
  const takers = new Set<string>();
  const tables = [...Object.values(file.groups ?? {})];
  const visit = (node: RuleNode): void => {
    tables.push(node.options ?? {});
    for (const below of Object.values(node.subcommands ?? {})) visit(below);
  };
  visit(file.command);
  for (const [key, option] of tables.flatMap((table) => Object.entries(table))) {
    if (option.takes !== undefined && !option.optional) for (const one of spellingsOf(key).flat()) takers.add(one);
  }
  return takers;
}

function endsInTaker(word: string, takers: ReadonlySet<string>): boolean {
  const isCluster = word.startsWith('-') && !word.startsWith('--');
  return takers.has(word) || (isCluster && takers.has(`-${word.at(-1)}`));
}

describe('a hostile word put anywhere into a parallel example makes it serial, unless it is the value of an option', () => {
  test.each(Object.keys(HOSTILE))('%s', (binary) => {
    const file = ruleOf(binary);
    const takers = valueTakers(file);
    const wrong: string[] = [];
    let tried = 0;
    for (const example of file.examples.parallel) {
      if (/['"\\]/.test(example)) continue; // the places between its words are not those between its blanks
      const words = example.split(' ');
      for (let at = 1; at <= words.length; at++) {
        // An option that takes the next word takes it; behind `--` there are no options.
        if (endsInTaker(words[at - 1]!, takers) || words.slice(0, at).includes('--')) continue;
        for (const word of HOSTILE[binary]!) {
          const command = [...words.slice(0, at), word, ...words.slice(at)].join(' ');
          tried++;
          if (isParallel(command)) wrong.push(command);
        }
      }
    }
    expect(tried).toBeGreaterThan(30);
    expect(wrong).toEqual([]);
  });
});

describe('what reads everything below a directory does not start at the root, where devices and the kernel are', () => {
  const verdictIn = (cwd: string, command: string): string => {
    const verdict = classify(command, { rules, cwd });
    return verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;
  };

  test.each(['grep -r x', 'grep -re x', 'rg x', 'rg -e x', 'grep -r x .', 'rg x ./', 'grep -r x src/..'])(
    '%s',
    (command) => {
      expect(verdictIn('/', command)).toBe('PATH_DEVICE');
      expect(verdictIn('/srv/project', command)).toBe('parallel');
      expect(isParallel(command)).toBe(true);
    },
  );

  test.each(['grep -r x ../..', 'grep -re x src ../../', 'rg x ../..', 'rg -e x ..//../.'])('%s', (command) => {
    expect(verdictIn('/srv/project', command)).toBe('PATH_DEVICE');
    expect(verdictIn('/srv/project/deeper', command)).toBe('parallel');
    expect(ask(command)).toMatchObject({ kind: 'serial', reason: { code: 'PATH_DEVICE' } });
  });

  test('while names and times may be read anywhere', () => {
    expect(verdictIn('/', 'find . -name x')).toBe('parallel');
    expect(verdictIn('/', 'rg --files')).toBe('parallel');
  });
});

describe('what is known to be unsafe is said to be, with its reason', () => {
  test.each([
    ['sed -i s/a/b/ f', 'rewrites its files'],
    ['sed -f program f', 'program is in a file'],
    ['tail -f log', 'does not end'],
    ['tail -F log', 'does not end'],
    ['wc --files0-from=names', 'file names from a file'],
    ['grep -f patterns f', 'patterns from a file'],
    ['grep -P x f', 'millions of ways'],
    ['find . -delete', 'removes what it finds'],
    ["find . -exec rm '{}' +", 'runs a command for each file'],
    ['find . -fprint out', 'writes the file it names'],
    ['rg --pre ./x foo', 'runs a program'],
    ['rg -z foo', 'decompressors'],
    ['npm install', 'changes node_modules'],
    ['npm test', 'runs scripts'],
    ['npm pack --dry-run', 'with --dry-run too'],
    ['npm audit fix', 'installs'],
    ['npm --prefix x ls', 'from the text'],
    ['docker run x', 'changes the daemon'],
    ['docker info', 'plug-in'],
    ['docker logs -f web', 'does not end'],
    ['docker compose up', 'changes containers'],
    ['docker -H ssh://h ps', 'ssh'],
    ['kubectl delete pod x', 'changes the cluster'],
    ['kubectl get pods -w', 'does not end'],
    ['kubectl exec p -- ls', 'runs something'],
    ['kubectl config use-context x', 'under a lock'],
    ['kubectl rollout undo d/x', 'changes the deployment'],
    ['kubectl --kubeconfig=x get pods', 'another cluster'],
  ])('%s', (command, reason) => {
    const verdict = ask(command);
    if (verdict.kind === 'parallel') throw new Error(`${command} is parallel`);
    expect(verdict.reason.knowledge).toBe('known-unsafe');
    expect(verdict.reason.message).toContain(reason);
  });

  test('and what nobody looked at is only unknown', () => {
    const verdict = ask('ls --unheard-of');
    expect(verdict.kind === 'serial' && verdict.reason.knowledge).toBe('unrecognised');
  });
});

describe('what a parallel verdict says besides', () => {
  const parallel = (command: string): Extract<Verdict, { kind: 'parallel' }> => {
    const verdict = ask(command);
    if (verdict.kind !== 'parallel') throw new Error(`${command}: ${verdict.reason.message}`);
    return verdict;
  };

  test('builtins and globs are run by bash, everything else from its words', () => {
    for (const command of ['echo x', 'pwd', 'ls src/*', 'grep x src/*.ts']) {
      expect(parallel(command).run, command).toEqual({ form: 'bash' });
    }
    expect(parallel('sed -n \'1,2p\' "a b"').run).toEqual({
      form: 'argv',
      argv: ['sed', '-n', '1,2p', 'a b'],
      env: {},
    });
    expect(parallel('find . \\( -name x \\)').run).toMatchObject({ argv: ['find', '.', '(', '-name', 'x', ')'] });
  });

  test('what it looks at and what it does', () => {
    expect(parallel('cat x').effects).toEqual(['reads-files']);
    expect(parallel('echo x').effects).toEqual([]);
    expect(parallel('npm ls').effects).toEqual(['reads-files', 'own-log']);
    expect(parallel('npm view react').effects).toEqual(['reads-files', 'reads-network', 'own-log', 'own-cache']);
    expect(parallel('npm --version').effects).toEqual([]);
    expect(parallel('docker ps').effects).toContain('talks-to-daemon');
    expect(parallel('docker context ls').effects).toEqual(['reads-files']);
    expect(parallel('kubectl get pods').effects).toEqual(
      expect.arrayContaining(['reads-network', 'own-cache', 'configured-programs']),
    );
  });

  test('which profile it presumes, and which resources it shares', () => {
    expect(
      ['cat x', 'rg x', 'npm ls', 'docker ps', 'kubectl get pods'].map((command) => parallel(command).profile),
    ).toEqual(['generic', 'rg', 'npm', 'docker', 'kubectl']);
    const resourcesOf = (command: string): readonly string[] => judge(command, { rules }).resources;
    expect(resourcesOf('docker ps')).toEqual(['docker-daemon']);
    expect(resourcesOf('kubectl get pods')).toEqual(['cluster']);
    expect(resourcesOf('cat x')).toEqual([]);
  });
});
