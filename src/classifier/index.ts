/** The entry `signalbox/classifier`: everything that judges, nothing of Node. */
export type { Allowance } from './allowance.ts';
export { type Classifier, type ClassifierOptions, type CommandContext, createClassifier } from './classifier.ts';
export { classify, judge } from './classify.ts';
export { type ExplainedPart, type Explanation, explain, renderExplanation, type Step } from './explain.ts';
export type {
  ClassifyOptions,
  DirectoryChange,
  Judge,
  Judgement,
  Limits,
  PathUse,
  RepositoryFacts,
  RepositoryFinding,
  SecondReading,
} from './judgement.ts';
export { exportRules, type RuleSet, type RuleSetData, restoreRules } from './rule-set.ts';
export {
  type Assumption,
  type Check,
  type Effect,
  type Part,
  REASON_CODES,
  type Reason,
  type ReasonCode,
  type RuleRef,
  type Run,
  type Verdict,
} from './verdict.ts';
