import type { CelEnv, CelFunc } from '@bufbuild/cel';
import type { ExprType } from '../expression-engine.js';
import type { Expr } from './parse-expression.js';
import { tableOf } from '../../../core/table.js';

/** What an expression gives, as far as its own text tells: fields of events and answers are only known when it runs. */
export class Types {
  readonly #types = new Map<Expr, ExprType>();

  constructor(readonly env: CelEnv) {}

  /** Kept per node: asking overloads asks the arguments once per overload. */
  of(expr: Expr): ExprType {
    let type = this.#types.get(expr);
    if (type === undefined) this.#types.set(expr, (type = this.#infer(expr)));
    return type;
  }

  #infer(expr: Expr): ExprType {
    const { exprKind } = expr;
    switch (exprKind.case) {
      case 'constExpr':
        return CONSTANTS[exprKind.value.constantKind.case ?? ''] ?? 'dyn';
      case 'listExpr':
        return 'list';
      case 'structExpr':
        return 'map';
      case 'selectExpr':
        return exprKind.value.testOnly ? 'bool' : 'dyn';
      case 'identExpr':
        return exprKind.value.name === 'now' ? 'timestamp' : 'dyn';
      case 'comprehensionExpr':
        return exprKind.value.accuInit
          ? this.#typeOfLoop(this.of(exprKind.value.accuInit), exprKind.value.result)
          : 'dyn';
      case 'callExpr':
        return this.#typeOfCall(expr, exprKind.value.function, exprKind.value.args);
      default:
        return 'dyn';
    }
  }

  /** `exists_one` counts and then compares; the others give what they gather. */
  #typeOfLoop(gathered: ExprType, result: Expr | undefined): ExprType {
    return result?.exprKind.case === 'callExpr' ? this.of(result) : gathered;
  }

  #typeOfCall(expr: Expr, name: string, args: readonly Expr[]): ExprType {
    if (name === '_&&_' || name === '_||_' || name === '!_') return 'bool';
    if (name === '_?_:_') {
      const [, yes, no] = args.map((arg) => this.of(arg));
      return yes !== undefined && yes === no ? yes : 'dyn';
    }
    const results = new Set(
      this.overloads(expr)
        .filter((overload) => overload.arguments.length === args.length && this.#mayTake(overload, args))
        .map((overload) => typeName(overload.result.name)),
    );
    const [only = 'dyn'] = results;
    return results.size === 1 ? only : 'dyn';
  }

  #mayTake(overload: CelFunc, args: readonly Expr[]): boolean {
    return args.every((arg, index) => {
      const type = this.of(arg);
      const wanted = typeName(overload.arguments[index]?.name ?? '');
      return type === 'dyn' || wanted === 'dyn' || type === wanted;
    });
  }

  /** `strings.quote(x)`: the name has a dot, and the target is no value. */
  isQualified(expr: Expr): boolean {
    if (expr.exprKind.case !== 'callExpr') return false;
    const { target, function: name } = expr.exprKind.value;
    return (
      target?.exprKind.case === 'identExpr' &&
      this.env.funcs.find(`${target.exprKind.value.name}.${name}`) !== undefined
    );
  }

  /** The functions a call may mean. */
  overloads(expr: Expr): CelFunc[] {
    if (expr.exprKind.case !== 'callExpr') return [];
    const { target, function: name } = expr.exprKind.value;
    const full =
      this.isQualified(expr) && target?.exprKind.case === 'identExpr' ? `${target.exprKind.value.name}.${name}` : name;
    const group = this.env.funcs.find(full);
    return group ? [...(group as unknown as Iterable<CelFunc>)] : [];
  }
}

const CONSTANTS: Readonly<Record<string, ExprType>> = tableOf({
  boolValue: 'bool',
  int64Value: 'int',
  uint64Value: 'uint',
  doubleValue: 'double',
  stringValue: 'string',
  bytesValue: 'bytes',
  nullValue: 'null',
});

/** CEL's own name of a type, as ours. */
export function typeName(name: string): ExprType {
  switch (name) {
    case 'google.protobuf.Timestamp':
      return 'timestamp';
    case 'google.protobuf.Duration':
      return 'duration';
    case 'null_type':
      return 'null';
    case 'bool':
    case 'int':
    case 'uint':
    case 'double':
    case 'string':
    case 'bytes':
    case 'list':
    case 'map':
    case 'type':
      return name;
    default:
      return 'dyn';
  }
}

/** How a function is called, for people. */
export function signature(overload: CelFunc): string {
  const params = overload.arguments.map((type) => typeName(type.name)).join(', ');
  return overload.target === undefined
    ? `${overload.name}(${params})`
    : `${typeName(overload.target.name)}.${overload.name}(${params})`;
}
