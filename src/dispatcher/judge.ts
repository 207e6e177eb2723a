import { type Allowance, checkAllowance, strictest } from '../classifier/allowance.ts';
import { judge } from '../classifier/classify.ts';
import type { Judge } from '../classifier/judgement.ts';
import type { RuleSet } from '../classifier/rule-set.ts';
import { secondReading } from '../classifier/second-reading.ts';

/**
 * The judge that a dispatcher uses: the classifier with these rules, and with the second reading, which can only refuse.
 *
 * @param allow which readers may be parallel; the context of a call can take away more, and give nothing back.
 * @throws SignalboxError OPTION_INVALID.
 */
export function createJudge(rules: RuleSet, allow?: Allowance): Judge {
  checkAllowance(allow);
  return (command, context) => {
    checkAllowance(context.allow);
    return judge(command, { ...context, rules, secondReading, allow: strictest(allow, context.allow) });
  };
}
