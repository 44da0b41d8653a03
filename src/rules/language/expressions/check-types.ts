import { patternFault } from '../compile/check-filters.js';
import type { Subject } from '../compile/check-filters.js';
import { isRealTime } from '../../../core/real-time.js';
import type { CelEnv, CelFunc } from '@bufbuild/cel';
import { BOOL, DYN, INT, TEXT, TIME, commonType, listOf } from '../../../core/data-types.js';
import type { DataType, ObjectType } from '../../../core/data-types.js';
import { didYouMean } from '../../../core/did-you-mean.js';
import { isEventKind } from '../../../core/event-kinds.js';
import type { EventKind } from '../../../core/event-kinds.js';
import type { EventSource } from '../../../core/event.js';
import { isDelivered, sourcesWithout } from '../../../core/event-sources.js';
import type { Claim, Guards, TypeCheck, TypeProblem, VariableTypes } from '../expression-engine.js';
import { claimsOf } from './claims.js';
import { WALK } from './functions.js';
import { Types, signature, typeName } from './infer-type.js';
import { habitOf, textHabitAt } from '../habits/habits.js';
import type { Expr, ParsedExpression } from './parse-expression.js';
import { fieldOffset, kindName, pathOf, withArticle } from './words.js';
import { emptyTable, ownValue, tableOf } from '../../../core/table.js';

const ORDERED = new Set(['_<_', '_<=_', '_>_', '_>=_']);
/** With its sides changed over. */
const TURNED: Readonly<Record<string, string>> = tableOf({
  '_<_': '_>_',
  '_<=_': '_>=_',
  '_>_': '_<_',
  '_>=_': '_<=_',
});
const MAX_LISTED = 16;

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
  const checker = new Checker(parsed, source, env, variables, guards);
  const type = checker.typeOf(parsed.expr, new Map());
  const claims: Claim[] = claimsOf(parsed.expr, (expr) => checker.offset(expr));
  const kinds = checker.kinds === null || !parsed.expr ? null : kindsOf(parsed.expr, checker.kinds);
  return { type, problems: checker.problems, warnings: checker.warnings, claims, ...(kinds === null ? {} : { kinds }) };
}

type Loop = ReadonlyMap<string, DataType>;

class Checker {
  readonly problems: TypeProblem[] = [];
  readonly warnings: TypeProblem[] = [];
  readonly #functions: Types;
  /** The kinds that the event may be of, each by its name in `on`, with what it tells; null = there is one kind alone. */
  readonly kinds: Kinds | null;
  /** Those of them that are possible where the walk is. */
  #possible: ReadonlySet<string>;

  constructor(
    readonly parsed: ParsedExpression,
    readonly source: string,
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
    const asked = kindsOf(first, kinds);
    if (name === '_?_:_')
      return [
        this.typeOf(first, loop),
        this.#typeWhere(asked.ifTrue, second, loop),
        this.#typeWhere(asked.ifFalse, third, loop),
      ];
    const other = kindsOf(second, kinds);
    const open = name === '_&&_' ? 'ifTrue' : 'ifFalse';
    return [this.#typeWhere(other[open], first, loop), this.#typeWhere(asked[open], second, loop)];
  }

  #eventType(event: DataType): DataType {
    if (event.kind !== 'either') return event;
    const of = event.of.filter(({ name }) => this.#possible.has(name));
    const [only] = of;
    return only && of.length === 1 ? only.type : { kind: 'either', of };
  }

  offset(expr: Expr): number {
    const at = this.parsed.sourceInfo?.positions[String(expr.id)] ?? 0;
    // The parser counts the space before some operators to them.
    return at + (/^\s*/.exec(this.source.slice(at))?.[0].length ?? 0);
  }

  typeOf(expr: Expr | undefined, loop: Loop): DataType {
    if (!expr) return DYN;
    const { exprKind } = expr;
    switch (exprKind.case) {
      case 'constExpr':
        return constantType(expr);
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
          this.#warnOfNothing(operand, loop);
          this.#warnOfOwn(expr, type, field, loop);
          this.#warnOfUntold(expr, loop);
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
        this.#problem(
          expr,
          `${withArticle(type)} has no fields`,
          this.#habitAt(expr, name) ?? FIELD_HINTS[type.kind] ?? null,
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
      this.#problem(
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
      ? this.source.includes(`has(${path}`)
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
      this.#problem(expr, `${this.#nameOf(expr, type)} has no "${name}"`, `did you mean "${near}"?`, name);
  }

  #noField(type: ObjectType, name: string, expr: Expr, owner?: string): void {
    if (this.#possible.size < (this.kinds?.size ?? 0) && pathOf(expr) === `event.${name}`)
      return this.#warn(expr, `${owner ?? this.#nameOf(expr, type)} has no "${name}": this fails each time`, null);
    const known = Object.keys(type.fields);
    const near = didYouMean(name, known);
    const inner = placesOf(name, type, this.#pathIn(expr));
    const habit = habitOf('field', name);
    const hint =
      inner !== null
        ? `write ${inner}`
        : habit !== null
          ? `write ${habit}`
          : near !== null
            ? `did you mean "${near}"?`
            : known.length > 0 && known.length <= MAX_LISTED
              ? `there are: ${known.join(', ')}`
              : null;
    this.#problem(expr, `${owner ?? this.#nameOf(expr, type)} has no "${name}"`, hint, name);
  }

  #pathIn(expr: Expr): string | null {
    const operand = expr.exprKind.case === 'selectExpr' ? expr.exprKind.value.operand : undefined;
    return operand ? pathOf(operand) : null;
  }

  #habitAt(expr: Expr, field?: string): string | null {
    const at = field === undefined ? this.offset(expr) : fieldOffset(this.source, this.offset(expr), field);
    const habit = textHabitAt(this.source, at);
    return habit === null ? null : `write ${habit}`;
  }

  #nameOf(expr: Expr, type: DataType): string {
    const operand =
      expr.exprKind.case === 'selectExpr'
        ? expr.exprKind.value.operand
        : expr.exprKind.case === 'callExpr'
          ? expr.exprKind.value.args[0]
          : undefined;
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
      this.#problem(
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
      return listOf(elementGathered(loopStep, (found) => widen(this.#quietly(found, inside))));
    return result && result.exprKind.case === 'callExpr'
      ? this.typeOf(result, inside)
      : gathered.kind === 'bool'
        ? BOOL
        : stepped;
  }

  /** Looked at once already: its problems are told. */
  #quietly(expr: Expr, loop: Loop): DataType {
    const told = this.problems.length;
    const type = this.typeOf(expr, loop);
    this.problems.length = told;
    return type;
  }

  #typeOfCall(expr: Expr, loop: Loop): DataType {
    if (expr.exprKind.case !== 'callExpr') return DYN;
    const { function: name, args, target } = expr.exprKind.value;
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
        types.forEach((type, index) => this.#demandBool(args[index] ?? expr, type, name));
        return BOOL;
      case '@not_strictly_false':
      case '__not_strictly_false__':
        return BOOL;
      case '_?_:_':
        this.#demandBool(args[0] ?? expr, first, name);
        return second.kind === 'null'
          ? third
          : third.kind === 'null'
            ? second
            : commonType([widen(second), widen(third)]);
      case '_==_':
      case '_!=_':
        this.#checkEquality(expr, args, first, second, name === '_==_');
        this.#checkCased(args[0], args[1]);
        this.#checkCased(args[1], args[0]);
        return BOOL;
      case '@in':
        this.#checkMembership(expr, args, first, second);
        return BOOL;
      case '_[_]':
        return this.#element(expr, args, first, second, loop);
      default:
        if (ORDERED.has(name)) {
          this.#checkOrder(expr, name, args, first, second);
          this.#checkSize(name, args);
          return BOOL;
        }
        if ((name === '_/_' || name === '_%_') && isZero(args[1]))
          this.#warn(
            args[1] ?? expr,
            `${name === '_/_' ? 'dividing' : 'the remainder'} by 0 is an error each time`,
            null,
          );
        if (
          name === 'matches' &&
          /(?:^|[^\\.\])])\/\*|^\*/.test((args.at(-1) && constantText(args.at(-1) as Expr)) ?? '')
        )
          this.#warn(
            args.at(-1) ?? expr,
            'this looks like a glob pattern, and matches takes a regular expression',
            'glob(text, "release/*"), or text.matches("^release/.*$")',
          );
        this.#checkLiterals(name, args);
        if (target) this.#checkCased(target, args[0]);
        this.#checkPattern(name, args);
        this.#checkGlob(name, args);
        return this.#applied(expr, name, targetType, types);
    }
  }

  #demandBool(expr: Expr, type: DataType, name: string): void {
    if (isOneOf(type, ['dyn', 'bool'])) return;
    const what =
      name === '!_'
        ? '! turns a condition round'
        : name === '_?_:_'
          ? 'before ? stands a condition'
          : `${name.slice(1, -1)} joins conditions`;
    this.#problem(expr, `${what}, this is ${withArticle(type)}`, BOOL_HINTS[type.kind] ?? null);
  }

  #checkEquality(expr: Expr, args: readonly Expr[], left: DataType, right: DataType, isEqual: boolean): void {
    const why = whyNeverEqual(left, right);
    this.#warnOfText(args);
    this.#warnOfSure(args, left, right, isEqual);
    if (why === null) return;
    const [a, b] = args;
    const literal = a && isLiteral(a) ? a : b && isLiteral(b) ? b : null;
    const values = allValues(left, right);
    if (values) {
      const [known, word] = values;
      const path = (literal === a ? b && pathOf(b) : a && pathOf(a)) ?? 'it';
      this.#problem(literal ?? expr, `${path} is never "${word}"`, suggestValue(word, known));
      return;
    }
    this.#problem(
      expr,
      `${why}: this ${isEqual ? 'can never hold' : 'always holds'}`,
      objectHint(left, right, args) ?? equalityHint(left, right, literal, this.source, this.offset.bind(this)),
    );
  }

  /** A lookup that must be there is compared with null. */
  #warnOfSure(args: readonly Expr[], left: DataType, right: DataType, isEqual: boolean): void {
    const at = left.kind === 'null' ? 1 : right.kind === 'null' ? 0 : -1;
    const [root, name, ...more] = (args[at] && pathOf(args[at]))?.split('.') ?? [];
    const lookups = ownValue(this.variables, 'lookups');
    const field = lookups?.kind === 'object' && name !== undefined ? ownValue(lookups.fields, name) : undefined;
    if (at === -1 || root !== 'lookups' || more.length > 0 || !field || field.optional || !args[at]) return;
    this.#warn(
      args[at],
      `lookups.${name} is never null, so this ${isEqual ? 'never' : 'always'} holds: where there is nothing, the run ends with an error`,
      'on_missing: none in the lookup',
    );
  }

  /** A text that is compared letter by letter, and was hardly meant so. */
  #warnOfText(args: readonly Expr[]): void {
    for (const [index, literal] of args.entries()) {
      const text = constantText(literal);
      const other = args[1 - index];
      const path = other ? pathOf(other) : null;
      if (text === undefined || path === null) continue;
      if (/\*/.test(text) && !/(?:title|body|message|content|description)$/.test(path))
        this.#warn(
          literal,
          `"${text}" is compared letter by letter, and looks like a pattern`,
          `glob(${path}, "${text}")`,
        );
      else if (/(?:^|\.)full_name$/.test(path) && !text.includes('/') && text !== '')
        this.#warn(
          literal,
          `${path} has a slash always: this never holds`,
          `${path.replace(/full_name$/, 'name')} == "${text}"`,
        );
      else if (/\.tag$/.test(path) && /^refs\/tags\//.test(text))
        this.#newProblem(literal, `a tag is named without "refs/tags/": this never holds`, `"${text.slice(10)}"`);
      else if (/\.branch$/.test(path) && /^refs\/heads\//.test(text))
        this.#newProblem(literal, `a branch is named without "refs/heads/": this never holds`, `"${text.slice(11)}"`);
      else if (wordOf(path, text) !== null)
        this.#warn(literal, `${path} is hardly ever "${text}"`, `did you mean "${wordOf(path, text) ?? ''}"?`);
      else if (/\.login$/.test(path) && text.startsWith('@'))
        this.#newProblem(literal, 'a login has no "@" before it: this never holds', `"${text.slice(1)}"`);
    }
  }

  /** Reading on from what may be missing or null ends the decision with an error. */
  #warnOfNothing(operand: Expr | undefined, loop: Loop): void {
    const path = operand ? pathOf(operand) : null;
    if (!operand || path === null || loop.has(path.split('.')[0] ?? '')) return;
    if (!this.#mayBeNothing(path) || this.#isAsked(path)) return;
    this.#warn(
      operand,
      `${path} may be missing or null: reading on from it is an error then`,
      `ask first: ${hasFirst(path)}`,
    );
  }

  /** A field that events of a kind need not have: of the event itself, since those of the forge's objects may all be missing. */
  #warnOfOwn(expr: Expr, type: DataType, name: string, loop: Loop): void {
    const path = pathOf(expr);
    if (path !== `event.${name}` || loop.has('event') || this.#isAsked(path)) return;
    const types = type.kind === 'object' ? [type] : type.kind === 'either' ? type.of.map((one) => one.type) : [];
    const lacking = types.filter((one) => ownValue(one.fields, name)?.optional === true);
    if (!OFTEN_MISSING.has(name) || !lacking.some(isPush)) return this.#warnOfOptional(expr, lacking, name);
    this.#warn(
      expr,
      `a push need not have ${path}: it is of a branch or of a tag`,
      `on: push.${name}; or ask first: ${hasFirst(path)}`,
    );
  }

  #warnOfOptional(expr: Expr, lacking: readonly ObjectType[], name: string): void {
    // Every event has a repository; who did it is asked for below, by field.
    if (name === 'repo' || name === 'actor' || NULLABLE.has(name)) return;
    const isByDelivery = this.guards.sources?.size === 1 && this.guards.sources.has('webhook');
    const kinds = lacking.flatMap(kindNames).filter((kind) => !isByDelivery || !isDelivered(kind, name));
    if (kinds.length === 0) return;
    this.#warn(
      expr,
      `event.${name} may be missing: ${nameSome(kinds)} may lack it`,
      `ask first: ${hasFirst(`event.${name}`)}`,
    );
  }

  /** Not every source tells the objects of an event whole. */
  #warnOfUntold(expr: Expr, loop: Loop): void {
    const [root, object, field, ...more] = pathOf(expr)?.split('.') ?? [];
    if (root !== 'event' || !object || !field || more.length > 0 || loop.has('event')) return;
    const path = object === 'actor' ? 'event.actor' : `event.${object}.${field}`;
    // What is null again and again is told of where it is read on.
    if (this.#isAsked(path) || NULLABLE.has(field)) return;
    const event = this.#eventType(ownValue(this.variables, 'event') ?? DYN);
    const types = event.kind === 'object' ? [event] : event.kind === 'either' ? event.of.map(({ type }) => type) : [];
    const { sources } = this.guards;
    const lacking = types.flatMap(kindNames).flatMap((kind) => {
      const without = sourcesWithout(kind, object, field).filter((source) => sources?.has(source) ?? true);
      return without.length > 0 ? [{ kind, without }] : [];
    });
    if (lacking.length === 0) return;
    const from = [...new Set(lacking.flatMap(({ without }) => without))].map((source) => SOURCE_NAMES[source]);
    this.#warn(
      expr,
      `${path} is missing where ${from.join(' or ')} reported ${nameSome(lacking.map(({ kind }) => kind))}`,
      `ask first: has(${path}) && …; or where: {source: webhook}`,
    );
  }

  #isAsked(path: string): boolean {
    const { paths, notNull } = this.guards;
    return [...paths, ...(notNull ?? [])].some((one) => one === path || one.startsWith(`${path}.`));
  }

  #mayBeNothing(path: string): boolean {
    const [root = '', name = '', ...more] = path.split('.');
    const of = ownValue(this.variables, root);
    if (root === 'lookups')
      return more.length === 0 && of?.kind === 'object' && ownValue(of.fields, name)?.optional === true;
    if (root !== 'event') return false;
    const last = more.at(-1) ?? name;
    return NULLABLE.has(last);
  }

  #checkMembership(expr: Expr, args: readonly Expr[], item: DataType, range: DataType): void {
    if (range.kind === 'string')
      return this.#problem(expr, 'in looks into a list, this is a text', 'for a part of a text: text.contains("…")');
    if (!isOneOf(range, ['dyn', 'list', 'map', 'object', 'either', 'null']))
      return this.#problem(expr, `in looks into a list, this is ${withArticle(range)}`);
    if (range.kind !== 'list') return;
    const listed = args[1]?.exprKind.case === 'listExpr' ? args[1].exprKind.value.elements : [];
    for (const element of listed) {
      const word = constantText(element);
      if (item.kind !== 'string' || !item.values || word === undefined || item.values.includes(word)) continue;
      this.#problem(
        element,
        `${(args[0] && pathOf(args[0])) ?? 'it'} is never "${word}"`,
        suggestValue(word, item.values),
      );
    }
    const why =
      listed.some((element) => constantText(element) !== undefined) && item.kind === 'string'
        ? null
        : whyNeverEqual(widen(item), widen(range.of));
    const named = range.of.kind === 'object' && Object.hasOwn(range.of.fields, 'name') ? 'name' : 'login';
    const inside =
      range.of.kind === 'object' ? `${(args[1] && pathOf(args[1])) ?? 'list'}.exists(x, x.${named} == …)` : null;
    if (why !== null) this.#problem(expr, `${why}: this can never hold`, inside);
    return;
  }

  #element(expr: Expr, args: readonly Expr[], operand: DataType, index: DataType, loop: Loop): DataType {
    const key = args[1] && constantText(args[1]);
    switch (operand.kind) {
      case 'list':
        if (!isOneOf(index, ['dyn', 'int', 'double']))
          this.#problem(
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
        this.#problem(
          expr,
          `${withArticle(operand)} has no elements`,
          operand.kind === 'string' ? 'for a part of a text: text.substring(0, 7)' : null,
        );
        return DYN;
    }
  }

  #checkOrder(expr: Expr, name: string, args: readonly Expr[], left: DataType, right: DataType): void {
    if ([left, right].some(({ kind }) => kind === 'dyn')) return;
    if (numeric(left) && numeric(right)) return;
    if (left.kind === right.kind && isOneOf(left, ['string', 'time', 'duration', 'bool', 'bytes'])) return;
    const hint =
      equalityHint(left, right, args.find(isLiteral) ?? null, this.source, this.offset.bind(this)) ??
      orderHint(left, right);
    this.#problem(
      expr,
      `${name.slice(1, -1)} compares two of a kind, these are ${withArticle(left)} and ${withArticle(right)}`,
      hint,
    );
  }

  /** A text that was made lower or upper case has no letter of the other one. */
  #checkCased(cased: Expr | undefined, literal: Expr | undefined): void {
    const text = literal && constantText(literal);
    const call = cased?.exprKind.case === 'callExpr' ? cased.exprKind.value.function : null;
    if (text === undefined || !literal || (call !== 'lowerAscii' && call !== 'upperAscii')) return;
    const meant = call === 'lowerAscii' ? text.toLowerCase() : text.toUpperCase();
    if (meant === text || !/^[\x20-\x7e]*$/.test(text)) return;
    const letters = call === 'lowerAscii' ? 'capital' : 'small';
    this.#newProblem(literal, `what ${call}() gives has no ${letters} letters: this never holds`, `"${meant}"`);
  }

  /** Patterns that nothing matches, and patterns in the place of the text. */
  #checkPattern(name: string, args: readonly Expr[]): void {
    const [first, second] = args;
    const pattern = args.at(-1) && constantText(args.at(-1) as Expr);
    if (name === 'matches' && pattern !== undefined && isNowhere(pattern))
      this.#newProblem(
        args.at(-1) as Expr,
        'this pattern matches nothing: ^ stands at the beginning of a text, $ at its end',
        'the sign itself is "[$]"',
      );
    const text = first && constantText(first);
    if (name === 'glob' && text !== undefined && /[*?]/.test(text) && first && second && pathOf(second) !== null)
      this.#newProblem(first, 'glob takes the text first, and then the pattern', `glob(${pathOf(second)}, "${text}")`);
  }

  /** Patterns of the glob functions that are written out, as filters are judged. */
  #checkGlob(name: string, [texts, patterns]: readonly Expr[]): void {
    if (!/^(?:glob|any_glob|all_glob)$/.test(name) || !texts || !patterns) return;
    const subject = subjectOf(pathOf(texts), this.source);
    if (subject === null) return;
    const { exprKind } = patterns;
    for (const one of exprKind.case === 'listExpr' ? exprKind.value.elements : [patterns]) {
      const text = constantText(one);
      const wrong = text === undefined ? null : patternFault(subject, text);
      if (wrong) this.#newProblem(one, wrong.message, wrong.hint ?? null);
    }
  }

  /** Sizes are 0 at least. */
  #checkSize(name: string, args: readonly Expr[]): void {
    const at = args.findIndex((arg) => arg.exprKind.case === 'callExpr' && arg.exprKind.value.function === 'size');
    const number = constantNumber(args[1 - at]);
    const expr = args[at];
    if (at === -1 || number === null || !expr) return;
    const operator = at === 0 ? name : (TURNED[name] ?? name);
    const isNever = (operator === '_<_' && number <= 0) || (operator === '_<=_' && number < 0);
    const isAlways = (operator === '_>=_' && number <= 0) || (operator === '_>_' && number < 0);
    if (isNever) this.#newProblem(expr, 'a size is 0 at least: this never holds', 'to ask for none: ….size() == 0');
    if (isAlways) this.#warn(expr, 'a size is 0 at least: this always holds', 'to ask for some: ….size() > 0');
  }

  /** Texts that a function reads: they parse or they never do. */
  #checkLiterals(name: string, args: readonly Expr[]): void {
    const [only] = args;
    const text = only && constantText(only);
    if (text === undefined || args.length !== 1 || !only) return;
    if (
      name === 'duration' &&
      !/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))*$/.test(text)
    ) {
      const days = /^(\d+)\s*(d|day|days|w|week|weeks)$/.exec(text);
      const count = days ? Number(days[1]) * (days[2]?.startsWith('w') ? 7 : 1) : null;
      this.#problem(
        only,
        `"${text}" is no duration`,
        count === null
          ? 'durations are like "36h" or "1h30m"; of days: days(3)'
          : `days(${count}), or duration("${count * 24}h")`,
      );
    }
    if (name === 'timestamp' && !isRealTime(text)) {
      this.#problem(only, `"${text}" is no time`, 'times are like "2026-12-31T18:00:00Z"');
    }
  }

  #applied(expr: Expr, name: string, target: DataType | null, args: readonly DataType[]): DataType {
    const isMethod = target !== null;
    const overloads = this.#functions
      .overloads(expr)
      .filter((overload) => (overload.target !== undefined) === isMethod && overload.arguments.length === args.length);
    const fitting = overloads.filter((overload) => takes(overload, target, args));
    if (overloads.length > 0 && fitting.length === 0) {
      this.#misfit(expr, name, overloads, target, args);
      return DYN;
    }
    const results = new Set(fitting.map(({ result }) => typeName(result.name)));
    const [only = 'dyn'] = results;
    if (results.size !== 1) return DYN;
    if (only !== 'list') return RESULTS[only] ?? DYN;
    if (name === '_+_' && args[0]?.kind === 'list' && args[1]?.kind === 'list')
      return listOf(commonType([args[0].of, args[1].of].map(widen)));
    return listOf(name === 'split' || name === 'charAt' ? TEXT : DYN);
  }

  #misfit(
    expr: Expr,
    name: string,
    overloads: readonly CelFunc[],
    target: DataType | null,
    args: readonly DataType[],
  ): void {
    const given = args.map(withArticle).join(' and ');
    const operator = /^_(.+)_$/.exec(name)?.[1] ?? (name === '-_' ? '-' : null);
    if (operator !== null) {
      const hint =
        operator === '+' && args.some(({ kind }) => kind === 'string')
          ? 'to write it into a text: string(…)'
          : args.some((arg) => arg.kind === 'string' && arg.isId)
            ? 'ids are texts: int(…)'
            : args.some(({ kind }) => kind === 'time') && args.some(numeric)
              ? 'a time and a duration: … + duration("24h")'
              : args.some(({ kind }) => kind === 'duration') && args.some(numeric)
                ? 'durations are like duration("24h")'
                : null;
      this.#problem(expr, `${operator} does not take ${given}`, hint);
      return;
    }
    const ways = [...new Set(overloads.map(signature))].slice(0, 4).join('; ');
    const wrongTarget =
      target !== null && !overloads.some((overload) => fits(typeName(overload.target?.name ?? ''), target));
    const isOfLists = name === 'glob' && args.some(({ kind }) => kind === 'list');
    const subject =
      wrongTarget && target ? `${withArticle(target)} has no ${name}()` : `${name} does not take ${given}`;
    this.#problem(
      expr,
      subject,
      this.#habitAt(expr, name) ?? (isOfLists ? 'of lists: any_glob(texts, patterns)' : `it is: ${ways}`),
    );
  }

  #warn(expr: Expr, message: string, hint: string | null): void {
    const offset = this.offset(firstIn(expr));
    if (!this.warnings.some((one) => one.message === message)) this.warnings.push({ offset, message, hint });
  }

  /** What is a warning where the file was active before: the check is newer than others. */
  #newProblem(expr: Expr, message: string, hint: string | null): void {
    const offset = this.offset(expr);
    if (!this.problems.some((one) => one.offset === offset && one.message === message))
      this.problems.push({ offset, message, hint, isNew: true });
  }

  #problem(expr: Expr, message: string, hint: string | null = null, field?: string): void {
    const name = field ?? (expr.exprKind.case === 'selectExpr' ? expr.exprKind.value.field : undefined);
    const at = name === undefined ? this.offset(expr) : fieldOffset(this.source, this.offset(expr), name);
    if (!this.problems.some(({ offset, message: known }) => offset === at && known === message))
      this.problems.push({ offset: at, message, hint });
  }
}

/** Words that forges use there; others may come, so only a slip is told. */
const WORDS_OF: ReadonlyArray<readonly [path: RegExp, words: readonly string[]]> = [
  [/(?:^|\.)review\.state$/, ['APPROVED', 'REQUEST_CHANGES', 'COMMENT', 'PENDING', 'REQUEST_REVIEW']],
  [/(?:^|\.)status\.state$/, ['success', 'pending', 'failure', 'error', 'warning', 'skipped']],
  [/(?:^|\.)(?:run|task)\.conclusion$/, ['success', 'failure', 'cancelled', 'skipped']],
  [/(?:^|\.)(?:issue|pull_request)\.state$/, ['open', 'closed']],
];

function wordOf(path: string, text: string): string | null {
  const words = WORDS_OF.find(([pattern]) => pattern.test(path))?.[1];
  return !words || words.includes(text) ? null : didYouMean(text, words);
}

/** What each kind tells, by its name. */
type Kinds = ReadonlyMap<string, ObjectType>;

/** For which kinds of event an expression may be true, and for which false: by what it says of `event.kind`, and by which fields it asks for. */
function kindsOf(expr: Expr, kinds: Kinds): NonNullable<TypeCheck['kinds']> {
  const those = (are: (type: ObjectType) => boolean): string[] =>
    [...kinds].flatMap(([name, type]) => (are(type) ? [name] : []));
  const split = (are: (type: ObjectType) => boolean): NonNullable<TypeCheck['kinds']> => ({
    ifTrue: those(are),
    ifFalse: those((type) => !are(type)),
  });
  const all = [...kinds.keys()];
  const untold = { ifTrue: all, ifFalse: all };
  const { exprKind } = expr;
  if (exprKind.case === 'selectExpr' && exprKind.value.testOnly) {
    const { operand, field } = exprKind.value;
    const isOfEvent = operand?.exprKind.case === 'identExpr' && operand.exprKind.value.name === 'event';
    return isOfEvent
      ? {
          ifTrue: those(({ fields }) => Object.hasOwn(fields, field)),
          ifFalse: those(({ fields }) => ownValue(fields, field)?.optional !== false),
        }
      : untold;
  }
  if (exprKind.case !== 'callExpr') return untold;
  const { function: name, args } = exprKind.value;
  const [first, second] = args;
  if (name === '!_' && first) {
    const { ifTrue, ifFalse } = kindsOf(first, kinds);
    return { ifTrue: ifFalse, ifFalse: ifTrue };
  }
  if (!first || !second) return untold;
  if (name === '_&&_' || name === '_||_') {
    const [left, right] = [kindsOf(first, kinds), kindsOf(second, kinds)];
    const both = (one: readonly string[], other: readonly string[]): string[] =>
      one.filter((kind) => other.includes(kind));
    const either = (one: readonly string[], other: readonly string[]): string[] =>
      all.filter((kind) => one.includes(kind) || other.includes(kind));
    return name === '_&&_'
      ? { ifTrue: both(left.ifTrue, right.ifTrue), ifFalse: either(left.ifFalse, right.ifFalse) }
      : { ifTrue: either(left.ifTrue, right.ifTrue), ifFalse: both(left.ifFalse, right.ifFalse) };
  }
  if (name === '_==_' || name === '_!=_') {
    const word =
      pathOf(first) === 'event.kind'
        ? constantText(second)
        : pathOf(second) === 'event.kind'
          ? constantText(first)
          : undefined;
    if (word === undefined) return untold;
    return split((type) => isKind(type, word) === (name === '_==_'));
  }
  if (name === '@in' && pathOf(first) === 'event.kind' && second.exprKind.case === 'listExpr') {
    const words = second.exprKind.value.elements.map(constantText);
    if (words.every((word) => word !== undefined)) return split((type) => words.some((word) => isKind(type, word)));
  }
  return untold;
}

function isKind(type: ObjectType, word: string): boolean {
  return kindNames(type).some((kind) => kind === word);
}

/** The kind that events of this type have. */
function kindNames({ fields }: ObjectType): EventKind[] {
  const kind = ownValue(fields, 'kind')?.type;
  return kind?.kind === 'string' ? (kind.values ?? []).filter(isEventKind) : [];
}

const SOURCE_NAMES: Readonly<Record<EventSource, string>> = {
  webhook: 'a delivery',
  feed: 'the feed',
  tasks: 'the task list',
  lists: 'a list of issues',
};

/** Of a push, one of both is missing each time. */
const OFTEN_MISSING = new Set(['branch', 'tag']);
/** Null again and again, and not only where a source is short of words. */
const NULLABLE = new Set(['milestone', 'assignee', 'merged_by', 'head_commit', 'requested_reviewer', 'command']);

function isPush({ fields }: ObjectType): boolean {
  return Object.hasOwn(fields, 'branch') && Object.hasOwn(fields, 'tag');
}

function hasFirst(path: string): string {
  return path.startsWith('lookups.') ? `${path} != null && …` : `has(${path}) && ${path} != null && …`;
}

/** The variable that a chain begins with. */
function firstIn(expr: Expr): Expr {
  const { exprKind } = expr;
  const inner = exprKind.case === 'selectExpr' ? exprKind.value.operand : undefined;
  return inner ? firstIn(inner) : expr;
}

function merged(types: readonly ObjectType[]): ObjectType {
  const common = commonType(types);
  return common.kind === 'object' ? common : { kind: 'object', name: '', fields: {} };
}

function nameSome(names: readonly string[]): string {
  return names.length > 3
    ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
    : names.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

/** `map` and `filter` grow a list by `[x]`, perhaps on a condition. */
function elementGathered(step: Expr | undefined, typeOf: (expr: Expr) => DataType): DataType {
  if (step?.exprKind.case !== 'callExpr') return DYN;
  const { function: name, args } = step.exprKind.value;
  if (name === '_?_:_') return elementGathered(args[1], typeOf);
  const added = args[1];
  const [element] = name === '_+_' && added?.exprKind.case === 'listExpr' ? added.exprKind.value.elements : [];
  return element ? typeOf(element) : DYN;
}

function takes(overload: CelFunc, target: DataType | null, args: readonly DataType[]): boolean {
  if (target !== null && !fits(typeName(overload.target?.name ?? ''), target)) return false;
  return args.every((arg, index) => fits(typeName(overload.arguments[index]?.name ?? ''), arg));
}

function fits(wanted: string, given: DataType): boolean {
  return wanted === 'dyn' || given.kind === 'dyn' || wanted === kindName(given);
}

function isOneOf(type: DataType, kinds: ReadonlyArray<DataType['kind']>): boolean {
  return kinds.includes(type.kind);
}

function numeric(type: DataType): boolean {
  return type.kind === 'int' || type.kind === 'double';
}

/** A literal's own value says nothing about what else may stand there. */
function widen(type: DataType): DataType {
  return type.kind === 'string' && type.values ? TEXT : type;
}

/** @returns why two values can never be equal; null = they may */
function whyNeverEqual(left: DataType, right: DataType): string | null {
  if ([left, right].some(({ kind }) => kind === 'dyn' || kind === 'null')) return null;
  if (numeric(left) && numeric(right)) return null;
  if (left.kind === 'string' && right.kind === 'string') {
    const isDisjoint = left.values && right.values && !left.values.some((value) => right.values?.includes(value));
    return isDisjoint ? 'these never meet' : null;
  }
  const isMap = (type: DataType): boolean => isOneOf(type, ['map', 'object', 'either']);
  if (left.kind === right.kind || (isMap(left) && isMap(right))) return null;
  return `${withArticle(left)} never equals ${withArticle(right)}`;
}

/** The values a field can have, and the one word that is none of them. */
function allValues(left: DataType, right: DataType): readonly [readonly string[], string] | null {
  if (left.kind !== 'string' || right.kind !== 'string' || !left.values || !right.values) return null;
  if (right.values.length === 1) return [left.values, right.values[0] ?? ''];
  return left.values.length === 1 ? [right.values, left.values[0] ?? ''] : null;
}

function suggestValue(word: string, known: readonly string[]): string {
  const near = didYouMean(word, known);
  return near !== null ? `did you mean "${near}"?` : `it may be: ${known.slice(0, MAX_LISTED).join(', ')}`;
}

/** A field of the object is meant: `event.actor == "ann"`. */
function objectHint(left: DataType, right: DataType, args: readonly Expr[]): string | null {
  const at =
    left.kind === 'object' && right.kind === 'string' ? 0 : right.kind === 'object' && left.kind === 'string' ? 1 : -1;
  const type = at === 0 ? left : right;
  const [path, fields] = [at === -1 || !args[at] ? null : pathOf(args[at]), type.kind === 'object' ? type.fields : {}];
  const field = ['login', 'full_name', 'name', 'title', 'tag_name', 'ref', 'state', 'id'].find((one) =>
    Object.hasOwn(fields, one),
  );
  return path !== null && field !== undefined ? `compare a field of it: ${path}.${field}` : null;
}

/** The field that people look for one level too high: `event.title` is `event.issue.title`. */
function placesOf(name: string, type: ObjectType, path: string | null): string | null {
  if (path === null) return null;
  const joined = /^([a-z]+)_(\w+)$/.exec(name);
  const outer = joined && ownValue(type.fields, joined[1] ?? '')?.type;
  if (joined && outer?.kind === 'object' && Object.hasOwn(outer.fields, joined[2] ?? ''))
    return `${path}.${joined[1]}.${joined[2]}`;
  const found = Object.entries(type.fields).filter(
    ([, { type: inner }]) =>
      inner.kind === 'object' && inner.name !== 'EventRepository' && Object.hasOwn(inner.fields, name),
  );
  const [only] = found;
  return only && found.length <= 2 ? found.map(([field]) => `${path}.${field}.${name}`).join(' or ') : null;
}

function equalityHint(
  left: DataType,
  right: DataType,
  literal: Expr | null,
  source: string,
  offset: (expr: Expr) => number,
): string | null {
  const types = [left, right];
  const has = (kind: DataType['kind']): boolean => types.some((type) => type.kind === kind);
  const word =
    literal === null ? '…' : (constantText(literal) ?? /^-?[\w.]+/.exec(source.slice(offset(literal)))?.[0] ?? '…');
  if (types.some((type) => type.kind === 'string' && type.isId) && has('int')) return `ids are texts: "${word}"`;
  if (has('time') && has('string')) return `timestamp("${word.includes('T') ? word : '2026-12-31T00:00:00Z'}")`;
  if (has('duration') && has('string')) return `duration("${word}")`;
  if (has('string') && has('int'))
    return literal && /^-?\d+$/.test(constantText(literal) ?? '')
      ? `without quotes: ${word}`
      : literal && constantText(literal) !== undefined
        ? null
        : 'int(…) reads a number from a text';
  if (has('bool') && has('string') && (word === 'true' || word === 'false')) return `without quotes: ${word}`;
  if (has('list')) return 'for one of a list: value in list, or list.exists(x, …)';
  return null;
}

function orderHint(left: DataType, right: DataType): string | null {
  const types = [left, right];
  if (types.some(({ kind }) => kind === 'time') && types.some(({ kind }) => kind === 'duration'))
    return 'how long ago a time was: age(time) > duration("36h")';
  return types.some(({ kind }) => kind === 'list') ? 'ask for its size: ….size() > 0' : null;
}

function isLiteral(expr: Expr): boolean {
  return expr.exprKind.case === 'constExpr';
}

function constantText(expr: Expr): string | undefined {
  const { exprKind } = expr;
  return exprKind.case === 'constExpr' && exprKind.value.constantKind.case === 'stringValue'
    ? exprKind.value.constantKind.value
    : undefined;
}

function constantNumber(expr: Expr | undefined): number | null {
  const kind = expr?.exprKind.case === 'constExpr' ? expr.exprKind.value.constantKind : undefined;
  return kind?.case === 'int64Value' ? Number(kind.value) : null;
}

/** Whether a regular expression asks for signs before the beginning of a text or after its end. */
function isNowhere(pattern: string): boolean {
  // What is escaped or stands in brackets is a sign like any other; a flag may give ^ and $ another meaning.
  if (/\(\?[a-zA-Z]*m|[()|?*{]/.test(pattern.replace(/\\.|\[\^?\]?[^\]]*\]/g, ''))) return false;
  const plain = pattern.replace(/\\.|\[\^?\]?[^\]]*\]/g, 'x');
  return /[^^$]\^/.test(plain) || /\$[^$^]/.test(plain);
}

function isZero(expr: Expr | undefined): boolean {
  const kind = expr?.exprKind.case === 'constExpr' ? expr.exprKind.value.constantKind : undefined;
  return kind?.case === 'int64Value' && kind.value === 0n;
}

function constantType(expr: Expr): DataType {
  const text = constantText(expr);
  if (text !== undefined) return { kind: 'string', values: [text] };
  const kind = expr.exprKind.case === 'constExpr' ? expr.exprKind.value.constantKind.case : undefined;
  return (kind !== undefined && CONSTANTS[kind]) || DYN;
}

const CONSTANTS: Readonly<Record<string, DataType>> = tableOf({
  boolValue: BOOL,
  int64Value: INT,
  uint64Value: DYN,
  doubleValue: { kind: 'double' },
  bytesValue: { kind: 'bytes' },
  nullValue: { kind: 'null' },
});

const RESULTS: Readonly<Record<string, DataType>> = tableOf({
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

const FIELD_HINTS: Partial<Record<DataType['kind'], string>> = {
  list: 'of one: [0]; of any: .exists(x, x.name == "…"); of all: .map(x, x.name)',
  string: 'it is a text already',
};

const BOOL_HINTS: Partial<Record<DataType['kind'], string>> = {
  int: 'compare it: … > 0',
  string: 'compare it: … != ""',
  list: 'ask for its size: ….size() > 0',
  object: 'ask whether it is there: … != null',
  map: 'ask whether it is there: … != null',
};

/** What a field holds, by its name; a variable of a loop holds paths where the expression reads files. */
function subjectOf(path: string | null, source: string): Subject | null {
  if (path === null) return null;
  if (/(?:^|\.)(?:branch|head_branch|default_branch)$|\.(?:base|head)\.ref$/.test(path)) return 'branch';
  if (/(?:^|\.)(?:tag|tag_name)$/.test(path)) return 'tag';
  if (/^repo\.name$/.test(path)) return 'repo';
  if (/(?:^|\.)login$/.test(path)) return 'actor';
  if (/(?:^|\.)(?:files(?:\.\w+)?|filename|added|modified|removed)$/.test(path)) return 'file';
  return !path.includes('.') && /\bfiles\b/.test(source) ? 'file' : null;
}
