import { portToken } from '../core/part.js';
import type { JsonObject } from '../core/json.js';
import type { Reason } from '../core/reason.js';

/** What a rule does beside what its file says; the newest row of a rule whose text is the same counts. */
export interface RolloutRow {
  readonly id: string;
  readonly org: string;
  readonly rule: string;
  /** Of the rule's text: another text begins again with what its file says. */
  readonly ruleHash: string;
  /** `file` = what the file says, from this time on; `promoted` = by a person; `fallback` = a canary that made errors. */
  readonly kind: 'file' | 'promoted' | 'fallback';
  readonly stage: 'shadow' | 'canary' | 'live';
  /** Percent of repositories, in a canary. */
  readonly percent: number | null;
  readonly by: string;
  readonly at: Date;
  readonly evidence: JsonObject;
  readonly forced: boolean;
}

/** What a rule decided since its stage began; runs that its limit held are not counted. */
export interface RolloutEvidence {
  readonly decisions: number;
  readonly fired: number;
  readonly notFired: number;
  /** Evaluations that ended as errors, and runs with an effect that did not end well. */
  readonly errors: number;
  /** Decisions whose effects were written; the others were only recorded. */
  readonly live: number;
  /** The difference it would make: effects that were recorded and not written, by action and how the record ended (done = it would have written). */
  readonly recorded: Readonly<Record<string, number>>;
  /** Of the newest decisions, newest first, at most this many. */
  readonly newest: ReadonlyArray<{ readonly runId: string; readonly isError: boolean; readonly reason: Reason }>;
}

/** Stages of rules, and what they are based on. Rows are only added. */
export interface RolloutStore {
  newest(org: string, rule: string): Promise<RolloutRow | null>;
  /** The newest row of every rule. */
  list(org: string): Promise<RolloutRow[]>;
  /** @param after id of the row it follows, null = there is none; false when another one came first */
  add(row: RolloutRow, after: string | null): Promise<boolean>;
  /** @param newest how many of the newest decisions are told */
  evidence(org: string, rule: string, since: Date, newest: number): Promise<RolloutEvidence>;
}

export const ROLLOUT_STORE = portToken<RolloutStore>('RolloutStore');
