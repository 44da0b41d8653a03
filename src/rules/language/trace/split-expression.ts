import { endOfText } from '../expressions/parse-expression.js';

/** An expression taken apart at `&&`, `||` and `!`; a part is what stands between them. Offsets count in the whole expression. */
export type Logic =
  | Part
  | { readonly kind: 'not'; readonly of: Logic }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Logic[] };

export interface Part {
  readonly kind: 'part';
  readonly text: string;
  readonly offset: number;
  /** The two sides, where the part compares them. */
  readonly sides: readonly Piece[];
  /** The loop, where the part is one whole loop. */
  readonly loop: Loop | null;
}

export interface Piece {
  readonly text: string;
  readonly offset: number;
}

/** `range.all(variable, predicate)` and the like. */
export interface Loop {
  readonly macro: 'all' | 'exists' | 'exists_one';
  readonly variable: string;
  readonly range: Piece;
  readonly predicate: Piece;
}

const RELATIONS: ReadonlySet<string> = new Set(['==', '!=', '<=', '>=', '<', '>', 'in']);
/** A `!` before one of these binds to its left side alone. */
const BINARY: ReadonlySet<string> = new Set([...RELATIONS, '+', '-', '*', '/', '%']);

/** @param source an expression that compiles */
export function splitExpression(source: string): Logic {
  return split(source, 0, source.length);
}

function split(source: string, from: number, to: number): Logic {
  const { text, offset } = trimmed(source, from, to);
  const end = offset + text.length;
  const { operators, pairs } = scan(source, offset, end);
  const has = (operator: string): boolean => operators.some((one) => one.operator === operator);
  if (has('?')) return part(source, offset, end);
  for (const [operator, kind] of [
    ['||', 'or'],
    ['&&', 'and'],
  ] as const) {
    if (has(operator))
      return { kind, of: cut(operators, operator, offset, end).map((piece) => split(source, piece.from, piece.to)) };
  }
  if (text.startsWith('!') && !operators.some(({ operator }) => BINARY.has(operator)))
    return { kind: 'not', of: split(source, offset + 1, end) };
  if (pairs.get(end - 1) === offset && text.startsWith('(')) return split(source, offset + 1, end - 1);
  return part(source, offset, end);
}

function part(source: string, from: number, to: number): Part {
  const { operators } = scan(source, from, to);
  const relations = operators.filter(({ operator }) => RELATIONS.has(operator));
  const [relation] = relations;
  const isComparison =
    relation !== undefined && relations.length === 1 && !operators.some(({ operator }) => operator === '?');
  return {
    kind: 'part',
    text: source.slice(from, to),
    offset: from,
    sides: isComparison
      ? [trimmed(source, from, relation.at), trimmed(source, relation.at + relation.operator.length, to)]
      : [],
    loop: isComparison ? null : readLoop(source, from, to),
  };
}

function readLoop(source: string, from: number, to: number): Loop | null {
  const open = scan(source, from, to).pairs.get(to - 1);
  if (open === undefined) return null;
  const head = /^([^]*)\.\s*(all|exists|exists_one)\s*$/.exec(source.slice(from, open));
  const inside = scan(source, open + 1, to - 1);
  const commas = inside.operators.filter(({ operator }) => operator === ',');
  const [comma] = commas;
  if (!head || !comma || commas.length > 1) return null;
  const [, range = '', macro] = head;
  const variable = trimmed(source, open + 1, comma.at).text;
  if (!/^[A-Za-z_]\w*$/.test(variable)) return null;
  return {
    macro: macro as Loop['macro'],
    variable,
    range: trimmed(source, from, from + range.length),
    predicate: trimmed(source, comma.at + 1, to - 1),
  };
}

function cut(
  operators: readonly Operator[],
  operator: string,
  from: number,
  to: number,
): Array<{ from: number; to: number }> {
  const cuts = operators.filter((one) => one.operator === operator).map(({ at }) => at);
  const starts = [from, ...cuts.map((at) => at + operator.length)];
  return starts.map((start, index) => ({ from: start, to: cuts[index] ?? to }));
}

function trimmed(source: string, from: number, to: number): Piece {
  const raw = source.slice(from, to);
  const text = raw.trim();
  return { text, offset: from + raw.length - raw.trimStart().length };
}

interface Operator {
  readonly operator: string;
  readonly at: number;
}

const TOKEN =
  /\/\/[^\n]*|\d[\w.]*(?:(?<=[eE])[+-]\d+)?|([A-Za-z_]\w*)|(&&|\|\||[=!<>]=|[<>?!+\-*/%,])|([([{])|([)\]}])|(["'])|[^]/y;

/** Operators that stand in no bracket, and for each closing bracket of the outermost level the place of its opening one. */
function scan(source: string, from: number, to: number): { operators: Operator[]; pairs: ReadonlyMap<number, number> } {
  const operators: Operator[] = [];
  const pairs = new Map<number, number>();
  const open: number[] = [];
  let at = from;
  while (at < to) {
    TOKEN.lastIndex = at;
    const [token = '', word, operator, opening, closing, quote] = TOKEN.exec(source) ?? [];
    if (token === '') break;
    if (quote !== undefined) {
      at = endOfText(source, at);
      continue;
    }
    if (opening !== undefined) open.push(at);
    if (closing !== undefined) {
      const start = open.pop();
      if (open.length === 0 && start !== undefined) pairs.set(at, start);
    }
    if (open.length === 0 && operator !== undefined) operators.push({ operator, at });
    if (open.length === 0 && word === 'in') operators.push({ operator: word, at });
    at += token.length;
  }
  return { operators, pairs };
}
