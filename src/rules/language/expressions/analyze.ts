import type { CelEnv } from '@bufbuild/cel';
import { didYouMean } from '../../../core/did-you-mean.js';
import { habitOf } from '../habits/habits.js';
import { textHabitAt } from '../habits/text-habits.js';
import { ExpressionError } from '../expression-engine.js';
import type { ExprPath, ExprType } from '../expression-engine.js';
import type { Constant, RuleFunction } from '../functions/define-function.js';
import { Types, signature } from './infer-type.js';
import { meterLoop } from './meter-loop.js';
import type { Expr, ParsedExpression } from './parse-expression.js';
import { compileRegex } from './regex.js';
import { childrenOf, constantOf, constantText, elementsOf, isTest } from './tree.js';

/** Nodes one inside the other. The library's planning takes quadratic time in the length of a chain. */
const MAX_DEPTH = 100;
/** Loops one inside the other. */
const MAX_LOOPS = 2;
/** Names of CEL's types, usable as values (`type(x) == int`). */
const TYPES = new Set(['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint']);
/** Operators that the planner handles itself. */
const BUILT_IN = new Set(['_[_]', '_?_:_', '_&&_', '_||_', '@not_strictly_false', '__not_strictly_false__']);

export interface Analysis {
  type: ExprType;
  paths: ExprPath[];
}

export interface AnalysisContext {
  env: CelEnv;
  variables: readonly string[];
  ownFunctions: ReadonlyMap<string, RuleFunction>;
  source: string;
}

/**
 * One walk over the tree: limits, unknown names with what was meant, constants that can never work, the paths it reads and its type.
 * Also wraps what each loop walks and asks before each turn, so that the meter sees them.
 * @throws ExpressionError at the first fault
 */
export function analyze(parsed: ParsedExpression, context: AnalysisContext): Analysis {
  const walker = new Walker(parsed, context);
  walker.visit(parsed.expr, [], 0, 0);
  return { type: walker.typeOf(parsed.expr), paths: walker.paths };
}

class Walker {
  readonly paths: ExprPath[] = [];
  readonly #types: Types;
  /** Operands of which only the presence is asked. */
  readonly #tested = new Set<Expr>();

  constructor(
    readonly parsed: ParsedExpression,
    readonly context: AnalysisContext,
  ) {
    this.#types = new Types(context.env);
  }

  typeOf(expr: Expr): ExprType {
    return this.#types.of(expr);
  }

  visit(expr: Expr, loopVariables: readonly string[], depth: number, loops: number): void {
    if (depth > MAX_DEPTH) throw this.#error(expr, 'the expression is nested too deeply');
    if (this.#readPath(expr, loopVariables, depth, loops)) return;
    const down = (child: Expr | undefined): void => {
      if (child) this.visit(child, loopVariables, depth + 1, loops);
    };
    const { exprKind } = expr;
    switch (exprKind.case) {
      case 'structExpr':
        if (exprKind.value.messageName !== '')
          throw this.#error(expr, `there is no type "${exprKind.value.messageName}" to build`);
        return childrenOf(expr).forEach(down);
      case 'callExpr':
        this.#checkCall(expr);
        this.#noteTests(exprKind.value);
        if (!this.#types.isQualified(expr)) down(exprKind.value.target);
        return exprKind.value.args.forEach(down);
      case 'comprehensionExpr': {
        const loop = exprKind.value;
        if (loops >= MAX_LOOPS)
          throw this.#error(expr, `loops (all, exists, map, filter) may stand ${MAX_LOOPS} deep, this is one deeper`);
        down(loop.iterRange);
        down(loop.accuInit);
        const inside = [...loopVariables, loop.iterVar, loop.accuVar];
        for (const child of [loop.loopCondition, loop.loopStep, loop.result])
          if (child) this.visit(child, inside, depth + 1, loops + 1);
        meterLoop(loop, expr === this.parsed.expr);
        return;
      }
      default:
        return childrenOf(expr).forEach(down);
    }
  }

  /** @returns true when the node is a chain of fields from a variable (or a loop variable, which is no path of its own) */
  #readPath(expr: Expr, loopVariables: readonly string[], depth: number, loops: number): boolean {
    const segments: string[] = [];
    let node = expr;
    let isComplete = true;
    for (let length = 0; ; length += 1) {
      if (length > MAX_DEPTH) throw this.#error(expr, 'the expression is nested too deeply');
      const { exprKind } = node;
      if (exprKind.case === 'identExpr') {
        const { name } = exprKind.value;
        if (loopVariables.includes(name)) return true;
        this.#checkVariable(node, name);
        if (this.context.variables.includes(name))
          this.paths.push({
            segments: [name, ...segments.reverse()],
            offset: this.#offset(node),
            complete: isComplete,
            ...(isTest(expr) || this.#tested.has(expr) ? { tested: true as const } : {}),
          });
        return true;
      }
      if (exprKind.case === 'selectExpr' && exprKind.value.operand) {
        segments.push(exprKind.value.field);
        node = exprKind.value.operand;
      } else if (exprKind.case === 'callExpr' && exprKind.value.function === '_[_]') {
        const [operand, index] = exprKind.value.args as [Expr, Expr];
        const key = constantKey(index);
        if (key !== null) segments.push(key);
        else {
          // What follows a key that only the run tells cannot be named; the key itself is looked at on its own.
          segments.length = 0;
          isComplete = false;
          this.visit(index, loopVariables, depth + 1, loops);
        }
        node = operand;
      } else {
        if (node !== expr) this.visit(node, loopVariables, depth + 1, loops);
        return node !== expr;
      }
    }
  }

  /** `"name" in map` and comparisons with null say whether something is there, and nothing about what it is. */
  #noteTests({ function: name, args }: { readonly function: string; readonly args: readonly Expr[] }): void {
    const [left, right] = args;
    if (!left || !right) return;
    if (name === '@in' && constantKey(left) !== null) this.#tested.add(right);
    if (name !== '_==_' && name !== '_!=_') return;
    if (constantOf(right) === null) this.#tested.add(left);
    if (constantOf(left) === null) this.#tested.add(right);
  }

  #checkVariable(node: Expr, name: string): void {
    const { variables } = this.context;
    if (variables.includes(name) || TYPES.has(name)) return;
    const habit = this.#habitAt(node) ?? habitOf('variable', name);
    const near = didYouMean(name, variables);
    throw this.#error(
      node,
      `there is no variable "${name}" here`,
      habit ? `write ${habit}` : near ? `did you mean "${near}"?` : `there are: ${variables.join(', ')}`,
    );
  }

  #checkCall(expr: Expr): void {
    if (expr.exprKind.case !== 'callExpr') return;
    const { function: name, args, target } = expr.exprKind.value;
    if (BUILT_IN.has(name)) return;
    const overloads = this.#types.overloads(expr);
    if (overloads.length === 0 && name === 'has')
      throw this.#error(expr, 'has() asks whether a field is there, and this is none', 'has(event.FIELD)');
    if (overloads.length === 0) {
      const habit = habitOf('function', name) ?? this.#habitAt(expr);
      const near = didYouMean(name, functionNames(this.context.env));
      throw this.#error(
        expr,
        `there is no function "${name}"`,
        habit ? `write ${habit}` : near ? `did you mean "${near}"?` : null,
      );
    }
    const isMethod = target !== undefined && !this.#types.isQualified(expr);
    if (
      !overloads.some(
        (overload) => (overload.target !== undefined) === isMethod && overload.arguments.length === args.length,
      )
    ) {
      throw this.#error(
        expr,
        `"${name}" is called differently`,
        this.#called(expr) ?? `it is: ${[...new Set(overloads.map(signature))].slice(0, 4).join('; ')}`,
      );
    }
    this.#checkConstants(expr, name, args);
  }

  #checkConstants(expr: Expr, name: string, args: readonly Expr[]): void {
    const constants = args.map(textsOf);
    const own = this.context.ownFunctions.get(name)?.checkConstants?.(constants) ?? null;
    if (own !== null)
      throw this.#error(args.findLast((_, index) => constants[index] !== undefined) ?? expr, `${name}: ${own}`);
    const [pattern, at] = [constants.at(-1), args.at(-1)];
    if (name === 'matches' && typeof pattern === 'string' && at) this.#try(at, () => compileRegex(pattern));
  }

  #try(at: Expr, action: () => unknown): void {
    try {
      action();
    } catch (error) {
      throw this.#error(at, (error as Error).message);
    }
  }

  #called(expr: Expr): string | null {
    const habit = this.#habitAt(expr);
    return habit === null ? null : `write ${habit}`;
  }

  #habitAt(expr: Expr): string | null {
    return textHabitAt(this.context.source, this.#offset(expr));
  }

  #offset(expr: Expr): number {
    return this.parsed.sourceInfo?.positions[String(expr.id)] ?? 0;
  }

  #error(at: Expr, message: string, hint: string | null = null): ExpressionError {
    return new ExpressionError(message, this.#offset(at), hint);
  }
}

function functionNames(env: CelEnv): string[] {
  const macros = ['all', 'exists', 'exists_one', 'filter', 'map', 'has'];
  const names = [...env.funcs].map(({ name }) => name);
  return [...new Set([...macros, ...names])].filter((name) => /^[a-zA-Z]/.test(name));
}

/** A text, or the texts of a list, as far as they are written out. */
function textsOf(expr: Expr): Constant | undefined {
  return elementsOf(expr)?.flatMap((element) => constantText(element) ?? []) ?? constantText(expr);
}

function constantKey(expr: Expr): string | null {
  const value = constantOf(expr);
  return typeof value === 'string' || typeof value === 'bigint' ? String(value) : null;
}
