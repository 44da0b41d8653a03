import { celError, isCelError, plan } from '@bufbuild/cel';
import type { CelError, CelFunc, CelInput } from '@bufbuild/cel';
import { LRUCache } from 'lru-cache';
import { InUse } from '../../../core/in-use.js';
import { ExpressionError } from '../expression-engine.js';
import type { Budget, CompiledExpression, ExpressionEngine, ExprValue } from '../expression-engine.js';
import type { RuleFunction } from '../functions/define-function.js';
import { ruleFunctions } from '../functions/index.js';
import { analyze, type Analysis } from './analyze.js';
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
 * Characters of the expressions whose programs are kept. A program takes about 90 bytes a character (6 MB together), and is made again in a fraction of a millisecond:
 * so a thousand organizations with rules of their own take no more than this, and one organization has all of its programs at hand.
 */
const MAX_KEPT = 64 * 1024;

/** What an expression is evaluated and checked with. */
interface Program extends Analysis {
  readonly source: string;
  readonly parsed: ParsedExpression;
  readonly run: (bindings: Record<string, CelInput>) => unknown;
}

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
  /** Of the expressions used last, by what they were made of. */
  readonly #programs = new LRUCache<string, Program>({
    maxSize: MAX_KEPT,
    sizeCalculation: ({ source }) => source.length,
  });

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
    return this.#inUse.get(key) ?? this.#inUse.add(key, this.#compileAnew(key, source, variables));
  }

  #compileAnew(key: string, source: string, variables: readonly string[]): CompiledExpression {
    if (source.length > MAX_SOURCE)
      throw new ExpressionError(`an expression may have ${MAX_SOURCE} characters, this has ${source.length}`, 0);
    if (source.trim() === '') throw new ExpressionError('the expression is empty', 0);
    const program = (): Program => this.#programs.get(key) ?? this.#keepProgram(key, source, variables);
    const { parsed, type, paths } = program();
    return {
      source,
      type,
      paths,
      isMarkdown: rendersMarkdown(parsed.expr, this.#functions),
      worstCase: worstCase(parsed.expr, this.#functions),
      evaluate: (bindings, budget) => this.#evaluate(program(), bindings, budget),
      check: (variableTypes, guards) => checkTypes(program().parsed, source, this.#env, variableTypes, guards),
      whenNull: (variable) => whenNull(program().parsed, variable),
    };
  }

  #keepProgram(key: string, source: string, variables: readonly string[]): Program {
    const parsed = parseExpression(source);
    // Puts the meter into the tree, which is planned with it.
    const analyzed = analyze(parsed, { env: this.#env, variables, ownFunctions: this.#functions, source });
    const program = { source, parsed, ...analyzed, run: plan(this.#env, parsed) as Program['run'] };
    this.#programs.set(key, program);
    return program;
  }

  #evaluate(
    { parsed, run, source }: Program,
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
