import { type Allowance, checkAllowance, strictest } from '../classifier/allowance.ts';
import { judge } from '../classifier/classify.ts';
import type { Judge } from '../classifier/judgement.ts';
import { checkNames, copyKnown, namesOf } from '../classifier/option-names.ts';
import { type RuleSet, rulesIn } from '../classifier/rule-set.ts';
import { secondReading } from '../classifier/second-reading.ts';

/** What surrounds a command that is judged. */
export type JudgeContext = Parameters<Judge>[1];

export const CONTEXT_NAMES = namesOf<JudgeContext>({
  cwd: true,
  env: true,
  mode: true,
  repository: true,
  allow: true,
  roots: true,
  homeDirectory: true,
});

/**
 * The judge that a dispatcher uses: the classifier with these rules, and with the second reading, which can only refuse.
 *
 * @param allow which readers may be parallel; the context of a call can take away more, and give nothing back.
 * @throws SignalboxError OPTION_INVALID, RULES_INVALID.
 */
export function createJudge(rules: RuleSet, allow?: Allowance): Judge {
  rulesIn({ rules });
  checkAllowance(allow);
  return (command, context) => {
    checkNames(context, CONTEXT_NAMES, 'a judge');
    checkAllowance(context.allow);
    const known = copyKnown(context, CONTEXT_NAMES);
    return judge(command, { ...known, rules, secondReading, allow: strictest(allow, context.allow) });
  };
}
