import { checkAllowance, strictest } from './allowance.ts';
import { classify, judge } from './classify.ts';
import { type Explanation, explain } from './explain.ts';
import type { ClassifyOptions, Judgement } from './judgement.ts';
import { checkNames, namesOf } from './option-names.ts';
import { rulesIn } from './rule-set.ts';
import { checkOptions } from './surroundings.ts';
import type { Verdict } from './verdict.ts';

/** What holds for all commands of a classifier. */
export type ClassifierOptions = Pick<ClassifyOptions, 'rules' | 'mode' | 'secondReading' | 'limits' | 'allow'>;

/** What surrounds one command. */
export type CommandContext = Pick<ClassifyOptions, 'cwd' | 'env' | 'repository' | 'roots' | 'homeDirectory' | 'allow'>;

export type Classifier = {
  readonly classify: (command: unknown, context?: CommandContext) => Verdict;
  readonly judge: (command: unknown, context?: CommandContext) => Judgement;
  /** Whether the verdict is parallel. Takes the command alone, so that it fits where a predicate is wanted. */
  readonly isConcurrencySafe: (command: unknown) => boolean;
  readonly explain: (command: string, context?: CommandContext) => Explanation;
};

const NAMES = namesOf<ClassifierOptions>({ rules: true, mode: true, secondReading: true, limits: true, allow: true });

/**
 * A classifier with everything but the command bound. Its functions need no `this`.
 *
 * @throws SignalboxError RULES_INVALID unless `rules` is a rule set that `loadRules` or `restoreRules` made;
 * OPTION_INVALID for an option that is not allowed.
 */
export function createClassifier(options: ClassifierOptions): Classifier {
  rulesIn(options);
  checkNames(options, NAMES, 'createClassifier');
  checkOptions(options);
  const { rules, mode, secondReading, limits, allow } = options;
  const bound: ClassifierOptions = Object.freeze({
    rules,
    ...(mode === undefined ? {} : { mode }),
    ...(secondReading === undefined ? {} : { secondReading }),
    ...(limits === undefined ? {} : { limits: Object.freeze({ ...limits }) }),
    ...(allow === undefined ? {} : { allow: Object.freeze({ ...allow }) }),
  });
  const within = (context: CommandContext): ClassifyOptions => {
    if (allow === undefined || context.allow === undefined) return { ...context, ...bound };
    checkAllowance(context.allow);
    return { ...context, ...bound, allow: strictest(allow, context.allow) };
  };
  return Object.freeze({
    classify: (command: unknown, context: CommandContext = {}) => classify(command, within(context)),
    judge: (command: unknown, context: CommandContext = {}) => judge(command, within(context)),
    isConcurrencySafe: (command: unknown) => classify(command, bound).kind === 'parallel',
    explain: (command: string, context: CommandContext = {}) => explain(classify(command, within(context)), command),
  });
}
