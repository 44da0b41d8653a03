import { endOfText } from '../expressions/parse-expression.js';
import { ExpressionError } from '../expression-engine.js';
import { nodeToJson } from '../load/node.js';
import type { YamlNode } from '../load/node.js';
import type { Text } from '../load/read-shape.js';
import { compileExpression } from './compile-expression.js';
import type { FileContext, Scope } from './file-context.js';
import type { Expression, Template } from './program.js';

/** In one text. */
const MAX_EXPRESSIONS = 50;
const SECRET = /^\s*secrets\.([A-Za-z_]\w*)\s*$/;

/**
 * A value with `${{ }}` in it, at any depth. `${{ expr }}` alone keeps the type of its expression; inside text it becomes text.
 * What an expression gives is never looked at again.
 */
export function compileTemplate(context: FileContext, node: YamlNode, scope: Scope): Template | null {
  switch (node.kind) {
    case 'scalar':
      return typeof node.value === 'string'
        ? compileText(context, node as Text, scope)
        : { kind: 'constant', value: node.value };
    case 'list': {
      const items = node.items.map((item) => compileTemplate(context, item, scope));
      if (!items.every((item) => item !== null)) return null;
      return items.every(({ kind }) => kind === 'constant')
        ? { kind: 'constant', value: nodeToJson(node) }
        : { kind: 'list', items };
    }
    case 'map': {
      const entries = node.entries.map(({ key, value }) => [key, compileTemplate(context, value, scope)] as const);
      if (!entries.every((entry): entry is readonly [string, Template] => entry[1] !== null)) return null;
      return entries.every(([, { kind }]) => kind === 'constant')
        ? { kind: 'constant', value: nodeToJson(node) }
        : { kind: 'map', entries };
    }
  }
}

function compileText(context: FileContext, scalar: Text, scope: Scope): Template | null {
  const pieces = split(context, scalar);
  if (!pieces) return null;
  const [only] = pieces;
  if (only?.isExpression && pieces.length === 1) {
    const secret = SECRET.exec(only.text)?.[1];
    if (secret !== undefined) return { kind: 'secret', name: secret };
    const expression = compileExpression(context, { text: only.text, scalar, offset: only.offset }, scope);
    return expression && { kind: 'expression', expression };
  }
  if (pieces.every(({ isExpression }) => !isExpression)) return { kind: 'constant', value: scalar.value };
  const parts: Array<string | Expression | null> = pieces.map(({ text, offset, isExpression }) =>
    isExpression ? compileExpression(context, { text, scalar, offset }, scope) : text,
  );
  return parts.every((part) => part !== null) ? { kind: 'text', parts } : null;
}

interface Piece {
  text: string;
  /** In the scalar's value. */
  offset: number;
  isExpression: boolean;
}

/** @returns null when a `${{` has no end */
function split(context: FileContext, scalar: Text): Piece[] | null {
  const { value } = scalar;
  const pieces: Piece[] = [];
  let at = 0;
  while (at < value.length) {
    const open = value.indexOf('${{', at);
    if (open !== at)
      pieces.push({ text: value.slice(at, open === -1 ? value.length : open), offset: at, isExpression: false });
    if (open === -1) break;
    const close = endOfExpression(value, open + 3);
    if (close === -1) {
      context.file.problemAt(context.file.positionsIn(scalar)(open), 'this ${{ has no }}');
      return null;
    }
    pieces.push({ text: value.slice(open + 3, close), offset: open + 3, isExpression: true });
    if (pieces.length > 2 * MAX_EXPRESSIONS) {
      context.file.problemAt(context.file.positionsIn(scalar)(open), `a text may hold ${MAX_EXPRESSIONS} expressions`);
      return null;
    }
    at = close + 2;
  }
  return pieces;
}

/** The `}}` that ends the expression: not one inside a text literal, nor the end of a map inside a map. */
function endOfExpression(value: string, from: number): number {
  let at = from;
  let braces = 0;
  while (at < value.length) {
    const char = value.charAt(at);
    if (char === '"' || char === "'") {
      const end = tryEndOfText(value, at);
      if (end === null) return value.indexOf('}}', at);
      at = end;
      continue;
    }
    if (char === '{') braces += 1;
    if (char === '}') {
      if (braces === 0) return value[at + 1] === '}' ? at : -1;
      braces -= 1;
    }
    at += 1;
  }
  return -1;
}

function tryEndOfText(value: string, at: number): number | null {
  try {
    return endOfText(value, at);
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}
