import type { NullReading } from '../expression-engine.js';
import type { Expr, ParsedExpression } from './parse-expression.js';
import { childrenOf, constantOf } from './tree.js';

/** What a part may give: each letter is one possibility. */
interface Outcome {
  readonly isTrue: boolean;
  readonly isFalse: boolean;
  /** It is null for certain. */
  readonly isNull: boolean;
  /** 0-based offset of the first read that fails; null = it cannot fail by this. */
  readonly fails: number | null;
}

const OPEN: Outcome = { isTrue: true, isFalse: true, isNull: false, fails: null };
const TRUE: Outcome = { isTrue: true, isFalse: false, isNull: false, fails: null };
const FALSE: Outcome = { isTrue: false, isFalse: true, isNull: false, fails: null };
const NULL: Outcome = { isTrue: false, isFalse: false, isNull: true, fails: null };

/**
 * An expression as it goes when one variable is null: a field of it cannot be read then, unless `&&`, `||` or `?:` decide before, the
 * way evaluating does it (a side that decides outweighs one that fails). Everything else is taken to be possible.
 */
export function whenNull(parsed: ParsedExpression, variable: string): NullReading {
  const { isTrue, isFalse, isNull, fails } = new Reader(parsed, variable).read(parsed.expr, []);
  return { fails, gives: fails !== null || isNull || isTrue === isFalse ? null : isTrue };
}

class Reader {
  constructor(
    readonly parsed: ParsedExpression,
    readonly variable: string,
  ) {}

  read(expr: Expr | undefined, loop: readonly string[]): Outcome {
    if (!expr) return OPEN;
    const { exprKind } = expr;
    switch (exprKind.case) {
      case 'constExpr':
        return ofConstant(constantOf(expr));
      case 'identExpr':
        return exprKind.value.name === this.variable && !loop.includes(this.variable) ? NULL : OPEN;
      case 'selectExpr': {
        const { operand, testOnly } = exprKind.value;
        const of = this.read(operand, loop);
        if (testOnly) return of.isNull ? FALSE : { ...OPEN, fails: of.fails };
        return of.isNull ? { ...OPEN, fails: this.#offset(operand) } : { ...OPEN, fails: of.fails };
      }
      case 'comprehensionExpr': {
        const { iterRange, iterVar, accuVar, accuInit, loopCondition, loopStep, result } = exprKind.value;
        const inside = [...loop, iterVar, accuVar];
        const outside = this.#all([iterRange, accuInit], loop);
        return outside.fails !== null ? outside : this.#all([loopCondition, loopStep, result], inside);
      }
      case 'callExpr':
        return this.#readCall(exprKind.value, loop);
      default:
        return this.#all(childrenOf(expr), loop);
    }
  }

  #readCall(
    { function: name, args, target }: { function: string; args: readonly Expr[]; target?: Expr | undefined },
    loop: readonly string[],
  ): Outcome {
    const [first, second, third] = args;
    switch (name) {
      case '_&&_':
        return both(this.read(first, loop), this.read(second, loop));
      case '_||_':
        return turned(both(turned(this.read(first, loop)), turned(this.read(second, loop))));
      case '!_':
        return turned(this.read(first, loop));
      case '@not_strictly_false':
      case '__not_strictly_false__':
        return OPEN;
      case '_?_:_':
        return chosen(this.read(first, loop), this.read(second, loop), this.read(third, loop));
      case '_==_':
      case '_!=_': {
        const [left, right] = [this.read(first, loop), this.read(second, loop)];
        if (left.isNull && right.isNull) return name === '_==_' ? TRUE : FALSE;
        return { ...OPEN, fails: left.fails ?? right.fails };
      }
      case '_[_]': {
        const of = this.read(first, loop);
        if (of.isNull) return { ...OPEN, fails: this.#offset(first) };
        return this.#all(args, loop);
      }
      default:
        return this.#all([target, ...args], loop);
    }
  }

  /** Each of them is needed. */
  #all(parts: ReadonlyArray<Expr | undefined>, loop: readonly string[]): Outcome {
    const fails = parts.map((part) => this.read(part, loop).fails).find((offset) => offset !== null);
    return { ...OPEN, fails: fails ?? null };
  }

  #offset(expr: Expr | undefined): number {
    return this.parsed.sourceInfo?.positions[String(expr?.id)] ?? 0;
  }
}

function ofConstant(value: ReturnType<typeof constantOf>): Outcome {
  if (typeof value === 'boolean') return value ? TRUE : FALSE;
  return value === null ? NULL : OPEN;
}

/** `&&`: false on either side decides, whatever becomes of the other one. */
function both(left: Outcome, right: Outcome): Outcome {
  const isDecided = isJust(left, 'isFalse') || isJust(right, 'isFalse');
  if (isDecided) return FALSE;
  return {
    isTrue: left.isTrue && right.isTrue,
    isFalse: left.isFalse || right.isFalse,
    isNull: false,
    fails: left.fails ?? right.fails,
  };
}

function turned(one: Outcome): Outcome {
  return { ...one, isTrue: one.isFalse, isFalse: one.isTrue };
}

function chosen(condition: Outcome, then: Outcome, otherwise: Outcome): Outcome {
  if (isJust(condition, 'isTrue')) return then;
  if (isJust(condition, 'isFalse')) return otherwise;
  return {
    isTrue: then.isTrue || otherwise.isTrue,
    isFalse: then.isFalse || otherwise.isFalse,
    isNull: then.isNull && otherwise.isNull,
    fails: condition.fails ?? then.fails ?? otherwise.fails,
  };
}

function isJust({ isTrue, isFalse, isNull, fails }: Outcome, value: 'isTrue' | 'isFalse'): boolean {
  return !isNull && fails === null && isTrue !== isFalse && (value === 'isTrue' ? isTrue : isFalse);
}
