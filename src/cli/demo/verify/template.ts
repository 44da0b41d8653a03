import { evaluateExpression } from './expression.js';
import type { Functions, Scope, Value } from './operators.js';

const SECRET = /^\$\{\{\s*secrets\.\w+\s*\}\}$/;
const WHOLE = /^\$\{\{((?:(?!\}\}).)*)\}\}$/s;

/** Fills `${{ }}` at any depth; alone it keeps its type. A secret stays what it is: nobody reads it back. */
export function fillTemplate(value: Value, scope: Scope, functions: Functions): Value {
  if (Array.isArray(value)) return value.map((item) => fillTemplate(item, scope, functions));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, fillTemplate(inner, scope, functions)]),
    );
  }
  if (typeof value !== 'string' || SECRET.test(value)) return value;
  const whole = WHOLE.exec(value);
  if (whole) return evaluateExpression(whole[1] ?? '', scope, functions);
  return value.replace(/\$\{\{((?:(?!\}\}).)*)\}\}/gs, (_all, inner: string) =>
    String(evaluateExpression(inner, scope, functions)),
  );
}
