import type { Expr } from './parse-expression.js';

/** The parts of an expression, in the order in which they are evaluated. */
export function childrenOf({ exprKind }: Expr): Expr[] {
  const children = ((): ReadonlyArray<Expr | undefined> => {
    switch (exprKind.case) {
      case 'selectExpr':
        return [exprKind.value.operand];
      case 'listExpr':
        return exprKind.value.elements;
      case 'structExpr':
        return exprKind.value.entries.flatMap(({ keyKind, value }) => [
          keyKind.case === 'mapKey' ? keyKind.value : undefined,
          value,
        ]);
      case 'callExpr':
        return [exprKind.value.target, ...exprKind.value.args];
      case 'comprehensionExpr': {
        const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
        return [iterRange, accuInit, loopCondition, loopStep, result];
      }
      default:
        return [];
    }
  })();
  return children.filter((child) => child !== undefined);
}

/** The call of a function or operator; null = it is none. */
export function callOf(expr: Expr | undefined) {
  return expr?.exprKind.case === 'callExpr' ? expr.exprKind.value : null;
}

/** A list as it is written out; null = it is none. */
export function elementsOf(expr: Expr | undefined): readonly Expr[] | null {
  return expr?.exprKind.case === 'listExpr' ? expr.exprKind.value.elements : null;
}

/** The value of a literal; undefined = it is none, or one of bytes. */
export function constantOf(expr: Expr | undefined): string | boolean | bigint | number | null | undefined {
  const constant = expr?.exprKind.case === 'constExpr' ? expr.exprKind.value.constantKind : undefined;
  switch (constant?.case) {
    case 'stringValue':
    case 'boolValue':
    case 'int64Value':
    case 'doubleValue':
      return constant.value;
    case 'nullValue':
      return null;
    default:
      return undefined;
  }
}

export function constantText(expr: Expr | undefined): string | undefined {
  const value = constantOf(expr);
  return typeof value === 'string' ? value : undefined;
}

/** `has(a.b)` */
export function isTest({ exprKind }: Expr): boolean {
  return exprKind.case === 'selectExpr' && exprKind.value.testOnly;
}

/** The variable that a chain of fields begins with. */
export function firstIn(expr: Expr): Expr {
  const { exprKind } = expr;
  const inner = exprKind.case === 'selectExpr' ? exprKind.value.operand : undefined;
  return inner ? firstIn(inner) : expr;
}

/** `event.release.tag_name` of a chain of plain fields; null for anything else. */
export function pathOf(expr: Expr): string | null {
  const { exprKind } = expr;
  if (exprKind.case === 'identExpr') return exprKind.value.name;
  if (exprKind.case === 'selectExpr' && exprKind.value.operand) {
    const operand = pathOf(exprKind.value.operand);
    return operand === null ? null : `${operand}.${exprKind.value.field}`;
  }
  if (exprKind.case === 'callExpr' && exprKind.value.function === '_[_]') {
    const [operand, index] = exprKind.value.args;
    const path = operand && pathOf(operand);
    const key = index && constantText(index);
    return path && key !== undefined ? `${path}.${key}` : null;
  }
  return null;
}
