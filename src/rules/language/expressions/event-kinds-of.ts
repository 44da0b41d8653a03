import type { ObjectType } from '../../../core/data-types.js';
import { isEventKind, type EventKind } from '../../../core/event-kinds.js';
import { ownValue } from '../../../core/table.js';
import type { TypeCheck } from '../expression-engine.js';
import type { Expr } from './parse-expression.js';
import { callOf, constantText, elementsOf, isTest, pathOf } from './tree.js';

/** What each kind tells, by its name. */
export type Kinds = ReadonlyMap<string, ObjectType>;

/** For which kinds of event an expression may be true, and for which false: by what it says of `event.kind`, and by which fields it asks for. */
export function kindsOf(expr: Expr, kinds: Kinds): NonNullable<TypeCheck['kinds']> {
  const those = (are: (type: ObjectType) => boolean): string[] =>
    [...kinds].flatMap(([name, type]) => (are(type) ? [name] : []));
  const split = (are: (type: ObjectType) => boolean): NonNullable<TypeCheck['kinds']> => ({
    ifTrue: those(are),
    ifFalse: those((type) => !are(type)),
  });
  const all = [...kinds.keys()];
  const untold = { ifTrue: all, ifFalse: all };
  if (isTest(expr)) {
    const [root, field, ...more] = pathOf(expr)?.split('.') ?? [];
    return root === 'event' && field !== undefined && more.length === 0
      ? {
          ifTrue: those(({ fields }) => Object.hasOwn(fields, field)),
          ifFalse: those(({ fields }) => ownValue(fields, field)?.optional !== false),
        }
      : untold;
  }
  const { function: name = '', args: [first, second] = [] } = callOf(expr) ?? {};
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
  const words = elementsOf(second)?.map(constantText);
  if (name === '@in' && pathOf(first) === 'event.kind' && words?.every((word) => word !== undefined))
    return split((type) => words.some((word) => isKind(type, word)));
  return untold;
}

function isKind(type: ObjectType, word: string): boolean {
  return kindNames(type).some((kind) => kind === word);
}

/** The kind that events of this type have. */
export function kindNames({ fields }: ObjectType): EventKind[] {
  const kind = ownValue(fields, 'kind')?.type;
  return kind?.kind === 'string' ? (kind.values ?? []).filter(isEventKind) : [];
}
