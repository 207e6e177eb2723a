import { judge } from '../classifier/classify.ts';
import type { Judge } from '../classifier/judgement.ts';
import type { RuleSet } from '../classifier/rule-set.ts';
import { secondReading } from '../classifier/second-reading.ts';

/** The judge that a dispatcher uses: the classifier with these rules, and with the second reading, which can only refuse. */
export function createJudge(rules: RuleSet): Judge {
  return (command, context) => judge(command, { ...context, rules, secondReading });
}
