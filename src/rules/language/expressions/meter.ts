import type { Budget } from '../expression-engine.js';
import { PATTERN_STEPS } from './charges.js';

/** Steps one expression may take when the caller shares no budget of its own; about 20 ms. */
export const DEFAULT_STEPS = 20_000;
/** Elements an expression may walk in one list. */
export const MAX_LIST = 1000;
/** Characters a text made by an expression may have. */
export const MAX_TEXT = 256 * 1024;
/** Longer patterns are refused before they are compiled. */
const MAX_PATTERN = 512;
const MAX_PATTERNS = 100;

/**
 * Counts the work of the evaluation under way. An expression cannot hide that it ran out: `true || expensive` absorbs errors of its
 * right side, so the flag is looked at again in the end.
 */
export class Meter {
  #budget: Budget = { remaining: 0 };
  now = new Date(0);
  isSpent = false;
  /** Turns that the loop took which is the whole expression. */
  turns = 0;
  /** Patterns that are compiled, and whose compiling this evaluation has been charged for. */
  readonly #patterns = new Set<string>();

  start(budget: Budget, now: Date): void {
    this.#budget = budget;
    this.now = now;
    this.isSpent = budget.remaining <= 0;
    this.turns = 0;
    this.#patterns.clear();
  }

  /** One turn of a loop. */
  step(): true {
    this.charge(1);
    return true;
  }

  countedStep(): true {
    this.turns += 1;
    return this.step();
  }

  /**
   * Compiling a pattern, whether or not somebody else has compiled it: the same evaluation always costs the same. Fewer are remembered than are kept.
   * @throws Error when the budget is spent
   */
  chargeOnce(pattern: string): void {
    if (this.#patterns.has(pattern)) return;
    if (this.#patterns.size >= MAX_PATTERNS) this.#patterns.clear();
    this.charge(PATTERN_STEPS * Math.min(pattern.length, MAX_PATTERN));
    this.#patterns.add(pattern);
  }

  /** @throws Error when the budget is spent */
  charge(steps: number): void {
    this.#budget.remaining -= steps;
    if (this.#budget.remaining <= 0) {
      this.isSpent = true;
      throw new Error(SPENT);
    }
  }
}

export const SPENT =
  'the expression takes too many steps: walk shorter lists, or filter them first; read shorter texts';
