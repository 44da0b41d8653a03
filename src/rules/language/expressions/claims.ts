import type { Claim } from '../expression-engine.js';
import type { Expr } from './parse-expression.js';
import { constantOf, isTest, pathOf } from './tree.js';
import { tableOf } from '../../../core/table.js';

const OPERATORS: Readonly<Record<string, Comparison>> = tableOf({
  '_==_': '==',
  '_!=_': '!=',
  '_<_': '<',
  '_<=_': '<=',
  '_>_': '>',
  '_>=_': '>=',
});
type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
const TEXT_TESTS: readonly Claim['operator'][] = ['startsWith', 'endsWith', 'contains', 'matches'];
const TURNED: Readonly<Record<Comparison, Comparison>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

/** What must be true of single fields for a condition to hold: comparisons with literals, joined by `&&`. */
export function claimsOf(expr: Expr, offsetOf: (expr: Expr) => number): Claim[] {
  const { exprKind } = expr;
  if (exprKind.case === 'constExpr') {
    const value = constantOf(expr);
    return typeof value === 'boolean' ? [{ path: '', operator: '==', value, offset: offsetOf(expr) }] : [];
  }
  const path = pathOf(expr);
  if (path !== null && !isTest(expr)) return [{ path, operator: '==', value: true, offset: offsetOf(firstOf(expr)) }];
  if (exprKind.case !== 'callExpr') return [];
  const { function: name, args, target } = exprKind.value;
  const [left, right] = args;
  const test = TEXT_TESTS.find((one) => one === name);
  const [of, text] = [target ? pathOf(target) : null, left ? constantOf(left) : undefined];
  if (test && of !== null && target && typeof text === 'string' && args.length === 1)
    return [{ path: of, operator: test, value: text, offset: offsetOf(firstOf(target)) }];
  if (name === '_&&_') return args.flatMap((arg) => claimsOf(arg, offsetOf));
  if (name === '!_' && left) return claimsOf(left, offsetOf).length === 1 ? negate(claimsOf(left, offsetOf)) : [];
  const operator = OPERATORS[name];
  if (!operator || !left || !right) return [];
  const [leftPath, rightPath] = [pathOf(left), pathOf(right)];
  const [leftValue, rightValue] = [constantOf(left), constantOf(right)];
  if (leftPath !== null && rightValue !== undefined)
    return [{ path: leftPath, operator, value: rightValue, offset: offsetOf(firstOf(left)) }];
  if (rightPath !== null && leftValue !== undefined)
    return [{ path: rightPath, operator: TURNED[operator], value: leftValue, offset: offsetOf(firstOf(right)) }];
  return [];
}

/** The variable that a chain of fields begins with. */
function firstOf(expr: Expr): Expr {
  const { exprKind } = expr;
  const inner =
    exprKind.case === 'selectExpr'
      ? exprKind.value.operand
      : exprKind.case === 'callExpr'
        ? exprKind.value.args[0]
        : undefined;
  return inner ? firstOf(inner) : expr;
}

const OPPOSITE: Readonly<Record<Comparison, Comparison>> = {
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
};

function negate(claims: readonly Claim[]): Claim[] {
  return claims.flatMap((claim): Claim[] => {
    if (typeof claim.value === 'boolean' && claim.operator === '==') return [{ ...claim, value: !claim.value }];
    const operator = OPPOSITE[claim.operator as Comparison] as Comparison | undefined;
    return operator ? [{ ...claim, operator }] : [];
  });
}
