import type { CelEnv, CelFunc } from '@bufbuild/cel';
import {
  BOOL,
  DYN,
  INT,
  TEXT,
  TIME,
  commonType,
  listOf,
  type DataType,
  type ObjectType,
} from '../../../core/data-types.js';
import { didYouMean } from '../../../core/did-you-mean.js';
import { emptyTable, ownValue, tableOf } from '../../../core/table.js';
import type { Guards, TypeCheck, VariableTypes } from '../expression-engine.js';
import { habitOf } from '../habits/habits.js';
import { checkCased, checkCompared, checkLiterals, checkSize } from './check-literals.js';
import {
  checkEquality,
  checkMembership,
  checkOrder,
  demandBool,
  fits,
  habitAt,
  tellMisfit,
} from './check-operators.js';
import { warnOfNothing, warnOfOwn, warnOfUntold, type Loop } from './check-presence.js';
import { claimsOf } from './claims.js';
import { kindsOf, type Kinds } from './event-kinds-of.js';
import { WALK } from './functions.js';
import { Types, typeName } from './infer-type.js';
import type { Expr, ParsedExpression } from './parse-expression.js';
import { callOf, constantText, elementsOf, pathOf } from './tree.js';
import { FIELD_HINTS, MAX_LISTED, isOneOf, placesOf, widen } from './type-hints.js';
import { TypeNotes } from './type-notes.js';
import { nameSome, withArticle } from './words.js';

const ORDERED = new Set(['_<_', '_<=_', '_>_', '_>=_']);

/**
 * The type of an expression against what is known of its variables, and everything in it that can never work: fields that nothing has,
 * operands and arguments of the wrong type, comparisons that can never hold. What is not known (`dyn`) is never complained about.
 *
 * By hand, since `@bufbuild/cel` 0.6.1 exports no checker, and that of `@marcbachmann/cel-js` 8.0.0 stops at its first mistake and knows neither
 * fields that may be null nor which fields are there once `event.kind` was asked.
 */
export function checkTypes(
  parsed: ParsedExpression,
  source: string,
  env: CelEnv,
  variables: VariableTypes,
  guards: Guards,
): TypeCheck {
  const notes = new TypeNotes(parsed, source, guards.vars);
  const checker = new Checker(notes, env, variables, guards);
  const type = checker.typeOf(parsed.expr, new Map());
  const claims = claimsOf(parsed.expr, (expr) => notes.offset(expr));
  const kinds = checker.kinds && kindsOf(parsed.expr, checker.kinds);
  return { type, problems: notes.problems, warnings: notes.warnings, claims, ...(kinds ? { kinds } : {}) };
}

class Checker {
  readonly #functions: Types;
  /** The kinds that the event may be of, each by its name in `on`, with what it tells; null = there is one kind alone. */
  readonly kinds: Kinds | null;
  /** Those of them that are possible where the walk is. */
  #possible: ReadonlySet<string>;

  constructor(
    readonly notes: TypeNotes,
    env: CelEnv,
    readonly variables: VariableTypes,
    readonly guards: Guards,
  ) {
    this.#functions = new Types(env);
    const { event } = variables;
    this.kinds = event?.kind === 'either' ? new Map(event.of.map(({ name, type }) => [name, type])) : null;
    this.#possible = new Set(this.kinds?.keys());
  }

  /** A part that only counts for some kinds of event. */
  #typeWhere(kinds: readonly string[] | undefined, expr: Expr | undefined, loop: Loop): DataType {
    const before = this.#possible;
    if (kinds) this.#possible = new Set(kinds.filter((name) => before.has(name)));
    const type = this.typeOf(expr, loop);
    this.#possible = before;
    return type;
  }

  /** A side of `&&` and `||` only counts where the other one does not decide; a branch of `?:` where it is chosen. */
  #typesOfArgs(name: string, args: readonly Expr[], loop: Loop): DataType[] {
    const { kinds } = this;
    const [first, second, third] = args;
    const isJoined = name === '_&&_' || name === '_||_';
    if (kinds === null || !first || !second || (!isJoined && name !== '_?_:_'))
      return args.map((arg) => this.typeOf(arg, loop));
    const narrowed = kindsOf(first, kinds);
    if (name === '_?_:_')
      return [
        this.typeOf(first, loop),
        this.#typeWhere(narrowed.ifTrue, second, loop),
        this.#typeWhere(narrowed.ifFalse, third, loop),
      ];
    const other = kindsOf(second, kinds);
    const open = name === '_&&_' ? 'ifTrue' : 'ifFalse';
    return [this.#typeWhere(other[open], first, loop), this.#typeWhere(narrowed[open], second, loop)];
  }

  #eventType(event: DataType): DataType {
    if (event.kind !== 'either') return event;
    const of = event.of.filter(({ name }) => this.#possible.has(name));
    const [only] = of;
    return only && of.length === 1 ? only.type : { kind: 'either', of };
  }

  typeOf(expr: Expr | undefined, loop: Loop): DataType {
    if (!expr) return DYN;
    const { exprKind } = expr;
    switch (exprKind.case) {
      case 'constExpr':
        return this.#typeOfConstant(expr);
      case 'identExpr':
        return loop.get(exprKind.value.name) ?? this.#eventType(ownValue(this.variables, exprKind.value.name) ?? DYN);
      case 'listExpr':
        return listOf(commonType(exprKind.value.elements.map((element) => widen(this.typeOf(element, loop)))));
      case 'structExpr':
        return this.#typeOfMap(expr, loop);
      case 'selectExpr': {
        const { operand, field, testOnly } = exprKind.value;
        const type = this.typeOf(operand, loop);
        if (!testOnly) {
          warnOfNothing(this, operand, loop);
          warnOfOwn(this, expr, type, field, loop);
          warnOfUntold(this, expr, this.#eventType(ownValue(this.variables, 'event') ?? DYN), loop);
          return this.#field(type, field, expr, loop);
        }
        this.#checkHas(type, field, expr);
        return BOOL;
      }
      case 'comprehensionExpr':
        return this.#typeOfLoop(expr, loop);
      case 'callExpr':
        return this.#typeOfCall(expr, loop);
      default:
        return DYN;
    }
  }

  #typeOfConstant(expr: Expr): DataType {
    const text = constantText(expr);
    return text === undefined ? (TYPES[this.#functions.of(expr)] ?? DYN) : { kind: 'string', values: [text] };
  }

  #typeOfMap(expr: Expr, loop: Loop): DataType {
    if (expr.exprKind.case !== 'structExpr') return DYN;
    const fields: Record<string, { type: DataType; optional: boolean }> = emptyTable();
    let isPlain = true;
    for (const { keyKind, value } of expr.exprKind.value.entries) {
      const type = widen(this.typeOf(value, loop));
      const key = keyKind.case === 'mapKey' ? constantText(keyKind.value) : undefined;
      if (keyKind.case === 'mapKey' && key === undefined) this.typeOf(keyKind.value, loop);
      if (key === undefined) isPlain = false;
      else fields[key] = { type, optional: false };
    }
    return isPlain ? { kind: 'object', name: '', fields } : { kind: 'map', of: DYN };
  }

  #field(type: DataType, name: string, expr: Expr, loop: Loop): DataType {
    switch (type.kind) {
      case 'dyn':
      case 'null':
        return DYN;
      case 'map':
        return type.of;
      case 'object': {
        const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
        if (field) return field.type;
        if (!this.#isGuarded(expr, loop)) this.#noField(type, name, expr);
        return DYN;
      }
      case 'either':
        return this.#fieldOfEither(type, name, expr, loop);
      default:
        this.notes.problem(
          expr,
          `${withArticle(type)} has no fields`,
          habitAt(this.notes, expr, name) ?? FIELD_HINTS[type.kind] ?? null,
        );
        return DYN;
    }
  }

  /** A field must be there whatever kind of event comes, unless the rule asks first. */
  #fieldOfEither({ of }: Extract<DataType, { kind: 'either' }>, name: string, expr: Expr, loop: Loop): DataType {
    // No kind is left here: nobody comes this way.
    if (of.length === 0) return DYN;
    const having = of.filter(({ type }) => Object.hasOwn(type.fields, name));
    const types = having.map(({ type }) => type.fields[name]?.type ?? DYN);
    if (having.length === 0) {
      if (!this.#isGuarded(expr, loop))
        this.#noField(
          merged(of.map(({ type }) => type)),
          name,
          expr,
          `an event of ${nameSome(of.map((one) => one.name))}`,
        );
      return DYN;
    }
    const lacking = of.filter(({ type }) => !Object.hasOwn(type.fields, name)).map((one) => one.name);
    if (lacking.length > 0 && !this.guards.asksKind && !this.#isGuarded(expr, loop)) {
      this.notes.problem(
        expr,
        `${nameSome(lacking)} ${lacking.length === 1 ? 'has' : 'have'} no "${name}"`,
        `ask first: has(event.${name}) && …, or list fewer kinds under on`,
      );
    }
    return commonType(types);
  }

  /** `has(path)` stands somewhere in the rule: what it asks about may be missing. */
  #isGuarded(expr: Expr, loop: Loop): boolean {
    const path = pathOf(expr);
    if (path === null) return false;
    const root = path.split('.')[0] ?? '';
    // Inside a loop the guard names the loop's variable, which says nothing outside of it.
    return loop.has(root)
      ? this.notes.source.includes(`has(${path}`)
      : [...this.guards.paths].some((guarded) => guarded === path || path.startsWith(`${guarded}.`));
  }

  #checkHas(type: DataType, name: string, expr: Expr): void {
    const fields =
      type.kind === 'object'
        ? Object.keys(type.fields)
        : type.kind === 'either'
          ? type.of.flatMap((one) => Object.keys(one.type.fields))
          : null;
    if (fields === null || fields.includes(name)) return;
    // Newer servers send more than we know, and asking for it is the right way; a slip is still a slip.
    const near = didYouMean(name, fields);
    if (near !== null)
      this.notes.problem(expr, `${this.#nameOf(expr, type)} has no "${name}"`, `did you mean "${near}"?`, name);
  }

  #noField(type: ObjectType, name: string, expr: Expr, owner?: string): void {
    if (this.#possible.size < (this.kinds?.size ?? 0) && pathOf(expr) === `event.${name}`)
      return this.notes.warn(expr, `${owner ?? this.#nameOf(expr, type)} has no "${name}": this fails each time`, null);
    const names = Object.keys(type.fields);
    const near = didYouMean(name, names);
    const instead = placesOf(name, type, this.#pathIn(expr)) ?? habitOf('field', name);
    const all = names.length > 0 && names.length <= MAX_LISTED ? `there are: ${names.join(', ')}` : null;
    const hint = instead !== null ? `write ${instead}` : near !== null ? `did you mean "${near}"?` : all;
    this.notes.problem(expr, `${owner ?? this.#nameOf(expr, type)} has no "${name}"`, hint, name);
  }

  #pathIn(expr: Expr): string | null {
    const operand = expr.exprKind.case === 'selectExpr' ? expr.exprKind.value.operand : undefined;
    return operand ? pathOf(operand) : null;
  }

  #nameOf(expr: Expr, type: DataType): string {
    const operand = expr.exprKind.case === 'selectExpr' ? expr.exprKind.value.operand : callOf(expr)?.args[0];
    const kind = type.kind === 'object' ? type.fields.kind?.type : undefined;
    if (type.kind === 'object' && type.name === 'event' && kind?.kind === 'string' && kind.values)
      return `an event of ${nameSome(kind.values)}`;
    return (operand && pathOf(operand)) ?? withArticle(type);
  }

  #typeOfLoop(expr: Expr, outer: Loop): DataType {
    if (expr.exprKind.case !== 'comprehensionExpr') return DYN;
    const { iterRange, iterVar, accuVar, accuInit, loopCondition, loopStep, result } = expr.exprKind.value;
    const range = this.typeOf(iterRange, outer);
    if (!isOneOf(range, ['dyn', 'list', 'map', 'object', 'either', 'null'])) {
      this.notes.problem(
        iterRange ?? expr,
        `only a list can be walked, this is ${withArticle(range)}`,
        range.kind === 'string' ? 'for a text: .contains("…"), .split(",")' : null,
      );
    }
    const gathered = this.typeOf(accuInit, outer);
    const element = range.kind === 'list' ? range.of : isOneOf(range, ['map', 'object', 'either']) ? TEXT : DYN;
    const inside = new Map(outer).set(iterVar, element).set(accuVar, gathered.kind === 'list' ? DYN : gathered);
    this.typeOf(loopCondition, inside);
    const stepped = this.typeOf(loopStep, inside);
    if (gathered.kind === 'list')
      return listOf(elementGathered(loopStep, (step) => widen(this.#quietly(step, inside))));
    if (callOf(result)) return this.typeOf(result, inside);
    return gathered.kind === 'bool' ? BOOL : stepped;
  }

  /** Looked at once already: its problems are told. */
  #quietly(expr: Expr, loop: Loop): DataType {
    const problemCount = this.notes.problems.length;
    const type = this.typeOf(expr, loop);
    this.notes.problems.length = problemCount;
    return type;
  }

  #typeOfCall(expr: Expr, loop: Loop): DataType {
    const call = callOf(expr);
    if (!call) return DYN;
    const { function: name, args, target } = call;
    const isQualified = this.#functions.isQualified(expr);
    const targetType = target && !isQualified ? this.typeOf(target, loop) : null;
    const types = this.#typesOfArgs(name, args, loop);
    const [first = DYN, second = DYN, third = DYN] = types;
    switch (name) {
      case WALK:
        return first;
      case '_&&_':
      case '_||_':
      case '!_':
        types.forEach((type, index) => demandBool(this.notes, args[index] ?? expr, type, name));
        return BOOL;
      case '@not_strictly_false':
      case '__not_strictly_false__':
        return BOOL;
      case '_?_:_':
        demandBool(this.notes, args[0] ?? expr, first, name);
        if (second.kind === 'null') return third;
        return third.kind === 'null' ? second : commonType([widen(second), widen(third)]);
      case '_==_':
      case '_!=_':
        checkEquality(this, expr, args, first, second, name === '_==_');
        checkCased(this.notes, args[0], args[1]);
        checkCased(this.notes, args[1], args[0]);
        checkCompared(this.notes, args[0], args.slice(1));
        checkCompared(this.notes, args[1], args.slice(0, 1));
        return BOOL;
      case '@in':
        checkMembership(this.notes, expr, args, first, second);
        checkCompared(this.notes, args[0], elementsOf(args[1]) ?? []);
        checkCompared(this.notes, args[1], args.slice(0, 1));
        return BOOL;
      case '_[_]':
        return this.#element(expr, args, first, second, loop);
      default:
        if (ORDERED.has(name)) {
          checkOrder(this.notes, expr, name, args, first, second);
          checkSize(this.notes, name, args);
          return BOOL;
        }
        checkLiterals(this.notes, expr, name, args);
        if (target) checkCased(this.notes, target, args[0]);
        return this.#applied(expr, name, targetType, types);
    }
  }

  #element(expr: Expr, args: readonly Expr[], operand: DataType, index: DataType, loop: Loop): DataType {
    const key = args[1] && constantText(args[1]);
    switch (operand.kind) {
      case 'list':
        if (!isOneOf(index, ['dyn', 'int', 'double']))
          this.notes.problem(
            args[1] ?? expr,
            `a list is asked by number, this is ${withArticle(index)}`,
            'the first one is [0]',
          );
        return operand.of;
      case 'map':
        return operand.of;
      case 'object':
      case 'either':
        return key !== undefined ? this.#field(operand, key, expr, loop) : DYN;
      case 'dyn':
      case 'null':
        return DYN;
      default:
        this.notes.problem(
          expr,
          `${withArticle(operand)} has no elements`,
          operand.kind === 'string' ? 'for a part of a text: text.substring(0, 7)' : null,
        );
        return DYN;
    }
  }

  #applied(expr: Expr, name: string, target: DataType | null, args: readonly DataType[]): DataType {
    const isMethod = target !== null;
    const overloads = this.#functions
      .overloads(expr)
      .filter((overload) => (overload.target !== undefined) === isMethod && overload.arguments.length === args.length);
    const fitting = overloads.filter((overload) => takes(overload, target, args));
    if (overloads.length > 0 && fitting.length === 0) {
      tellMisfit(this.notes, expr, name, overloads, target, args);
      return DYN;
    }
    const results = new Set(fitting.map(({ result }) => typeName(result.name)));
    const [only = 'dyn'] = results;
    if (results.size !== 1) return DYN;
    if (only !== 'list') return TYPES[only] ?? DYN;
    if (name === '_+_' && args[0]?.kind === 'list' && args[1]?.kind === 'list')
      return listOf(commonType([args[0].of, args[1].of].map(widen)));
    return listOf(name === 'split' || name === 'charAt' ? TEXT : DYN);
  }
}

function merged(types: readonly ObjectType[]): ObjectType {
  const common = commonType(types);
  return common.kind === 'object' ? common : { kind: 'object', name: '', fields: {} };
}

/** `map` and `filter` grow a list by `[x]`, perhaps on a condition. */
function elementGathered(step: Expr | undefined, typeOf: (expr: Expr) => DataType): DataType {
  const call = callOf(step);
  if (call?.function === '_?_:_') return elementGathered(call.args[1], typeOf);
  const [element] = (call?.function === '_+_' && elementsOf(call.args[1])) || [];
  return element ? typeOf(element) : DYN;
}

function takes(overload: CelFunc, target: DataType | null, args: readonly DataType[]): boolean {
  if (target !== null && !fits(typeName(overload.target?.name ?? ''), target)) return false;
  return args.every((arg, index) => fits(typeName(overload.arguments[index]?.name ?? ''), arg));
}

/** By the names of CEL. */
const TYPES: Readonly<Record<string, DataType>> = tableOf({
  null: { kind: 'null' },
  bool: BOOL,
  int: INT,
  double: { kind: 'double' },
  string: TEXT,
  bytes: { kind: 'bytes' },
  timestamp: TIME,
  duration: { kind: 'duration' },
  map: { kind: 'map', of: DYN },
  type: { kind: 'type' },
});
