import type { IntentState } from '../core/states.js';
import type { JsonObject, Json } from '../core/json.js';
import type { Target } from '../core/target.js';

/** Why a run exists. */
export type Cause = { kind: 'event'; eventId: string } | { kind: 'tick'; tickId: string; subject: string } | { kind: 'apply'; by: string; subject: string };

export type RunState = 'open' | 'done' | 'failed' | 'cancelled' | 'not-fired' | 'error';

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
  /** One sentence for people: which filter rejected, which condition was false, or what is wanted. */
  reason: string;
  /** Compact trace: per named condition its value, position, values seen. */
  trace: Json;
  /** Answers of lookups, by name. */
  lookups: JsonObject;
  decidedAt: Date;
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
}

export interface Run extends NewRun {
  endedAt: Date | null;
}

export interface Intent extends NewIntent {
  state: IntentState;
  reason: string | null;
  dueAt: Date;
  /** Owner epoch: grows with each claim; checked right before the send. */
  epoch: number;
  attempts: number;
  /** Counted failed tries since it was planned or revived (calls that never reached the forge, reads before the call). */
  tries: number;
  /** When the first failed try, counted or not, since it was planned or revived happened. */
  failingSince: Date | null;
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
