import { chmodSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DirectoryChange, Judge, Judgement } from '../../src/classifier/judgement.ts';
import type { Part, Verdict } from '../../src/classifier/verdict.ts';
import { landingOf } from '../../src/dispatcher/directory-change.ts';
import type { DispatcherOptions } from '../../src/dispatcher/options.ts';
import { probePlatform } from '../../src/dispatcher/platform.ts';
import { type Profile, type ProfileTable, profileNamed } from '../../src/dispatcher/profiles.ts';
import type { CommandInput, Plan } from '../../src/dispatcher/types.ts';
import {
  eventOf,
  judgementOf,
  makeFifos,
  openGate,
  PROFILES,
  temporaryDirectory,
  testDispatcher,
  verdictOf,
} from '../support/dispatcher.ts';
import { makePlace } from '../support/repositories.ts';

/** A part of no particular place that a rule of this name proved. */
const part = (binary: string, effects: Part['effects'] = []): Part => ({
  span: [0, 1],
  rule: [{ binary, path: binary, origin: 'built-in' }],
  profile: 'generic',
  effects,
  stdin: 'null',
});

/** A judge that proves every text as a compound of these parts, and names what is said. */
function provesAll(named: Partial<Judgement> = {}, parts: readonly Part[] = [], profile = 'generic'): Judge {
  const proof = verdictOf('parallel') as Extract<Verdict, { kind: 'parallel' }>;
  const rule = parts.flatMap((one) => one.rule);
  return (command) =>
    command.startsWith('serial ')
      ? judgementOf(verdictOf('serial'), named)
      : judgementOf({ ...proof, parts, rule, profile }, named);
}

const cdTo = (text: string, alsoHere = false): { readonly cd: DirectoryChange } => ({ cd: { text, alsoHere } });

type Planned = Plan['commands'][number];

function planned(command: string | CommandInput, options: Partial<DispatcherOptions>): Planned {
  return testDispatcher(options).plan([command]).commands[0] as Planned;
}

const codeOf = ({ verdict }: Pick<Planned, 'verdict'>): string =>
  verdict.kind === 'parallel' ? 'parallel' : verdict.reason.code;

/** The keys of a plan that are about places, with their mode. */
const placesOf = ({ locks }: Planned): Readonly<Record<string, string>> =>
  Object.fromEntries(
    locks.flatMap((lock) =>
      typeof lock !== 'string' && lock.key.startsWith('file:')
        ? [[lock.key.slice('file:'.length), lock.mode ?? '']]
        : [],
    ),
  );

describe('where a change of directory leads', () => {
  /** `real/in`, a link to it from elsewhere, a file, and a link that `..` is read differently through. */
  const ground = () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'real/in'), { recursive: true });
    mkdirSync(join(cwd, 'other'));
    writeFileSync(join(cwd, 'file'), '');
    symlinkSync('real/in', join(cwd, 'link'));
    symlinkSync('nowhere', join(cwd, 'dangling'));
    symlinkSync('/proc/self', join(cwd, 'process'));
    return cwd;
  };
  const ask = (cwd: string, text: string, more: Partial<Parameters<typeof landingOf>[1]> = {}) => {
    const landing = landingOf({ text, alsoHere: false }, { cwd, roots: null, mayRunIn: null, earlier: null, ...more });
    return landing.kind === 'found' ? landing.real : landing.code;
  };

  test('is a real directory, through links that all readings agree on', () => {
    const cwd = ground();
    expect(ask(cwd, 'real')).toBe(join(cwd, 'real'));
    expect(ask(cwd, './real/in/')).toBe(join(cwd, 'real/in'));
    expect(ask(cwd, 'link')).toBe(join(cwd, 'real/in'));
    expect(ask(join(cwd, 'other'), '../real')).toBe(join(cwd, 'real'));
    expect(ask(cwd, join(cwd, 'other'))).toBe(join(cwd, 'other'));
    expect(ask(cwd, '.')).toBe(cwd);
  });

  test('is not told where nothing is, or no directory, or where bash and the kernel read another way', () => {
    const cwd = ground();
    for (const text of ['nowhere', 'dangling', 'file', 'real/gone']) expect(ask(cwd, text), text).toBe('CD_UNCERTAIN');
    // From a directory that was entered by a link, bash goes up by name, the kernel by place.
    expect(ask(join(cwd, 'link'), '../other')).toBe('CD_UNCERTAIN');
    mkdirSync(join(cwd, 'real/other'));
    expect(ask(join(cwd, 'link'), '../other')).toBe('CD_UNCERTAIN');
    expect(ask(cwd, 'process')).toBe('DIRECTORY_DEVICE');
  });

  test('must be where it was, in a root, and where commands may start', () => {
    const cwd = ground();
    expect(ask(cwd, 'link', { earlier: join(cwd, 'real/in') })).toBe(join(cwd, 'real/in'));
    expect(ask(cwd, 'link', { earlier: join(cwd, 'other') })).toBe('CD_UNCERTAIN');
    expect(ask(cwd, 'other', { roots: [join(cwd, 'real'), join(cwd, 'other')] })).toBe(join(cwd, 'other'));
    expect(ask(cwd, 'link', { roots: [join(cwd, 'link')] })).toBe('CD_OUTSIDE_ROOTS');
    expect(ask(cwd, 'other', { roots: [join(cwd, 'oth')] })).toBe('CD_OUTSIDE_ROOTS');
    expect(ask(cwd, 'link', { mayRunIn: (directory) => directory === join(cwd, 'real/in') })).toBe(
      join(cwd, 'real/in'),
    );
    expect(ask(cwd, 'link', { mayRunIn: () => 1 as never })).toBe('CD_OUTSIDE_ROOTS');
    const throws = () => {
      throw new Error('no');
    };
    expect(ask(cwd, 'link', { mayRunIn: throws })).toBe('CD_OUTSIDE_ROOTS');
  });
});

describe('what a compound locks', () => {
  const ground = () => {
    const place = makePlace();
    return { here: place.repository('here'), there: place.repository('there'), home: place.home };
  };

  test('behind `cd DIR &&` the directory that it leads to, and nothing of where it started', () => {
    const { here, there } = ground();
    const judge = provesAll(cdTo('../there/sub'));
    expect(placesOf(planned('read', { judge, cwd: here }))).toEqual({
      [there]: 'shared',
      [join(there, '.git')]: 'shared',
    });
  });

  test('both, where a part runs though the change failed; both, where a writer here could turn a link on the way', () => {
    const { here, there } = ground();
    const both = Object.fromEntries(
      [here, there].flatMap((top) => [top, join(top, '.git')]).map((key) => [key, 'shared']),
    );
    expect(placesOf(planned('read', { judge: provesAll(cdTo('../there', true)), cwd: here }))).toEqual(both);
    symlinkSync(there, join(here, 'link'));
    expect(placesOf(planned('read', { judge: provesAll(cdTo('link')), cwd: here }))).toEqual(both);
  });

  test('both exclusively, where it is serial after all', () => {
    const { here, there } = ground();
    const both = Object.fromEntries(
      [here, there].flatMap((top) => [top, join(top, '.git')]).map((key) => [key, 'exclusive']),
    );
    expect(placesOf(planned('serial ', { judge: provesAll(cdTo('../there')), cwd: here }))).toEqual(both);
    const missing = planned('read', { judge: provesAll({ ...cdTo('../there/gone') }), cwd: here });
    expect(codeOf(missing)).toBe('CD_UNCERTAIN');
    expect(placesOf(missing)).toEqual(both);
  });

  test('every directory that a part names, from where the change led; those of no part are none', () => {
    const { here, there, home } = ground();
    const judge = provesAll({ ...cdTo('../there'), directories: ['sub', '../here/sub'] });
    const { locks } = planned('read', { judge, cwd: here });
    expect(placesOf({ locks } as Planned)).toMatchObject({ [here]: 'shared', [there]: 'shared' });
    const inHome = provesAll({ directories: ['here', 'there'] });
    expect(Object.keys(placesOf(planned('read', { judge: inHome, cwd: home })))).not.toContain(
      join(home, 'here/there'),
    );
  });

  test('operands outside are shared, read from where the change led', () => {
    const { here, there, home } = ground();
    const judge = provesAll({ ...cdTo('../there/sub'), paths: [{ text: '../../here/a.txt', glob: false }] });
    expect(placesOf(planned('read', { judge, cwd: `${home}/here` }))).toEqual({
      [there]: 'shared',
      [join(there, '.git')]: 'shared',
      [here]: 'shared',
      [join(here, '.git')]: 'shared',
    });
  });
});

describe('what around a compound takes the yes away', () => {
  test('a change of directory that leads out of the roots', () => {
    const root = temporaryDirectory();
    const outside = temporaryDirectory();
    symlinkSync(outside, join(root, 'link'));
    mkdirSync(join(root, 'in'));
    const ask = (text: string, more: Partial<DispatcherOptions>) =>
      codeOf(planned('read', { judge: provesAll(cdTo(text)), cwd: root, ...more }));
    expect(ask('in', { roots: [root] })).toBe('parallel');
    expect(ask('link', { roots: [root] })).toBe('CD_OUTSIDE_ROOTS');
    expect(ask('link', {})).toBe('parallel');
    expect(ask('in', { mayRunIn: (directory) => directory === root })).toBe('CD_OUTSIDE_ROOTS');
  });

  test('a program of any part, looked up from every directory that it may start in', () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'sub/bin'), { recursive: true });
    const tool = join(cwd, 'sub/bin/uname');
    writeFileSync(tool, '#!/bin/sh\n');
    chmodSync(tool, 0o755);
    const environment = { PATH: `bin:${process.env.PATH}` };
    const ask = (named: Partial<Judgement>, more: Partial<DispatcherOptions> = {}) =>
      codeOf(planned('read', { judge: provesAll(named), cwd, environment, ...more }));
    expect(ask({ programs: ['cat', 'uname'] })).toBe('parallel');
    expect(ask({ programs: ['cat', 'uname'], ...cdTo('sub') })).toBe('PROGRAM_UNTRUSTED');
    expect(ask({ programs: ['uname'], ...cdTo('sub', true) })).toBe('PROGRAM_UNTRUSTED');
    expect(ask({ programs: ['cat'], starts: ['uname'], ...cdTo('sub') })).toBe('PROGRAM_UNTRUSTED');
    expect(ask({ programs: [], starts: ['uname'], ...cdTo('sub') })).toBe('PROGRAM_UNTRUSTED');
    // In a workspace, also in the one that it has left.
    const absolute = { PATH: `${join(cwd, 'sub/bin')}:${process.env.PATH}` };
    const elsewhere = temporaryDirectory();
    expect(ask({ programs: ['uname'], ...cdTo(elsewhere) }, { environment: absolute })).toBe('PROGRAM_UNTRUSTED');
    expect(ask({ programs: ['uname'] }, { cwd: elsewhere, environment: absolute })).toBe('parallel');
  });

  test('a name that bash answers itself where a program was proved, or the other way round', () => {
    const cwd = temporaryDirectory();
    const ask = (named: Partial<Judgement>, parts: readonly Part[], more: Partial<DispatcherOptions> = {}) =>
      codeOf(planned('read', { judge: provesAll(named, parts), cwd, ...more }));
    expect(ask({ programs: ['cat'] }, [part('cat'), part('echo')])).toBe('parallel');
    expect(ask({ programs: ['cat', 'echo'] }, [part('cat')])).toBe('PROGRAM_UNTRUSTED');
    // A bash without this builtin would look for a program.
    const platform = { ...probePlatform(), builtins: new Set(['echo']) };
    const environment = { PATH: `.:${process.env.PATH}` };
    writeFileSync(join(cwd, 'printf'), '');
    chmodSync(join(cwd, 'printf'), 0o755);
    expect(ask({ programs: [] }, [part('echo')], { platform, environment })).toBe('parallel');
    expect(ask({ programs: [] }, [part('echo'), part('printf')], { platform, environment })).toBe('PROGRAM_UNTRUSTED');
  });

  test('the same of one command that only bash can expand', () => {
    const ask = (programs: readonly string[]) =>
      codeOf(planned('printf *', { judge: () => judgementOf(verdictOf('parallel'), { programs }) }));
    expect(ask([])).toBe('parallel');
    expect(ask(['printf'])).toBe('PROGRAM_UNTRUSTED');
  });

  test('an operand of any part that is no file, from where the change led', async () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'sub'));
    await makeFifos(join(cwd, 'sub'), 'pipe');
    const paths = [
      { text: 'gone', glob: false },
      { text: 'pipe', glob: false },
    ];
    const ask = (named: Partial<Judgement>) => codeOf(planned('read', { judge: provesAll({ paths, ...named }), cwd }));
    expect(ask({})).toBe('parallel');
    expect(ask(cdTo('sub'))).toBe('OPERAND_NOT_REGULAR');
    expect(ask(cdTo('sub', true))).toBe('OPERAND_NOT_REGULAR');
  });

  test('a joint profile that is not known, or contradicts itself', () => {
    const table: ProfileTable = new Map<string, Profile>([
      ['generic', { set: { A: '1' }, pass: new Set(['PATH']) }],
      ['one', { set: { A: '1', B: '2' }, pass: new Set(['PATH', 'X']), minds: ['M'] }],
      ['two', { set: { A: '1', C: '3' }, pass: new Set(['PATH', 'Y']), minds: ['N*'] }],
      ['three', { set: { B: '3' }, pass: new Set() }],
      ['four', { set: { toString: 'x' }, pass: new Set() }],
    ]);
    expect(profileNamed(table, 'one')).toBe(table.get('one'));
    expect(profileNamed(table, 'one+two')).toEqual({
      set: { A: '1', B: '2', C: '3' },
      pass: new Set(['PATH', 'X', 'Y']),
      minds: ['M', 'N*'],
    });
    expect(profileNamed(table, 'four+one')?.set).toMatchObject({ toString: 'x' });
    for (const name of ['', '+', 'one+', 'one+five', 'one+three', 'three+one', 'toString', 'one + two'])
      expect(profileNamed(table, name), name).toBeNull();
    const ask = (profile: string, environment = {}) =>
      codeOf(
        planned('read', {
          judge: provesAll({}, [], profile),
          profiles: table,
          environment: { PATH: process.env.PATH, ...environment },
        }),
      );
    expect(ask('one+two')).toBe('parallel');
    expect(ask('one+three')).toBe('VARIABLE_UNKNOWN');
    expect(ask('one+two', { N1: '' })).toBe('VARIABLE_UNKNOWN');
  });
});

describe('a compound runs', () => {
  test('in bash, with the joint environment, and looks for no directory in CDPATH', async () => {
    const cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'sub'));
    mkdirSync(join(cwd, 'decoy/sub'), { recursive: true });
    const profiles: ProfileTable = new Map([
      ...PROFILES,
      ['one', { set: { B: '2' }, pass: new Set(['PATH', 'X', 'CDPATH']) }],
      ['two', { set: { C: '3' }, pass: new Set(['PATH', 'Y']) }],
    ]);
    const environment = {
      PATH: process.env.PATH,
      X: 'x',
      Y: 'y',
      Z: 'z',
      CDPATH: join(cwd, 'decoy'),
      BASH_ENV: '/dev/null',
    };
    const command = 'cd sub && echo "$PWD $B $C $X $Y <$Z$CDPATH$BASH_ENV>"';
    const judge = provesAll(cdTo('sub'), [part('echo')], 'one+two');
    const { dispatch } = testDispatcher({ judge, cwd, profiles, environment });
    const { commands } = await dispatch([command]).done;
    expect(commands[0]).toMatchObject({ exitCode: 0, stdout: `${cwd}/sub 2 3 x y <>\n` });
    // Whoever shows the whole environment would miss it.
    const whole = provesAll({ ...cdTo('sub'), wholeEnvironment: true }, [], 'one');
    expect(codeOf(planned(command, { judge: whole, cwd, profiles, environment }))).toBe('VARIABLE_UNKNOWN');
    const { CDPATH: _, ...rest } = environment;
    expect(codeOf(planned(command, { judge: whole, cwd, profiles, environment: rest }))).toBe('parallel');
  });

  test('alone, when the directory that it changes to became another one while it waited', async () => {
    const cwd = temporaryDirectory();
    for (const name of ['one', 'two']) mkdirSync(join(cwd, name));
    symlinkSync('one', join(cwd, 'link'));
    await makeFifos(cwd, 'gate');
    const { dispatch } = testDispatcher({ judge: provesAll(cdTo('link'), [part('pwd')]), cwd });
    const batch = dispatch([`serial || read < ${cwd}/gate`, 'cd link && pwd -P', 'cd link && pwd -P']);
    await eventOf(batch, 'started', 'c1');
    expect(batch.snapshot().commands.map(codeOf)).toEqual(['COMMAND_UNKNOWN', 'parallel', 'parallel']);
    rmSync(join(cwd, 'link'));
    symlinkSync('two', join(cwd, 'link'));
    await openGate(cwd, 'gate');
    const { commands } = await batch.done;
    expect(commands.map(codeOf).slice(1)).toEqual(['CD_UNCERTAIN', 'CD_UNCERTAIN']);
    expect(commands[1]?.stdout).toBe(`${realpathSync(join(cwd, 'two'))}\n`);
  });
});
