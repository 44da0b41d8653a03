import type { RuleFunction } from '../functions/define-function.js';
import type { Expr } from './parse-expression.js';
import { callOf, constantText } from './tree.js';

/**
 * Whether the whole expression is a call of a function that gives Markdown, or a choice between such calls and texts that the rule writes out. Anything
 * else is escaped, also where such a call is a part of it.
 */
export function rendersMarkdown(expr: Expr | undefined, own: ReadonlyMap<string, RuleFunction>): boolean {
  const call = callOf(expr);
  if (!call) return false;
  if (call.function !== '_?_:_') return own.get(call.function)?.markdown === true;
  const choices = call.args.slice(1);
  const rendered = choices.filter((choice) => rendersMarkdown(choice, own));
  return (
    rendered.length > 0 && choices.every((choice) => rendered.includes(choice) || constantText(choice) !== undefined)
  );
}
