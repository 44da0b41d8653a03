import { BotError } from './errors.js';
import { textOf, type Reason } from './reason.js';
import { intentReason } from './run-reasons.js';
import type { Attempt } from './run.js';

export type BudgetKind = 'organization' | 'repository' | 'rule' | 'actor';

/** How many calls one organization, repository, rule or person may cause in any hour. */
export interface BudgetLimit {
  readonly kind: BudgetKind;
  /** Whose it is, for people. */
  readonly of: string;
  /** Whose it is, for the store: names that differ never share one. */
  readonly key: string;
  readonly perHour: number;
}

/** A budget with nothing left. */
export interface SpentBudget {
  readonly limit: BudgetLimit;
  /** Time until a counted call is an hour old and makes room; above 0. */
  readonly againInMs: number;
}

/** Code of an effect that a spent budget holds. */
export const BUDGET_HELD = 'held.budget_spent';

/** What a spent budget holds now; one row per budget. */
export interface HeldByBudget {
  readonly code: typeof BUDGET_HELD;
  readonly org: string;
  readonly kind: BudgetKind;
  /** Whose it is, for people. */
  readonly of: string;
  readonly perHour: number;
  /** Effects that wait, with the later steps behind them. */
  readonly effects: number;
  /** Since when this budget has held effects without a break. */
  readonly since: Date;
  /** When the first of them is tried again, and when the last. */
  readonly next: Date;
  readonly until: Date;
}

/** Length of the window that budgets look back on. */
export const BUDGET_WINDOW_MS = 3_600_000;

/** Outcomes of calls that a budget counts: those that changed something or may have; null = no answer yet. */
export const COUNTED_OUTCOMES = [null, 'done', 'unknown'] as const satisfies ReadonlyArray<Attempt['outcome']>;

/** Why an intent waits. */
export function budgetReason({ limit: { kind, of, perHour }, againInMs }: SpentBudget): Reason<'intent.held.budget'> {
  return intentReason('intent.held.budget', { kind, of, perHour, minutes: Math.max(Math.ceil(againInMs / 60_000), 1) });
}

/** `markSent` throws this when a budget is spent: it stored nothing, and the caller must not make the call. */
export class BudgetSpent extends BotError {
  constructor(readonly spent: SpentBudget) {
    super('BUDGET_SPENT', textOf(budgetReason(spent)), 'transient');
  }
}
