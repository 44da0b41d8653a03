import { isCelMap } from '@bufbuild/cel';
import type { CelError, CelInput } from '@bufbuild/cel';
import { didYouMean } from '../../../core/did-you-mean.js';
import { ExpressionError } from '../expression-engine.js';
import { namesIn, peek } from './cel-values.js';
import type { Expr, ParsedExpression } from './parse-expression.js';
import { tableOf } from '../../../core/table.js';
import { childrenOf } from './tree.js';
import { unknownPaths } from './unknown.js';

/** The library's error as one that names the field, where it stands, and what was probably meant. */
export function explainFailure(
  error: CelError,
  parsed: ParsedExpression,
  source: string,
  bound: Readonly<Record<string, CelInput>>,
): ExpressionError {
  const unknown = unknownPaths(error);
  if (unknown.length > 0) return unknownFailure(unknown, source);
  const id = error.exprId === undefined ? null : String(error.exprId);
  const offset = id === null ? null : (parsed.sourceInfo?.positions[id] ?? null);
  // eslint-disable-next-line local/no-decision-by-text -- the library has no codes
  const field = /^field not found: (.*)$/s.exec(error.message)?.[1];
  if (field !== undefined && id !== null && parsed.expr) return explainField(field, id, offset, parsed.expr, bound);
  // eslint-disable-next-line local/no-decision-by-text -- the library has no codes
  if (error.message === 'unresolved attribute') {
    const name = /^[A-Za-z_]\w*/.exec(source.slice(offset ?? 0))?.[0] ?? source;
    return new ExpressionError(`"${name}" has no value here`, offset);
  }
  return new ExpressionError(reword(error.message), offset);
}

function unknownFailure(paths: readonly string[], source: string): ExpressionError {
  const [first = ''] = paths;
  const at = source.indexOf(first.replace(/^.*\./, '.'));
  return new ExpressionError(
    `${paths.join(' and ')} ${paths.length === 1 ? 'is' : 'are'} not known`,
    at < 0 ? 0 : at + 1,
    null,
    paths,
  );
}

function explainField(
  field: string,
  id: string,
  offset: number | null,
  root: Expr,
  bound: Readonly<Record<string, CelInput>>,
): ExpressionError {
  const chain = findChain(root, id);
  // The dot is reported; people look for the name after it.
  const at = offset === null ? null : offset + 1;
  if (chain && chain.at(-1) !== field) return new ExpressionError(`${chain.join('.')} has no key "${field}"`, offset);
  if (!chain) return new ExpressionError(`there is no field "${field}"`, offset);
  const parent = chain.slice(0, -1);
  const holder = parent.reduce<unknown>(
    (value, key, index) => (index === 0 ? bound[key] : peek(value, key)),
    undefined,
  );
  if (holder === null)
    return new ExpressionError(
      `${parent.join('.')} is null and has no field "${field}"`,
      at,
      `ask first: ${parent.join('.')} != null`,
    );
  const names = isCelMap(holder) ? namesIn(holder) : [];
  const near = didYouMean(field, names);
  const hint = near ? `did you mean "${near}"?` : `where it may be absent, ask first: has(${chain.join('.')})`;
  return new ExpressionError(`${parent.join('.')} has no field "${field}"`, at, hint);
}

/** The names from a variable down to the node with this id; null when it is no plain chain of fields. */
function findChain(expr: Expr, id: string): string[] | null {
  const target = findNode(expr, id);
  const names: string[] = [];
  for (let node = target; node;) {
    if (node.exprKind.case === 'identExpr') return [node.exprKind.value.name, ...names.reverse()];
    if (node.exprKind.case !== 'selectExpr') return null;
    names.push(node.exprKind.value.field);
    node = node.exprKind.value.operand ?? null;
  }
  return null;
}

function findNode(expr: Expr, id: string): Expr | null {
  if (String(expr.id) === id && (expr.exprKind.case === 'selectExpr' || expr.exprKind.case === 'identExpr'))
    return expr;
  for (const child of childrenOf(expr)) {
    const match = findNode(child, id);
    if (match) return match;
  }
  return null;
}

const OPERATORS: Readonly<Record<string, string>> = tableOf({ '@in': 'in', '!_': '!', '-_': '-' });

/** `found no matching overload for '_+_' applied to '(int, double)'` says little to people. */
function reword(message: string): string {
  // eslint-disable-next-line local/no-decision-by-text -- the library has no codes
  const overload = /^found no matching overload for '?([^' ]+)'? applied to '(.*)'$/.exec(message);
  if (!overload) return message;
  const [, name = '', args = ''] = overload;
  const operator = OPERATORS[name] ?? /^_(.+)_$/.exec(name)?.[1] ?? name;
  const types = args.replace(/google\.protobuf\.(\w+)/g, (_, type: string) => type.toLowerCase());
  return name === '_?_:_' ? `the condition before ? is no bool but ${types}` : `${operator} does not take ${types}`;
}
