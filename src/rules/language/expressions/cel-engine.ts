import { celError, isCelError, plan } from '@bufbuild/cel';
import type { CelError, CelFunc, CelInput } from '@bufbuild/cel';
import { InUse } from '../../../core/in-use.js';
import { ExpressionError } from '../expression-engine.js';
import type { Budget, CompiledExpression, ExpressionEngine, ExprValue } from '../expression-engine.js';
import type { RuleFunction } from '../functions/define-function.js';
import { ruleFunctions } from '../functions/index.js';
import { analyze } from './analyze.js';
import { checkTypes } from './check-types.js';
import { convert, fromCel, timeOf } from './cel-values.js';
import { explainFailure } from './explain-failure.js';
import { ALIVE, TURN, meteredEnv } from './functions.js';
import { DEFAULT_STEPS, Meter, SPENT } from './meter.js';
import { signature, typeName } from './infer-type.js';
import { unknownPaths } from './unknown.js';
import { rendersMarkdown } from './renders-markdown.js';
import { whenNull } from './when-null.js';
import { worstCase } from './worst-case.js';
import { parseExpression } from './parse-expression.js';
import type { ParsedExpression } from './parse-expression.js';

/** Characters of an expression. */
const MAX_SOURCE = 4096;

/**
 * CEL on @bufbuild/cel. The library has no limit on cost: sizes, depths and loops are checked when an expression is compiled, and a
 * meter counts steps while it runs. Evaluating is synchronous, so one meter serves all expressions of an engine.
 */
export class CelEngine implements ExpressionEngine {
  readonly #meter = new Meter();
  readonly #counters = countersOf(this.#meter);
  readonly #conversions = new WeakMap<object, Record<string, CelInput>>();
  readonly #functions: ReadonlyMap<string, RuleFunction>;
  readonly #env;
  /** Compiled expressions in use, by what they were made of. Organizations share rules, and each of their expressions takes a millisecond to compile. */
  readonly #inUse = new InUse<CompiledExpression>();

  constructor(functions: readonly RuleFunction[] = ruleFunctions) {
    this.#functions = new Map(functions.map((definition) => [definition.name, definition]));
    this.#env = meteredEnv(functions, this.#meter);
  }

  /** Names of all functions and operators. */
  functionNames(): string[] {
    return [...new Set([...this.#env.funcs].map(({ name }) => name))].sort();
  }

  /** How each function is called, sorted; operators left out. */
  signatures(): string[] {
    const all = [...this.#env.funcs] as unknown as CelFunc[];
    return [
      ...new Set(
        all
          .filter(({ name }) => /^[a-zA-Z]/.test(name))
          .map((overload) => `${signature(overload)} -> ${typeName(overload.result.name)}`),
      ),
    ].sort();
  }

  bind(value: unknown): unknown {
    return convert(value);
  }

  compile(source: string, variables: readonly string[]): CompiledExpression {
    const key = [...variables, source].join('\n');
    return this.#inUse.get(key) ?? this.#inUse.add(key, this.#compileAnew(source, variables));
  }

  #compileAnew(source: string, variables: readonly string[]): CompiledExpression {
    if (source.length > MAX_SOURCE)
      throw new ExpressionError(`an expression may have ${MAX_SOURCE} characters, this has ${source.length}`, 0);
    if (source.trim() === '') throw new ExpressionError('the expression is empty', 0);
    const parsed = parseExpression(source);
    const { type, paths } = analyze(parsed, {
      env: this.#env,
      variables,
      ownFunctions: this.#functions,
      source,
    });
    const run = plan(this.#env, parsed) as (bindings: Record<string, CelInput>) => unknown;
    return {
      source,
      type,
      paths,
      isMarkdown: rendersMarkdown(parsed.expr, this.#functions),
      worstCase: worstCase(parsed.expr, this.#functions),
      evaluate: (bindings, budget) => this.#evaluate(run, parsed, source, bindings, budget),
      check: (variableTypes, guards) => checkTypes(parsed, source, this.#env, variableTypes, guards),
      whenNull: (variable) => whenNull(parsed, variable),
    };
  }

  #evaluate(
    run: (bindings: Record<string, CelInput>) => unknown,
    parsed: ParsedExpression,
    source: string,
    bindings: Readonly<Record<string, unknown>>,
    budget: Budget = { remaining: DEFAULT_STEPS },
  ): ExprValue {
    const bound = this.#bound(bindings);
    const meter = this.#meter;
    meter.start(budget, timeOf(bound.now));
    const result = runOn(run, bound);
    budget.turns = meter.turns;
    if (meter.isSpent) throw new ExpressionError(SPENT, 0);
    if (isCelError(result)) throw explainFailure(result as CelError, parsed, source, bound);
    return fromCel(result as never);
  }

  /** The variables as the library takes them: made once for what cannot change any more. */
  #bound(bindings: Readonly<Record<string, unknown>>): Record<string, CelInput> {
    const isKept = Object.isFrozen(bindings);
    const existing = isKept ? this.#conversions.get(bindings) : undefined;
    if (existing) return existing;
    const bound = Object.create(this.#counters) as Record<string, CelInput>;
    for (const [name, value] of Object.entries(bindings)) if (value !== undefined) bound[name] = convert(value);
    if (isKept) this.#conversions.set(bindings, bound);
    return bound;
  }
}

/** An object with unknown fields that is walked throws: the library asks for the keys of a map outside of any function. */
function runOn(run: (bindings: Record<string, CelInput>) => unknown, bound: Record<string, CelInput>): unknown {
  try {
    return run(bound);
  } catch (error) {
    if (unknownPaths(error).length > 0) return celError(error);
    throw error;
  }
}

/**
 * What every set of variables has. An error inside a loop would be absorbed turn by turn; what reading a variable throws ends the whole
 * evaluation. No prototype: a name like `constructor` must not find anything.
 */
function countersOf(meter: Meter): object {
  const counters = Object.create(null) as object;
  Object.defineProperty(counters, ALIVE, { get: () => meter.step() });
  Object.defineProperty(counters, TURN, { get: () => meter.countedStep() });
  return counters;
}
