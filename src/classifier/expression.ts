import type { ExpressionRule, Role } from './compiled.ts';

/**
 * Expressions of option-like words (`! -name x -o \( -type f -size +1k \)`): balanced groups, none of them empty, and
 * something between any two joins. The words themselves have been found in the rule by then, so this can only refuse.
 */
export type Expression = {
  readonly rule: ExpressionRule;
  /** What the last word was. */
  last: Role | 'start';
  depth: number;
};

export function startExpression(rule: ExpressionRule): Expression {
  return { rule, last: 'start', depth: 0 };
}

/** Takes the next word; false when it cannot stand there. */
export function follow(expression: Expression, role: Role, operandsSeen: boolean): boolean {
  if (role === 'leading') return expression.last === 'start' && !operandsSeen;
  const complete = isComplete(expression);
  const fits = role === 'join' || role === 'close' ? complete : mayBegin(expression, complete);
  if (!fits || (role === 'close' && expression.depth === 0)) return false;
  if (role === 'open') expression.depth++;
  if (role === 'close') expression.depth--;
  expression.last = role;
  return true;
}

/** Whether an operand may stand here. */
export function admitsOperand(expression: Expression): boolean {
  return expression.last === 'start' || !expression.rule.operandsFirst;
}

/** Whether the command may end here. */
export function isWhole(expression: Expression): boolean {
  return expression.depth === 0 && (expression.last === 'start' || isComplete(expression));
}

/** Whether the words so far end with a term or a group. */
function isComplete(expression: Expression): boolean {
  return expression.last === 'term' || expression.last === 'close';
}

function mayBegin(expression: Expression, complete: boolean): boolean {
  return !complete || expression.rule.implicitJoin;
}
