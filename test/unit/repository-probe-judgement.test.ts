import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { classify } from '../../src/classifier/classify.ts';
import type { Judge, RepositoryFacts } from '../../src/classifier/judgement.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import { judgeOf } from '../../src/cli/judge.ts';
import { type ConfigFlags, loadConfig } from '../../src/config.ts';
import { createDispatcher } from '../../src/dispatcher/dispatcher.ts';
import { createJudge } from '../../src/dispatcher/judge.ts';
import type { DispatcherOptions } from '../../src/dispatcher/options.ts';
import { createProbingJudge } from '../../src/dispatcher/repository-judge.ts';
import { createRepositoryProbe, probeRepository } from '../../src/dispatcher/repository-probe.ts';
import { createServiceJudge } from '../../src/http/service-dispatcher.ts';
import { loadRules } from '../../src/rules/load.ts';
import { makePlace, type Place } from '../support/repositories.ts';

const rules = loadRules();
const FINDING = { code: 'REPOSITORY_CONFIGURED', affects: 'configured-programs', detail: 'x\u202e' } as const;
const facts = (...findings: RepositoryFacts['findings']): RepositoryFacts => ({ findings });

/** `parallel` and what it assumes, or the code. */
function told(verdict: Verdict): string {
  return verdict.kind === 'parallel' ? ['parallel', ...verdict.assumes].join(' ') : verdict.reason.code;
}

describe('classify with what a probe found', () => {
  const ask = (command: string, repository?: RepositoryFacts) =>
    told(classify(command, { rules, ...(repository === undefined ? {} : { repository }) }));

  test('nothing found: the verdict rests on no assumption', () => {
    expect(ask('git diff')).toBe('parallel repository-plain index-fresh');
    expect(ask('git diff', facts())).toBe('parallel');
    expect(ask('ls', facts())).toBe('parallel');
  });

  test('a stale index concerns the reads that would refresh it, and no others', () => {
    const stale = facts({ code: 'REPOSITORY_STALE', affects: 'index-reads', detail: 'x has new times' });
    expect(ask('git diff', stale)).toBe('REPOSITORY_STALE');
    expect(ask('git status', stale)).toBe('parallel');
    expect(ask('git log', stale)).toBe('parallel');
    expect(ask('ls', stale)).toBe('parallel');
  });

  test('a program concerns the reads that may start one, and no others', () => {
    expect(ask('git diff', facts(FINDING))).toBe('REPOSITORY_CONFIGURED');
    expect(ask('git rev-parse HEAD', facts(FINDING))).toBe('parallel');
    expect(ask('git --version', facts(FINDING))).toBe('parallel');
    expect(ask('ls', facts(FINDING))).toBe('parallel');
  });

  test('what breaks every read concerns all that look at the repository', () => {
    const broken = { ...FINDING, code: 'REPOSITORY_UNREADABLE', affects: 'every-read' } as const;
    expect(ask('git rev-parse HEAD', facts(FINDING, broken))).toBe('REPOSITORY_UNREADABLE');
    expect(ask('ls', facts(broken))).toBe('parallel');
    // What is not known to be narrow is wide.
    const odd = { ...FINDING, affects: 'some-read' } as unknown as typeof FINDING;
    expect(ask('git rev-parse HEAD', facts(odd))).toBe('REPOSITORY_CONFIGURED');
  });

  test('it can take a yes away and never give one', () => {
    expect(ask('git push', facts())).toBe('SUBCOMMAND_UNKNOWN');
    expect(ask('git diff --output=x', facts())).toBe('OPTION_UNKNOWN');
  });

  test('the message names what was found, and nothing in it acts', () => {
    const verdict = classify('git diff', { rules, repository: facts(FINDING) });
    expect(verdict).toMatchObject({ kind: 'serial', reason: { check: 'environment', span: [0, 8] } });
    expect(verdict.kind === 'serial' && verdict.reason.message).toContain('x\\u{202e}');
  });

  test.each([null, {}, { findings: 'none' }, { findings: [null] }, { findings: [{ code: 'X', detail: '' }] }])(
    'misuse throws: %j',
    (repository) => {
      const options = { rules, repository: repository as unknown as RepositoryFacts };
      expect(() => classify('ls', options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    },
  );
});

/** Every way that is known in which a read starts a program, each with the trap. */
function springLoaded(place: Place): string {
  const { trap, git, write, environment } = place;
  const top = place.repository();
  git(top, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', place.repository('other'), 'mod');
  git(top, 'commit', '--quiet', '-m', 'a submodule');
  for (const directory of [top, join(top, 'mod')]) {
    write(join(directory, '.gitattributes'), '*.txt diff=both filter=clean\n*.bin diff=text filter=process\n');
    const config = ['diff.both.command', 'diff.text.textconv', 'filter.clean.clean', 'filter.process.process'];
    for (const name of [...config, 'gpg.program', 'core.alternateRefsCommand']) git(directory, 'config', name, trap);
  }
  git(top, 'config', 'diff.external', trap);
  git(top, 'config', 'format.pretty', 'format:%h %G? %GG');
  git(top, 'config', 'pretty.signed', 'format:%h %G? %GG');
  git(top, 'config', 'status.submoduleSummary', 'true');
  // A signature that nobody can check, so that gpg is asked.
  const tree = git(top, 'rev-parse', 'HEAD^{tree}').trim();
  const who = 'A <a@example.org> 1700000000 +0000';
  const parent = git(top, 'rev-parse', 'HEAD').trim();
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n';
  const commit = `tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n${signature}\nsigned\n`;
  const { stdout } = spawnSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
    cwd: top,
    env: environment,
    input: commit,
    encoding: 'utf8',
  });
  git(top, 'update-ref', 'HEAD', stdout.trim());
  for (const directory of [top, join(top, 'mod')]) {
    // As long as before, so that only their contents tell, and a filter has to be asked for those.
    writeFileSync(join(directory, 'a.txt'), 'ONE\n');
    writeFileSync(join(directory, 'sub/b.bin'), 'TWO\n');
    utimesSync(join(directory, 'a.txt'), 1_600_000_000, 1_600_000_000);
  }
  place.sprung();
  return top;
}

function runVerdict({ environment }: Place, cwd: string, verdict: Verdict): void {
  if (verdict.kind !== 'parallel' || verdict.run.form !== 'argv') throw new Error('Expected a command to run');
  const [file, ...args] = verdict.run.argv as [string, ...string[]];
  spawnSync(file, args, { cwd, env: { ...environment, ...verdict.run.env }, stdio: 'ignore', timeout: 20_000 });
}

describe('the reads that stay parallel where programs are configured', () => {
  test('start none of them, each example of the rule', () => {
    const place = makePlace();
    const top = springLoaded(place);
    const environment = { HOME: place.home };
    const { examples } = JSON.parse(readFileSync(new URL('../../rules/git.json', import.meta.url), 'utf8'));
    const verdicts = (examples.parallel as string[]).map((command) => {
      const plain = classify(command, { rules, cwd: top });
      const programs = plain.kind === 'parallel' && plain.effects.includes('configured-programs');
      return {
        command,
        verdict: classify(command, { rules, cwd: top, repository: probeRepository(top, { environment, programs }) }),
      };
    });
    const runnable = verdicts.filter(({ verdict }) => verdict.kind === 'parallel' && verdict.run.form === 'argv');
    const started = runnable.flatMap(({ command, verdict }) => {
      runVerdict(place, top, verdict);
      return place.sprung() ? [command] : [];
    });
    expect(started).toEqual([]);
    expect(runnable.length).toBeGreaterThan(30);
    expect(verdicts.length - runnable.length).toBeGreaterThan(20);
  });

  test.each([
    'git diff',
    'git status',
    'git log -p',
    'git log -2',
    'git show',
    'git blame a.txt',
    'git stash list',
    'git ls-files -m',
  ])('and the trap works: without the probe, %s starts it or is known to be harmless here', (command) => {
    const place = makePlace();
    const top = springLoaded(place);
    runVerdict(place, top, classify(command, { rules, cwd: top }));
    expect(place.sprung()).toBe(command !== 'git stash list');
    const repository = probeRepository(top, { environment: { HOME: place.home } });
    expect(told(classify(command, { rules, cwd: top, repository }))).toBe('REPOSITORY_CONFIGURED');
  });
});

describe('the dispatcher', () => {
  const dispatcherIn = ({ home }: Place, options: Partial<DispatcherOptions> = {}) => {
    const environment = { PATH: process.env.PATH, HOME: home };
    const dispatcher = createDispatcher({ rules, cwd: home, environment, ...options });
    onTestFinished(() => dispatcher.shutdown({ graceMs: 0 }));
    return (commands: readonly string[], cwd = home) =>
      dispatcher.plan(commands, { cwd }).commands.map(({ verdict }) => told(verdict));
  };
  const READS = ['git diff', 'git rev-parse HEAD', 'git log --oneline -1', 'git branch'];

  test('with a textconv that attributes select, git diff is serial and git rev-parse HEAD is parallel', async () => {
    const place = makePlace();
    const top = place.repository();
    const plan = dispatcherIn(place);
    expect(plan(READS, top)).toEqual(['parallel', 'parallel', 'parallel', 'parallel']);
    place.git(top, 'config', 'diff.x.textconv', place.trap);
    place.write(join(top, '.gitattributes'), '*.bin diff=x\n');
    const concerned = ['REPOSITORY_CONFIGURED', 'parallel', 'REPOSITORY_CONFIGURED', 'parallel'];
    expect(plan(READS, top)).toEqual(concerned);
    expect(dispatcherIn(place, { trustRepository: true })(READS, top)).toEqual(
      READS.map((read) => `parallel repository-plain${read === 'git diff' ? ' index-fresh' : ''}`),
    );
  });

  test('a command that is running is judged by the repository as it is then', async () => {
    const place = makePlace();
    const top = place.repository();
    const environment = { PATH: process.env.PATH, HOME: place.home };
    const dispatcher = createDispatcher({ rules, cwd: top, environment });
    onTestFinished(() => dispatcher.shutdown({ graceMs: 0 }));
    const { commands } = await dispatcher.dispatch([
      'git diff',
      `git config diff.external ${place.trap}`,
      'git diff',
      'git rev-parse HEAD',
    ]).done;
    expect(commands.map(({ verdict }) => told(verdict))).toEqual([
      'parallel',
      'OPERAND_UNEXPECTED',
      'REPOSITORY_CONFIGURED',
      'parallel',
    ]);
    expect(commands.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  });

  test('the repository that -C leads to is the one that counts', () => {
    const place = makePlace();
    const top = place.repository();
    const plan = dispatcherIn(place);
    expect(plan(['git -C repo diff', 'git -C repo/sub diff', 'git -C none diff'])).toEqual([
      'parallel',
      'parallel',
      'REPOSITORY_UNREADABLE',
    ]);
    place.git(top, 'config', 'diff.external', place.trap);
    expect(plan(['git -C repo diff', 'git -C repo rev-parse HEAD', 'git diff'])).toEqual([
      'REPOSITORY_CONFIGURED',
      'parallel',
      'parallel',
    ]);
  });

  test('git-lfs of the user: parallel where nothing selects it, also by -C, and not for files elsewhere', () => {
    const place = makePlace();
    const top = place.repository();
    place.write(join(place.home, '.gitconfig'), '[filter "lfs"]\n\tclean = x\n\tprocess = x\n\trequired = true\n');
    place.write(join(place.home, 'x.txt'), 'x\n');
    const plan = dispatcherIn(place);
    expect(plan(['git diff', 'git status', 'git diff --no-index a.txt sub/b.bin'], top)).toEqual(
      Array(3).fill('parallel'),
    );
    expect(plan(['git -C repo diff'])).toEqual(['parallel']);
    expect(plan(['git diff a.txt ../x.txt', `git diff -- a.txt ${place.home}/x.txt`], top)).toEqual(
      Array(2).fill('REPOSITORY_CONFIGURED'),
    );
  });

  test("the caller's home is the one that is read", () => {
    const place = makePlace();
    const top = place.repository();
    const home = join(place.home, 'other');
    place.write(join(home, '.gitconfig'), '[diff]\n\texternal = x\n');
    expect(dispatcherIn(place)(['git diff'], top)).toEqual(['parallel']);
    expect(dispatcherIn(place, { environment: { PATH: process.env.PATH, HOME: home } })(['git diff'], top)).toEqual([
      'REPOSITORY_CONFIGURED',
    ]);
  });

  test('a judge that takes no account of what was found is not believed', () => {
    const place = makePlace();
    const top = place.repository();
    const inner = createJudge(rules);
    const judge: Judge = (command, { repository: _, ...context }) => inner(command, context);
    expect(dispatcherIn(place, { judge })(['git diff', 'ls'], top)).toEqual(['REPOSITORY_UNREADABLE', 'parallel']);
  });

  test('the option is a boolean', () => {
    const trustRepository = 'yes' as unknown as boolean;
    expect(() => createDispatcher({ rules, trustRepository })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});

describe('a judge that probes', () => {
  test('looks at directories that are here and inside its roots, and leaves the assumption elsewhere', () => {
    const place = makePlace();
    const top = place.repository();
    appendFileSync(join(top, '.git/config'), '[diff]\n\texternal = x\n');
    const probing = { probe: createRepositoryProbe(), environment: { HOME: place.home } };
    const ask = (command: string, cwd: string, roots?: readonly string[]) =>
      told(
        createProbingJudge(createJudge(rules), { ...probing, ...(roots ? { roots } : {}) })(command, { cwd }).verdict,
      );
    expect(ask('git diff', top)).toBe('REPOSITORY_CONFIGURED');
    expect(ask('git rev-parse HEAD', top)).toBe('parallel');
    expect(ask('git diff', join(place.home, 'none'))).toBe('parallel repository-plain index-fresh');
    expect(ask('git diff', top, [place.home])).toBe('REPOSITORY_CONFIGURED');
    expect(ask('git diff', top, [join(top, 'sub')])).toBe('parallel repository-plain index-fresh');
    expect(ask('git push', top)).toBe('SUBCOMMAND_UNKNOWN');
  });

  test('of the service looks inside the roots, with what its commands see, unless it is told to trust', () => {
    const place = makePlace();
    const top = place.repository();
    place.repository('other');
    place.write(join(place.home, '.gitconfig'), '[diff]\n\texternal = x\n');
    const env = { HOME: place.home, PATH: process.env.PATH };
    const ask = (flags: ConfigFlags, cwd: string) => {
      const config = loadConfig({ cwd: top, env: {}, flags: { roots: [top], ...flags } });
      return told(createServiceJudge(config, rules, env)('git diff', { cwd }).verdict);
    };
    expect(ask({}, top)).toBe('REPOSITORY_CONFIGURED');
    expect(ask({ environment: ['PATH'] }, top)).toBe('parallel');
    expect(ask({}, join(place.home, 'other'))).toMatch(/^parallel repository-plain/);
    expect(ask({ repositories: 'trust' }, top)).toMatch(/^parallel repository-plain/);
    expect(() => ask({ repositories: 'maybe' }, top)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  test('of the command line looks, unless it is told to trust', () => {
    const place = makePlace();
    const top = place.repository();
    place.write(join(place.home, '.gitconfig'), '[diff]\n\texternal = x\n');
    const ask = (flags: { readonly trustRepository?: true }) => {
      const judge = judgeOf(rules, { env: { HOME: place.home } }, { ...flags, network: true, daemon: true });
      return told(judge('git diff', { cwd: top }).verdict);
    };
    expect(ask({})).toBe('REPOSITORY_CONFIGURED');
    expect(ask({ trustRepository: true })).toMatch(/^parallel repository-plain/);
  });

  test('a probe that fails is a finding', () => {
    const place = makePlace();
    const probe = () => {
      throw new Error('out of order');
    };
    const judge = createProbingJudge(createJudge(rules), { probe, environment: {} });
    expect(told(judge('git rev-parse HEAD', { cwd: place.home }).verdict)).toBe('REPOSITORY_UNREADABLE');
  });
});
