import type { CelFunc } from '@bufbuild/cel';
import type { DataType } from '../../../core/data-types.js';
import { textHabitAt } from '../habits/text-habits.js';
import { warnOfText } from './check-literals.js';
import { warnOfSure, type ReadingContext } from './check-presence.js';
import { signature, typeName } from './infer-type.js';
import type { Expr } from './parse-expression.js';
import { constantText, elementsOf, pathOf } from './tree.js';
import {
  BOOL_HINTS,
  allValues,
  equalityHint,
  isOneOf,
  numeric,
  objectHint,
  orderHint,
  suggestValue,
  whyNeverEqual,
  widen,
} from './type-hints.js';
import type { TypeNotes } from './type-notes.js';
import { fieldOffset, kindName, withArticle } from './words.js';

export function demandBool(notes: TypeNotes, expr: Expr, type: DataType, name: string): void {
  if (isOneOf(type, ['dyn', 'bool'])) return;
  const what =
    name === '!_'
      ? '! turns a condition round'
      : name === '_?_:_'
        ? 'before ? stands a condition'
        : `${name.slice(1, -1)} joins conditions`;
  notes.problem(expr, `${what}, this is ${withArticle(type)}`, BOOL_HINTS[type.kind] ?? null);
}

export function checkEquality(
  context: ReadingContext,
  expr: Expr,
  args: readonly Expr[],
  left: DataType,
  right: DataType,
  isEqual: boolean,
): void {
  const why = whyNeverEqual(left, right);
  warnOfText(context.notes, args);
  warnOfSure(context, args, left, right, isEqual);
  if (why === null) return;
  const [a, b] = args;
  const literal = a && isLiteral(a) ? a : b && isLiteral(b) ? b : null;
  const values = allValues(left, right);
  if (values) {
    const [choices, word] = values;
    const path = (literal === a ? b && pathOf(b) : a && pathOf(a)) ?? 'it';
    context.notes.problem(literal ?? expr, `${path} is never "${word}"`, suggestValue(word, choices));
    return;
  }
  context.notes.problem(
    expr,
    `${why}: this ${isEqual ? 'can never hold' : 'always holds'}`,
    objectHint(left, right, args) ?? equalityHint(left, right, literal, context.notes),
  );
}

export function checkMembership(
  notes: TypeNotes,
  expr: Expr,
  args: readonly Expr[],
  item: DataType,
  range: DataType,
): void {
  if (range.kind === 'string')
    return notes.problem(expr, 'in looks into a list, this is a text', 'for a part of a text: text.contains("…")');
  if (!isOneOf(range, ['dyn', 'list', 'map', 'object', 'either', 'null']))
    return notes.problem(expr, `in looks into a list, this is ${withArticle(range)}`);
  if (range.kind !== 'list') return;
  const listed = elementsOf(args[1]) ?? [];
  for (const element of listed) {
    const word = constantText(element);
    if (item.kind !== 'string' || !item.values || word === undefined || item.values.includes(word)) continue;
    notes.problem(
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
  if (why !== null) notes.problem(expr, `${why}: this can never hold`, inside);
  return;
}

export function checkOrder(
  notes: TypeNotes,
  expr: Expr,
  name: string,
  args: readonly Expr[],
  left: DataType,
  right: DataType,
): void {
  if ([left, right].some(({ kind }) => kind === 'dyn')) return;
  if (numeric(left) && numeric(right)) return;
  if (left.kind === right.kind && isOneOf(left, ['string', 'time', 'duration', 'bool', 'bytes'])) return;
  const hint = equalityHint(left, right, args.find(isLiteral) ?? null, notes) ?? orderHint(left, right);
  notes.problem(
    expr,
    `${name.slice(1, -1)} compares two of a kind, these are ${withArticle(left)} and ${withArticle(right)}`,
    hint,
  );
}

export function tellMisfit(
  notes: TypeNotes,
  expr: Expr,
  name: string,
  overloads: readonly CelFunc[],
  target: DataType | null,
  args: readonly DataType[],
): void {
  const argTypes = args.map(withArticle).join(' and ');
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
    notes.problem(expr, `${operator} does not take ${argTypes}`, hint);
    return;
  }
  const ways = [...new Set(overloads.map(signature))].slice(0, 4).join('; ');
  const wrongTarget =
    target !== null && !overloads.some((overload) => fits(typeName(overload.target?.name ?? ''), target));
  const isOfLists = name === 'glob' && args.some(({ kind }) => kind === 'list');
  const subject =
    wrongTarget && target ? `${withArticle(target)} has no ${name}()` : `${name} does not take ${argTypes}`;
  notes.problem(
    expr,
    subject,
    habitAt(notes, expr, name) ?? (isOfLists ? 'of lists: any_glob(texts, patterns)' : `it is: ${ways}`),
  );
}

export function habitAt(notes: TypeNotes, expr: Expr, field?: string): string | null {
  const at = field === undefined ? notes.offset(expr) : fieldOffset(notes.source, notes.offset(expr), field);
  const habit = textHabitAt(notes.source, at);
  return habit === null ? null : `write ${habit}`;
}

export function fits(wanted: string, actual: DataType): boolean {
  return wanted === 'dyn' || actual.kind === 'dyn' || wanted === kindName(actual);
}

function isLiteral(expr: Expr): boolean {
  return expr.exprKind.case === 'constExpr';
}
