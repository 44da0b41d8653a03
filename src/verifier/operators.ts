import { RuleFails } from './failures.js';

export type Value = unknown;
export type Scope = Readonly<Record<string, Value>>;
export type Functions = Readonly<Record<string, (...args: Value[]) => Value>>;
export type Evaluate = (scope: Scope) => Value;

export function operate(sign: string, first: Evaluate, second: Evaluate, scope: Scope): Value {
  if (sign === '&&' || sign === '||') return both(sign === '||', first, second, scope);
  const [a, b] = [first(scope), second(scope)];
  switch (sign) {
    case '==':
      return same(a, b);
    case '!=':
      return !same(a, b);
    case 'in':
      return Array.isArray(b) ? b.some((item) => same(item, a)) : Object.hasOwn(b as object, a as string);
    case '+':
      return add(a, b);
    case '-':
      return (a as number) - (b as number);
    case '*':
      return (a as number) * (b as number);
    case '/':
      return Math.trunc((a as number) / (b as number));
    case '%':
      return (a as number) % (b as number);
    case '<':
      return (a as number) < (b as number);
    case '<=':
      return (a as number) <= (b as number);
    case '>':
      return (a as number) > (b as number);
    default:
      return (a as number) >= (b as number);
  }
}

/** A side that decides makes the failure of the other one void. */
function both(deciding: boolean, first: Evaluate, second: Evaluate, scope: Scope): boolean {
  let failure: unknown = null;
  for (const side of [first, second]) {
    try {
      if (truth(side(scope)) === deciding) return deciding;
    } catch (error) {
      if (!(error instanceof RuleFails)) throw error;
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return !deciding;
}

export function truth(value: Value): boolean {
  if (typeof value !== 'boolean') throw new RuleFails(`${JSON.stringify(value)} is neither true nor false`);
  return value;
}

function same(a: Value, b: Value): boolean {
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  return a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b));
}

function add(a: Value, b: Value): Value {
  if (a instanceof Date && typeof b === 'object' && b !== null && 'ms' in b)
    return new Date(a.getTime() + (b.ms as number));
  if (Array.isArray(a) && Array.isArray(b)) return [...(a as Value[]), ...(b as Value[])];
  if (typeof a !== typeof b) throw new RuleFails(`cannot add ${typeof a} and ${typeof b}`);
  return (a as string) + (b as string);
}

export function field(subject: Evaluate, name: string, text: string): Evaluate {
  return (scope) => member(subject(scope), name, text);
}

export function member(value: Value, name: Value, text: string): Value {
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, name as string)) {
    const fieldValue = (value as Record<string, Value>)[name as string];
    if (fieldValue !== undefined) return fieldValue;
  }
  throw new RuleFails(`there is no ${String(name)} in "${text}"`);
}

export function isThere(get: () => Value): boolean {
  try {
    return get() !== undefined;
  } catch (error) {
    if (error instanceof RuleFails) return false;
    throw error;
  }
}

export function listOf(value: Value): Value[] {
  if (!Array.isArray(value)) throw new RuleFails('this is no list');
  return value as Value[];
}

export type Macro = (list: Value[], inner: (item: Value) => Value) => Value;

export const MACROS: Readonly<Record<string, Macro>> = {
  all: (list, inner) => list.every((item) => truth(inner(item))),
  exists: (list, inner) => list.some((item) => truth(inner(item))),
  filter: (list, inner) => list.filter((item) => truth(inner(item))),
  map: (list, inner) => list.map(inner),
};

export const METHODS: Readonly<Record<string, (subject: Value, ...args: Value[]) => Value>> = {
  size: (value) => (value as string | Value[]).length,
  startsWith: (value, start) => (value as string).startsWith(start as string),
  endsWith: (value, end) => (value as string).endsWith(end as string),
  contains: (value, part) => (value as string).includes(part as string),
  matches: (value, pattern) => new RegExp(pattern as string).test(value as string),
  replace: (value, from, to) => (value as string).replaceAll(from as string, to as string),
  upperAscii: (value) => (value as string).toUpperCase(),
  lowerAscii: (value) => (value as string).toLowerCase(),
  trim: (value) => (value as string).trim(),
  join: (list, by = '') => (list as Value[]).join(by as string),
  split: (value, by) => (value as string).split(by as string),
  substring: (value, from, to) => (value as string).slice(from as number, to as number | undefined),
};

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

export const BUILT_IN: Functions = {
  size: (value) => (value as string | Value[]).length,
  string: (value) => (value instanceof Date ? value.toISOString() : String(value)),
  int: (value) => Number(value),
  timestamp: (text) => new Date(String(text)),
  duration: (text) => ({
    ms: [...String(text).matchAll(/(\d+)([smh])/g)].reduce(
      (sum, [, n, unit]) => sum + Number(n) * (UNITS[unit ?? ''] ?? 0),
      0,
    ),
  }),
};
