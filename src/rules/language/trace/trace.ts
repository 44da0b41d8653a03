import { shorten } from '../../../core/shorten.js';
import type { Json, JsonObject } from '../../../core/json.js';
import type { ConditionProgram, Expression, StepProgram } from '../compile/program.js';
import type { Position } from '../../../core/problem.js';
import type { Bindings } from '../propose/bindings.js';
import { formatPosition } from '../propose/misfit.js';
import type { Misfit } from '../propose/misfit.js';
import { explainExpression, hasMoreToTell } from './explain-expression.js';
import type { LoopReport, PartReport } from './explain-expression.js';
import { seenValues } from './seen-values.js';

/** Characters of an expression, and of a part of one, in a trace; the file's text is kept with the revision. */
const MAX_SOURCE = 300;
const MAX_PART = 120;

export interface ConditionResult {
  readonly condition: ConditionProgram;
  /** Null = not evaluated, or an error. */
  readonly value: boolean | null;
  readonly error: { message: string; position: Position | null; unknown: readonly string[] } | null;
  /** Turns of its loop, where it is one. */
  readonly turns?: number | undefined;
}

/** One named condition: what it is, where it stands, what it gave, what it saw, which part of it decided. */
export function traceCondition({ condition, value, error, turns }: ConditionResult, bindings: Bindings): JsonObject {
  return {
    ...traceHead(condition),
    value,
    ...(value === null && !error
      ? { skipped: true }
      : traceExpression(condition.expression, value, bindings, { turns })),
    ...(error ? { error: error.message, ...(error.position ? { at: formatPosition(error.position) } : {}) } : {}),
  };
}

/** What never changes about a condition; its trace is made with every decision. */
const heads = new WeakMap<ConditionProgram, JsonObject>();

/** Its name, its text and where both stand. */
export function traceHead(condition: ConditionProgram): JsonObject {
  let head = heads.get(condition);
  if (!head) heads.set(condition, (head = makeHead(condition)));
  return head;
}

function makeHead({ name, expression, position }: ConditionProgram): JsonObject {
  const { line, col } = position;
  const { start } = expression;
  const source = shorten(expression.compiled.source.trim(), MAX_SOURCE);
  return { name, source, line, col, ...(start.line === line ? {} : { starts: { line: start.line, col: start.col } }) };
}

/** What went wrong in the steps, or in a read. */
export function traceFailure({ message, position }: Misfit): JsonObject {
  return { error: message, ...(position ? { at: formatPosition(position) } : {}) };
}

/** What an expression saw, and where it has several parts or a loop, which of them made it so. */
function traceExpression(
  expression: Expression,
  value: boolean | null,
  bindings: Bindings,
  at: { item?: ItemValues; turns?: number | undefined } = {},
): JsonObject {
  const { compiled } = expression;
  const { item, turns } = at;
  const raw = item ? { ...bindings.raw, item: item.raw } : bindings.raw;
  const seen = seenValues(compiled.paths, raw);
  if (value === null) return { seen };
  if (!hasMoreToTell(compiled, value)) return { seen };
  const { parts } = explainExpression(compiled, item?.values ?? bindings.all, bindings.engine, {
    result: value,
    raw,
    turns,
  });
  return { seen: { ...seen, ...sidesOf(parts) }, ...traceParts(parts, expression) };
}

/** Variables inside a `for_each`. */
interface ItemValues {
  readonly raw: unknown;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Why a step wants nothing, or less than it could. */
export interface StepHeld {
  readonly why: 'when' | 'unless' | 'for_each';
  readonly expression: Expression;
  readonly item?: ItemValues;
}

/** Of a step with `for_each`: how many items were wanted, and how many each of its conditions left out. */
export interface DecidedItems {
  readonly wanted: number;
  readonly when_false: number;
  readonly unless_true: number;
}

interface TracedStep {
  readonly outcome: string;
  readonly items: readonly string[];
  readonly blocker: StepHeld | null;
  readonly each?: DecidedItems | undefined;
}

export function traceStep(
  step: StepProgram,
  { outcome, items, blocker, each }: TracedStep,
  bindings: Bindings,
): JsonObject {
  const { line, col } = step.position;
  return {
    id: step.id,
    action: step.action.name,
    line,
    col,
    outcome,
    items: [...items],
    ...(each ? { each: { ...each } } : {}),
    ...(blocker ? { held: traceHeld(blocker, bindings) } : {}),
  };
}

function traceHeld({ why, expression, item }: StepHeld, bindings: Bindings): JsonObject {
  const { line, col } = expression.start;
  const value = why === 'for_each' ? null : why === 'unless';
  return {
    why,
    source: shorten(expression.compiled.source.trim(), MAX_SOURCE),
    line,
    col,
    ...traceExpression(expression, value, bindings, item ? { item } : {}),
  };
}

/** What the sides of comparisons gave in these parts. */
export function sidesOf(parts: readonly PartReport[]): JsonObject {
  return Object.assign({}, ...parts.map((part) => part.seen)) as JsonObject;
}

/** The parts that decided; nothing where that is the whole expression and no loop. */
export function traceParts(parts: readonly PartReport[], expression: Expression): JsonObject {
  const [first] = parts;
  const isWhole = parts.length === 1 && !first?.loop && first?.text === expression.compiled.source.trim();
  return parts.length === 0 || isWhole ? {} : { because: parts.map((part) => tracePart(part, expression)) };
}

function tracePart({ text, offset, value, loop }: PartReport, expression: Expression): JsonObject {
  const { line, col } = expression.positionOf(offset);
  return { source: shorten(text, MAX_PART), line, col, value, ...(loop ? { loop: traceLoop(loop, expression) } : {}) };
}

function traceLoop(
  { variable, of, index, nearest, seen, parts, others }: LoopReport,
  expression: Expression,
): JsonObject {
  return {
    variable,
    of,
    ...(index === null ? {} : { index }),
    ...(nearest === null ? {} : { nearest }),
    ...(Object.keys(seen).length > 0 ? { seen: { ...seen } } : {}),
    ...(parts.length > 0 ? { because: parts.map((part): Json => tracePart(part, expression)) } : {}),
    ...(others.length > 0 ? { others: others.map((one): Json => ({ ...one })) } : {}),
  };
}
