import type { IntentState } from './states.js';
import type { JsonObject, Json } from './json.js';
import type { Reason } from './reason.js';
import type { Target } from './target.js';

/** Why a run exists; `plan` is the id of the plan that was applied. */
export type Cause =
  | { kind: 'event'; eventId: string }
  | { kind: 'tick'; tickId: string; subject: string }
  | { kind: 'apply'; by: string; plan: string; subject: string };

/**
 * `gathering`: it waits for the end of its `coalesce` window, when it is decided; `coalesced`: a later cause of the same key took its place.
 */
export const RUN_STATES = [
  'open',
  'done',
  'failed',
  'cancelled',
  'not-fired',
  'error',
  'gathering',
  'coalesced',
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** States of runs that wanted nothing, or were not decided (yet): such a run counts for no limit. */
export const IDLE_RUN_STATES = ['not-fired', 'error', 'gathering', 'coalesced'] as const satisfies readonly RunState[];

/** Whether a run of this state fired, whatever became of what it wanted. */
export function hasFired(state: RunState): boolean {
  return !(IDLE_RUN_STATES as readonly RunState[]).includes(state);
}

/** What waits for its window: runs of one rule with the same key become one, and the last of them decides. */
export interface Gathering {
  /** The value of `coalesce.key`. */
  readonly key: string;
  /** From the first of them on; further ones do not prolong it. */
  readonly windowMs: number;
}

/** One (rule or policy revision, cause). */
export interface NewRun {
  id: string;
  forge: string;
  org: string;
  /** Rule or policy id. */
  rule: string;
  kind: 'rule' | 'policy';
  revisionId: string;
  cause: Cause;
  /** hash(cause, rule, subject): at most one run each, whatever crashes in between. */
  runKey: string;
  mode: 'live' | 'dry-run';
  /** `open` when it has intents to do; else why it ended at once. */
  state: RunState;
  /** Which filter rejected, which condition was false, or what is wanted (`run-reasons.ts`). */
  reason: Reason;
  /** Compact trace: per named condition its value, position, values seen. */
  trace: Json;
  /** Answers of lookups, by name. */
  lookups: JsonObject;
  decidedAt: Date;
}

/** What an intent is counted for beside its organization and repository. */
export interface CountsFor {
  /** A rule wants it; false = a policy does. */
  readonly rule: boolean;
  /** Who caused it, where anybody may cause such an event; null = nobody, or somebody who may write there. */
  readonly actor: { readonly id: string; readonly login: string } | null;
  /** The event whose delivery alone says who it was; absent = the forge itself said it. */
  readonly claim?: string;
}

/** What is wanted, written before any call. */
export interface NewIntent {
  id: string;
  runId: string;
  forge: string;
  org: string;
  rule: string;
  revisionId: string;
  stepId: string;
  /** 0-based position of the step in the run; a step starts when all intents of earlier steps ended well. */
  stepNo: number;
  /** Declared natural key of the item, never its position. */
  itemKey: string;
  /** hash(run key, step id, item key); unique. */
  intentKey: string;
  /** Action name, `label.ensure`. */
  action: string;
  /** Parameters after evaluation; secrets as `{ "$secret": NAME }`, sealed values as `{ "$sealed": TEXT, "$hash": HMAC }`. */
  params: JsonObject;
  target: Target;
  lane: string;
  /** operation + numeric target id + natural key. One holder at a time (claimed, sent, unknown, waiting); others queue behind it. */
  effectKey: string;
  mode: 'live' | 'dry-run';
  plannedAt: Date;
  /** Planned into state `waiting`, until `approve`. */
  approval?: 'wanted';
  /** With `approval`: the approver must be another person than the one who caused it and the author of the rule. */
  twoPeople?: true;
  /** Absent = for nothing else. */
  countsFor?: CountsFor;
  /** A schedule or a plan caused it: in its lane, and everywhere else, what an event caused goes first. */
  upkeep?: true;
}

export interface Run extends NewRun {
  endedAt: Date | null;
  /** Of a gathering run: when it is decided. */
  dueAt?: Date;
  /** Of a coalesced run: the one that was decided in its place. */
  coalescedInto?: string;
}

/**
 * Whether a person's consent stands between an intent and its effect: `wanted` while it waits for it, then what was said.
 * An intent that waits for another reason (its outcome is unknown) has none.
 */
export type Approval = 'wanted' | 'given' | 'denied';

export interface Intent extends Omit<NewIntent, 'approval'> {
  state: IntentState;
  approval?: Approval;
  /** Who approved or denied, and when. */
  approvalBy?: string;
  approvalAt?: Date;
  /** Where two people were needed: the names of the others. */
  approvalBeside?: string;
  reason: Reason | null;
  dueAt: Date;
  /** Owner epoch: grows with each claim; checked right before the send. */
  epoch: number;
  attempts: number;
  /** Counted failed tries since it was planned or revived (calls that never reached the forge, reads before the call). */
  tries: number;
  /** When the first failed try, counted or not, since it was planned or revived happened. */
  failingSince: Date | null;
  /** A budget is spent for it or for an earlier step of its run: it waits until `dueAt`, and others of its lane go first. */
  held?: true;
  /** When a budget held it for the first time; stays when it is released. */
  heldSince?: Date;
  /** What the action reported, or what dry-run would have sent. */
  result: Json;
  updatedAt: Date;
}

/** One call made for an intent. */
export interface Attempt {
  id: string;
  intentId: string;
  n: number;
  operation: string;
  epoch: number;
  /** SHA-256 over the request body; never the body when it holds secrets. */
  requestHash: string;
  /** What the action remembered right before the call, for the read that may have to tell its outcome; null = nothing. */
  snapshot: JsonObject | null;
  sentAt: Date;
  answeredAt: Date | null;
  outcome: 'done' | 'refused' | 'not-sent' | 'rate-limited' | 'moved' | 'not-offered' | 'unknown' | null;
  status: number | null;
  message: string | null;
  /** Forge id of the object made or changed, decimal string. */
  objectId: string | null;
}
