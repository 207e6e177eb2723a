import type { Judge, Judgement } from '../../src/classifier/judgement.ts';
import type { Verdict } from '../../src/classifier/verdict.ts';
import type { ProfileTable } from '../../src/dispatcher/profiles.ts';

/** A command that the test judge calls parallel, whatever it does. `:` is bash's own, so that no program is looked up. */
export function parallel(text: string): string {
  return `${MARK}${text}`;
}

const MARK = ': parallel; ';

/** The verdict of the test judge. */
export function verdictOf(kind: 'parallel' | 'serial', run?: Extract<Verdict, { kind: 'parallel' }>['run']): Verdict {
  return kind === 'parallel'
    ? {
        kind,
        run: run ?? { form: 'bash' },
        profile: 'generic',
        rule: [],
        effects: [],
        assumes: [],
        ruleset: 'test',
      }
    : {
        kind,
        reason: {
          check: 'leading-token',
          code: 'COMMAND_UNKNOWN',
          knowledge: 'unrecognised',
          span: [0, 0],
          message: 'No rule says what it does.',
        },
        ruleset: 'test',
      };
}

export function judgementOf(verdict: Verdict, named: Partial<Judgement> = {}): Judgement {
  return {
    verdict,
    directories: [],
    paths: [],
    resources: [],
    starts: [],
    programs: [],
    cd: null,
    wholeEnvironment: false,
    ...named,
  };
}

/** Says what `parallel` marked, and nothing else, is parallel. */
export const judgeByMark: Judge = (command) => judgementOf(verdictOf(command.startsWith(MARK) ? 'parallel' : 'serial'));

export const PROFILES: ProfileTable = new Map([['generic', { set: {}, pass: new Set(['PATH', 'HOME', 'LC_ALL']) }]]);
