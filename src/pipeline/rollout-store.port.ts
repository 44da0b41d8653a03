import { z } from 'zod';
import type { Reason } from '../core/reason.js';
import { count, fields, jsonObject, text, time, type Shape } from '../core/schema.js';

/** What a rule does beside what its file says; the newest row of a rule whose text is the same counts. */
export const rolloutRow = z.object({
  ...fields('id org rule', text),
  /** Of the rule's text: another text begins again with what its file says. */
  ruleHash: text,
  /** `file` = what the file says, from this time on; `promoted` = by a person; `fallback` = a canary that made errors. */
  kind: z.enum(['file', 'promoted', 'fallback']),
  stage: z.enum(['shadow', 'canary', 'live']),
  percent: count.nullable().describe('Of the repositories, in a canary.'),
  by: text,
  at: time,
  evidence: jsonObject,
  forced: z.boolean(),
});
export type RolloutRow = Shape<typeof rolloutRow>;

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
export abstract class RolloutStore {
  abstract newest(org: string, rule: string): Promise<RolloutRow | null>;
  /** The newest row of every rule of these organizations. */
  abstract list(orgs: readonly string[]): Promise<RolloutRow[]>;
  /** @param after id of the row it follows, null = there is none; false when another one came first */
  abstract add(row: RolloutRow, after: string | null): Promise<boolean>;
  /** @param newest how many of the newest decisions are told */
  abstract evidence(org: string, rule: string, since: Date, newest: number): Promise<RolloutEvidence>;
}
