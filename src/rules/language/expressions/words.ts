import { describeType } from '../../../core/data-types.js';
import type { DataType } from '../../../core/data-types.js';
import type { Expr } from './parse-expression.js';

/** How a type is called in the signatures of functions. */
export function kindName(type: DataType): string {
  switch (type.kind) {
    case 'time':
      return 'timestamp';
    case 'object':
    case 'either':
      return 'map';
    default:
      return type.kind;
  }
}

/** `a text`, `true or false`, `an object (Label)`. */
export function withArticle(type: DataType): string {
  switch (type.kind) {
    case 'string':
      return type.isId ? 'an id (a text)' : 'a text';
    case 'int':
      return 'a whole number';
    case 'double':
      return 'a number';
    case 'time':
      return 'a time';
    case 'duration':
      return 'a duration';
    case 'list':
      return 'a list';
    case 'map':
      return 'a map';
    case 'object':
    case 'either':
      return type.kind === 'object' && type.name !== '' && type.name !== 'event'
        ? `an object (${type.name})`
        : type.kind === 'object' && type.name === ''
          ? 'a map'
          : 'an event';
    default:
      return describeType(type);
  }
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
    const key = index?.exprKind.case === 'constExpr' ? index.exprKind.value.constantKind : undefined;
    return path && key?.case === 'stringValue' ? `${path}.${key.value}` : null;
  }
  return null;
}

/** Where the name of a field stands: the parser tells where its dot or bracket, or the chain before it, begins. */
export function fieldOffset(source: string, from: number, field: string): number {
  const quoted = field.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const dotted = new RegExp(`(?:\\.\\s*|\\[\\s*["'])(?=${quoted}(?!\\w))`, 'g');
  dotted.lastIndex = from;
  const found = dotted.exec(source);
  return found ? found.index + found[0].length : from;
}
