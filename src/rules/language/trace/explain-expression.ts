import { shorten } from '../../../core/shorten.js';
import type { Json } from '../../../core/json.js';
import { ExpressionError } from '../expression-engine.js';
import type { Budget, CompiledExpression, ExpressionEngine, ExprPath, ExprValue } from '../expression-engine.js';
import { follow, hideWhere, seenValues, shownSide } from './seen-values.js';
import { splitExpression } from './split-expression.js';
import type { Logic, Loop, Part, Piece } from './split-expression.js';
import { emptyTable } from '../../../core/table.js';

/** Characters of one side of a comparison. */
const MAX_SIDE = 80;

/** What a part of an expression gave, and what it saw that its paths do not show. */
export interface PartReport {
  readonly text: string;
  /** Of its first character, in the whole expression. */
  readonly offset: number;
  /** Null = it could not be evaluated. */
  readonly value: boolean | null;
  /** Sides of a comparison that are no plain path: `minor(event.tag)` and what it gave. */
  readonly seen: Readonly<Record<string, Json>>;
  readonly loop: LoopReport | null;
}

export interface LoopReport {
  readonly variable: string;
  /** Elements of the list. */
  readonly of: number;
  /** 0-based index of the element that decided; null when no single one did. */
  readonly index: number | null;
  /** 0-based index of the element that came nearest, where none was as it should be and the predicate has several parts. */
  readonly nearest: number | null;
  /** What the predicate saw of that element. */
  readonly seen: Readonly<Record<string, Json>>;
  /** What decided in the predicate, for that element. */
  readonly parts: readonly PartReport[];
  /** What the predicate saw of the first elements, where no single one decided. */
  readonly others: ReadonlyArray<Readonly<Record<string, Json>>>;
}

export interface ExpressionReport {
  readonly value: boolean | null;
  /** The parts that made it so, in the order in which they are written. */
  readonly parts: readonly PartReport[];
  /** Parts that would have to be otherwise for the whole to be otherwise. */
  readonly away: number;
}

export interface ExplainOptions {
  /** What the whole gave, where that is known: parts whose value follows from it are not evaluated again. */
  readonly result?: boolean;
  /** Look at every part, not only as far as the value is clear, and for the nearest element where none is as wanted. */
  readonly thorough?: boolean;
  /** The variables as plain data: what a loop walks is then read there, where a plain path names it. */
  readonly raw?: Values;
  /** Paths of which nothing is known: parts that read one are not evaluated. */
  readonly isUnknown?: ((path: ExprPath) => boolean) | undefined;
  /** Turns that the loop took which is the whole expression, when it was evaluated: it is then not run again. */
  readonly turns?: number | undefined;
}

type Values = Readonly<Record<string, unknown>>;

/** The variables at one place: as the engine holds them, and as plain data where that is known. */
interface Context {
  readonly values: Values;
  readonly raw: Values;
  readonly turns?: number | undefined;
}

/** Steps that explaining one expression may take, beside what deciding took. */
const STEPS = 20_000;
const MAX_PARTS = 5;
const MAX_OTHERS = 3;
/** Elements among which the nearest is looked for. */
const MAX_NEAR = 20;

/** Whether an expression with this value has more to tell than its paths: a choice between parts, an element that decided, a side. */
export function hasMoreToTell(compiled: CompiledExpression, value: boolean): boolean {
  return isWorthAsking(logicOf(compiled), value);
}

/** Why an expression gave true or false. Pure, and never fails: what cannot be told is left out. */
export function explainExpression(
  compiled: CompiledExpression,
  values: Values,
  engine: ExpressionEngine,
  options: ExplainOptions = {},
): ExpressionReport {
  const logic = logicOf(compiled);
  const context = { values, raw: options.raw ?? {}, turns: logic.kind === 'part' ? options.turns : undefined };
  return new Explainer(engine, { remaining: STEPS }, options.thorough ?? false, options.isUnknown).explain(
    logic,
    context,
    options.result,
  );
}

function isWorthAsking(logic: Logic, value: boolean): boolean {
  switch (logic.kind) {
    case 'not':
      return isWorthAsking(logic.of, !value);
    case 'and':
      return !value || logic.of.some((child) => isWorthAsking(child, true));
    case 'or':
      return true;
    case 'part':
      return logic.loop ? logic.loop.macro !== 'all' || !value : !value && logic.sides.length > 0;
  }
}

const logics = new WeakMap<CompiledExpression, Logic>();

function logicOf(compiled: CompiledExpression): Logic {
  let logic = logics.get(compiled);
  if (!logic) logics.set(compiled, (logic = splitExpression(compiled.source)));
  return logic;
}

/** A part with the values it was evaluated with; told in words only when it turns out to matter. */
interface Found {
  readonly part: Part;
  readonly value: boolean | null;
}

interface Truth {
  readonly value: boolean | null;
  readonly parts: readonly Found[];
  readonly away: number;
}

/** Pieces are compiled when they are first asked about, and kept with the expression they were cut from. */
const pieces = new WeakMap<Piece | Part, CompiledExpression | null>();

class Explainer {
  constructor(
    private readonly engine: ExpressionEngine,
    private readonly budget: Budget,
    private readonly isThorough: boolean,
    private readonly isUnknown: ExplainOptions['isUnknown'],
  ) {}

  explain(logic: Logic, context: Context, result?: boolean): ExpressionReport {
    const { value, parts, away } = this.truthOf(logic, context.values, result);
    return { value, away, parts: parts.slice(0, MAX_PARTS).map((one) => this.tell(one, context)) };
  }

  private truthOf(logic: Logic, values: Values, result: boolean | undefined): Truth {
    switch (logic.kind) {
      case 'part': {
        const value = result ?? asTruth(this.run(logic, values));
        return { value, parts: [{ part: logic, value }], away: 1 };
      }
      case 'not': {
        const { value, parts, away } = this.truthOf(logic.of, values, result === undefined ? undefined : !result);
        return { value: value === null ? null : !value, parts, away };
      }
      default:
        return this.truthOfMany(logic, values, result);
    }
  }

  /** In CEL one false part makes `&&` false, and one true part `||` true, whatever the others are, errors included. */
  private truthOfMany(
    { kind, of }: Extract<Logic, { of: readonly Logic[] }>,
    values: Values,
    result: boolean | undefined,
  ): Truth {
    const decisive = kind === 'or';
    const truths: Truth[] = [];
    for (const [index, child] of of.entries()) {
      const isLastHope =
        index === of.length - 1 && result === decisive && truths.every(({ value }) => value !== decisive);
      const truth = this.truthOf(child, values, result === !decisive || isLastHope ? result : undefined);
      truths.push(truth);
      if (truth.value === decisive && !this.isThorough) break;
    }
    const deciding = truths.filter(({ value }) => value === decisive);
    if (deciding.length > 0)
      return {
        value: decisive,
        parts: deciding.flatMap(({ parts }) => parts),
        away: sum(deciding.map(({ away }) => away)),
      };
    const failed = truths.filter(({ value }) => value === null);
    if (failed.length > 0) return { value: null, parts: failed.flatMap(({ parts }) => parts), away: 1 };
    return {
      value: !decisive,
      parts: truths.flatMap(({ parts }) => parts),
      away: Math.min(...truths.map(({ away }) => away)),
    };
  }

  private tell({ part, value }: Found, context: Context): PartReport {
    const { text, offset, loop } = part;
    return {
      text,
      offset,
      value,
      seen: this.sidesOf(part, context.values),
      loop: loop && this.loopOf(part, loop, value, context),
    };
  }

  private sidesOf({ sides }: Part, values: Values): Record<string, Json> {
    const seen: Record<string, Json> = emptyTable();
    for (const side of sides) {
      const compiled = this.compile(side, values);
      // Constants are written there, and plain paths are told with the whole expression.
      if (!compiled || compiled.paths.length === 0 || pathOf(side, compiled)) continue;
      const result = this.run(side, values);
      if (result !== undefined) seen[shorten(side.text, MAX_SIDE)] = shownSide(side.text, result);
    }
    return seen;
  }

  private loopOf(part: Part, loop: Loop, value: boolean | null, context: Context): LoopReport | null {
    if (loop.macro === 'all' && value === true) return null;
    const predicate = this.compile(loop.predicate, { ...context.values, [loop.variable]: null });
    const elements = this.elementsOf(loop, context);
    if (!elements || !predicate) return null;
    const logic = logicOf(predicate);
    const inside = (index: number): Context => ({
      values: { ...context.values, [loop.variable]: this.engine.bind(elements[index]) },
      raw: { ...context.raw, [loop.variable]: elements[index] },
    });
    const see = (index: number): Record<string, Json> => this.seenOf(loop, predicate, elements[index]);
    const reportOf = (index: number, result: boolean | null): Pick<LoopReport, 'seen' | 'parts'> => ({
      seen: see(index),
      parts:
        logic.kind === 'part'
          ? []
          : this.explain(logic, inside(index), result ?? undefined).parts.map((inner) =>
              moved(inner, loop.predicate.offset),
            ),
    });
    const base: LoopReport = {
      variable: loop.variable,
      of: elements.length,
      index: null,
      nearest: null,
      seen: {},
      parts: [],
      others: [],
    };
    if (value === false && loop.macro !== 'all') {
      const nearest =
        this.isThorough && logic.kind !== 'part'
          ? this.nearestOf(logic, elements.length, (index) => inside(index).values)
          : null;
      if (nearest !== null) return { ...base, nearest, ...reportOf(nearest, false) };
      return { ...base, others: elements.slice(0, MAX_OTHERS).map((_, index) => see(index)) };
    }
    const wanted = value === null ? null : loop.macro !== 'all';
    const index =
      this.lastTurn(part, loop, value, context) ??
      elements.findIndex((_, at) => asTruth(this.run(loop.predicate, inside(at).values)) === wanted);
    return index < 0 || index >= elements.length ? base : { ...base, index, ...reportOf(index, wanted) };
  }

  /** A loop that ends early ends with the element that decided. */
  private lastTurn(part: Part, { macro }: Loop, value: boolean | null, context: Context): number | null {
    if (value !== (macro === 'exists') || macro === 'exists_one') return null;
    delete this.budget.turns;
    const turns = context.turns ?? (this.run(part, context.values) === value ? this.budget.turns : undefined);
    return turns === undefined ? null : turns - 1;
  }

  private elementsOf({ range }: Loop, { values, raw }: Context): readonly unknown[] | null {
    const compiled = this.compile(range, values);
    const path = compiled && pathOf(range, compiled);
    const value = path && Object.hasOwn(raw, path[0]) ? follow(path, raw) : this.run(range, values);
    if (Array.isArray(value)) return value;
    return typeof value === 'object' && value !== null ? Object.keys(value) : null;
  }

  /** The element for which the fewest parts would have to be otherwise; null when one is as it should be, or none can be looked at. */
  private nearestOf(logic: Logic, count: number, inside: (index: number) => Values): number | null {
    let best: { index: number; away: number } | null = null;
    for (let index = 0; index < Math.min(count, MAX_NEAR); index += 1) {
      const { value, away } = new Explainer(this.engine, this.budget, true, this.isUnknown).truthOf(
        logic,
        inside(index),
        undefined,
      );
      if (value === true) return null;
      if (value === false && away < (best?.away ?? Infinity)) best = { index, away };
    }
    return best?.index ?? null;
  }

  private seenOf({ variable, range }: Loop, predicate: CompiledExpression, element: unknown): Record<string, Json> {
    const paths = predicate.paths.filter(({ segments }) => segments[0] === variable);
    const seen = seenValues(paths, { [variable]: element });
    // A list of secrets may hold plain texts, which no field name gives away.
    return Object.fromEntries(Object.entries(seen).map(([path, value]) => [path, hideWhere(range.text, value)]));
  }

  /** @returns undefined when it cannot be evaluated */
  private run(piece: Piece | Part, values: Values): ExprValue | undefined {
    const compiled = this.compile(piece, values);
    if (!compiled || (this.isUnknown && compiled.paths.some(this.isUnknown))) return undefined;
    try {
      return compiled.evaluate(values, this.budget);
    } catch (error) {
      if (error instanceof ExpressionError) return undefined;
      throw error;
    }
  }

  private compile(piece: Piece | Part, values: Values): CompiledExpression | null {
    let compiled = pieces.get(piece);
    if (compiled === undefined) pieces.set(piece, (compiled = this.tryCompile(piece.text, Object.keys(values))));
    return compiled;
  }

  private tryCompile(text: string, variables: readonly string[]): CompiledExpression | null {
    try {
      return this.engine.compile(text, variables);
    } catch (error) {
      if (error instanceof ExpressionError) return null;
      throw error;
    }
  }
}

function asTruth(value: ExprValue | undefined): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** Its segments, where an expression is a plain path and nothing else. */
function pathOf({ text }: Piece, { paths }: CompiledExpression): [string, ...string[]] | null {
  const [path, ...others] = paths;
  const isPlain = path !== undefined && others.length === 0 && path.complete && path.segments.join('.') === text;
  return isPlain ? (path.segments as [string, ...string[]]) : null;
}

function moved(part: PartReport, by: number): PartReport {
  const { loop } = part;
  return {
    ...part,
    offset: part.offset + by,
    loop: loop && { ...loop, parts: loop.parts.map((inner) => moved(inner, by)) },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
