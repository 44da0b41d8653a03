import { ALIVE, TURN, WALK } from './functions.js';
import type { Expr } from './parse-expression.js';

type Loop = Extract<Expr['exprKind'], { case: 'comprehensionExpr' }>['value'];

/** What it walks goes through `@walk`, and each turn that is taken asks for `@alive`, or `@turn` where turns are to be counted. */
export function meterLoop(loop: Loop, isCounted: boolean): void {
  const { iterRange, loopCondition } = loop;
  if (!iterRange || !loopCondition) return;
  const alive = {
    $typeName: 'cel.expr.Expr',
    id: loopCondition.id,
    exprKind: { case: 'identExpr', value: { $typeName: 'cel.expr.Expr.Ident', name: isCounted ? TURN : ALIVE } },
  } as Expr;
  loop.iterRange = call(WALK, iterRange.id, [iterRange]);
  loop.loopCondition = call('_&&_', loopCondition.id, [loopCondition, alive]);
}

function call(name: string, id: bigint, args: Expr[]): Expr {
  return {
    $typeName: 'cel.expr.Expr',
    id,
    exprKind: { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } },
  } as Expr;
}
