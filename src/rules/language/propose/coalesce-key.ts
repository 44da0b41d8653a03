import { stringifyJson } from '../../../core/json.js';
import type { ExpressionEngine } from '../expression-engine.js';
import type { CompiledRule } from '../revision.js';
import { Bindings } from './bindings.js';
import { evaluateTemplate } from './evaluate-template.js';
import type { EvaluationInput } from './input.js';
import { Misfit, formatPosition } from './misfit.js';

/** Characters of a key; it stands in reasons. */
const MAX_KEY = 512;

/** The window that a run of this rule belongs to; null where the rule gathers nothing. `problem`: the key cannot be told, and why. */
export type Window =
  | { readonly key: string; readonly windowMs: number }
  /** `unknown`: fields of the event that the key needs and that are not known. */
  | { readonly problem: string; readonly unknown?: readonly string[] };

/** The value of `coalesce.key` for one cause. Pure. */
export function windowOf(rule: CompiledRule, input: EvaluationInput, engine: ExpressionEngine): Window | null {
  const { coalesce } = rule.program;
  if (!coalesce) return null;
  const bindings = new Bindings({ ...input, untraced: true }, rule.program, engine);
  try {
    const value = evaluateTemplate(coalesce.key, bindings, bindings.all, {
      name: 'coalesce.key',
      position: coalesce.position,
    });
    const key = typeof value === 'string' ? value : stringifyJson(value);
    if (key.length > MAX_KEY)
      throw new Misfit(`its value has ${key.length} characters; ${MAX_KEY} are allowed`, coalesce.position);
    return { key, windowMs: coalesce.windowMs };
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    return {
      problem: `coalesce.key: ${error.message}${error.position ? ` (${formatPosition(error.position)})` : ''}`,
      ...(error.unknown.length > 0 ? { unknown: error.unknown } : {}),
    };
  }
}
