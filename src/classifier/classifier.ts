import { checkAllowance, strictest } from './allowance.ts';
import { classify, judge } from './classify.ts';
import { type Explanation, explain } from './explain.ts';
import type { ClassifyOptions, Judgement } from './judgement.ts';
import { checkNames, copyKnown, namesOf } from './option-names.ts';
import { rulesIn } from './rule-set.ts';
import { checkOptions, LIMIT_NAMES } from './surroundings.ts';
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

const CONTEXT_NAMES = namesOf<CommandContext>({
  cwd: true,
  env: true,
  repository: true,
  roots: true,
  homeDirectory: true,
  allow: true,
});

/**
 * A classifier with its rules and how they are asked bound; where a command runs is told with the command. Its functions need no `this`.
 *
 * @throws SignalboxError RULES_INVALID unless `rules` is a rule set that `loadRules` or `restoreRules` made;
 * OPTION_INVALID for an option that is not allowed, as its functions do for one of a command.
 */
export function createClassifier(options: ClassifierOptions): Classifier {
  rulesIn(options);
  checkNames(options, NAMES, 'createClassifier');
  checkOptions(options);
  const { limits, allow } = options;
  const bound: ClassifierOptions = Object.freeze({
    ...copyKnown(options, NAMES),
    ...(limits === undefined ? {} : { limits: copyKnown(limits, LIMIT_NAMES) }),
    allow: strictest(allow, undefined),
  });
  const within = (context: CommandContext): ClassifyOptions => {
    checkNames(context, CONTEXT_NAMES, 'a classifier');
    checkAllowance(context.allow);
    return { ...copyKnown(context, CONTEXT_NAMES), ...bound, allow: strictest(allow, context.allow) };
  };
  return Object.freeze({
    classify: (command: unknown, context: CommandContext = {}) => classify(command, within(context)),
    judge: (command: unknown, context: CommandContext = {}) => judge(command, within(context)),
    isConcurrencySafe: (command: unknown) => classify(command, bound).kind === 'parallel',
    explain: (command: string, context: CommandContext = {}) => explain(classify(command, within(context)), command),
  });
}
