import { z } from 'zod';
import type { Reason } from './reason.js';
import { count, fields, json, jsonObject, maybeText, maybeTime, mode, text, time, type Shape } from './schema.js';
import { INTENT_STATES, RUN_STATES } from './states.js';
import type { Target } from './target.js';

/** Why a run exists; `plan` is the id of the plan that was applied. */
const cause = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), eventId: text }),
  z.object({
    kind: z.literal('tick'),
    ...fields('tickId subject', text),
    /** Full name of the repository `subject`; absent = the organization. */
    repo: text.exactOptional(),
    /** The occurrence, as ISO text. */
    at: text.exactOptional(),
  }),
  z.object({ kind: z.literal('apply'), ...fields('by plan subject', text), repo: text.exactOptional() }),
]);
export type Cause = z.output<typeof cause>;

/** Of the event, tick or plan. */
export function causeId(cause: Cause): string {
  return cause.kind === 'event' ? cause.eventId : cause.kind === 'tick' ? cause.tickId : cause.plan;
}

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

/** A run as people and the control API see it: its reason as a sentence, beside it the code and its parameters. One (rule or policy revision, cause). */
export const shownRun = z.object({
  ...fields('id forge org', text),
  /** Rule or policy id. */
  rule: text,
  revisionId: text,
  /** hash(cause, rule, subject): at most one run each, whatever crashes in between. */
  runKey: text,
  ...fields('reason code', text),
  parameters: jsonObject,
  kind: z.enum(['rule', 'policy']),
  cause,
  mode,
  /** `open` when it has intents to do; else why it ended at once. */
  state: z.enum(RUN_STATES),
  /** Compact trace: per named condition its value, position, values seen. */
  trace: json,
  /** Answers of lookups, by name. */
  lookups: jsonObject,
  decidedAt: time,
  endedAt: maybeTime,
  /** Of a gathering run: when it is decided. */
  dueAt: time.exactOptional(),
  /** Of a coalesced run: the one that was decided in its place. */
  coalescedInto: text.exactOptional(),
});

/** `reason`: which filter rejected, which condition was false, or what is wanted (`run-reasons.ts`). */
export type Run = Omit<z.output<typeof shownRun>, 'reason' | 'code' | 'parameters'> & { reason: Reason };
export type NewRun = Omit<Run, 'endedAt' | 'dueAt' | 'coalescedInto'>;

/** What an intent is counted for beside its organization and repository. */
const countsFor = z.object({
  /** A rule wants it; false = a policy does. */
  rule: z.boolean(),
  /** Who caused it, where anybody may cause such an event; null = nobody, or somebody who may write there. */
  actor: z.object(fields('id login', text)).nullable(),
  /** The event whose delivery alone says who it was; absent = the forge itself said it. */
  claim: text.exactOptional(),
  /** A policy that leaves undone what a person undid (`respect_undo: true`). */
  respectsUndo: z.literal(true).exactOptional(),
  /** A person asked for it by a comment: it may be what a person undid before. */
  asked: z.literal(true).exactOptional(),
});
export type CountsFor = Shape<typeof countsFor>;

/**
 * Whether a person's consent stands between an intent and its effect: `wanted` while it waits for it, then what was said.
 * An intent that waits for another reason (its outcome is unknown) has none.
 */
const approval = z.enum(['wanted', 'given', 'denied']);
export type Approval = z.output<typeof approval>;

/** An intent as people and the control API see it: its reason as a sentence, beside it the code and its parameters. What is wanted, written before any call. */
export const shownIntent = z.object({
  ...fields('id runId forge org rule revisionId stepId', text),
  /** 0-based position of the step in the run; a step starts when all intents of earlier steps ended well. */
  stepNo: count,
  /** Declared natural key of the item, never its position. */
  itemKey: text,
  /** hash(run key, step id, item key); unique. */
  intentKey: text,
  /** Action name, `label.ensure`. */
  action: text,
  /** Parameters after evaluation; secrets as `{ "$secret": NAME }`, sealed values as `{ "$sealed": TEXT, "$hash": HMAC }`. */
  params: jsonObject,
  target: z.custom<Target>(),
  orderKey: text,
  /** operation + numeric target id + natural key. One holder at a time (claimed, sent, unknown, waiting); others queue behind it. */
  effectKey: text,
  /** The object that it writes, such as `issue 12` or `label bug`; absent = only its effect key says. */
  object: text.exactOptional(),
  /** The other objects of its repository that it needs, in the same words. */
  names: z.array(text).exactOptional(),
  mode,
  plannedAt: time,
  state: z.enum(INTENT_STATES),
  approval: approval.exactOptional(),
  /** With `approval`: the approver must be another person than the one who caused it and the author of the rule. */
  twoPeople: z.literal(true).exactOptional(),
  /** Who approved or denied, and when. */
  approvalBy: text.exactOptional(),
  approvalAt: time.exactOptional(),
  /** Where two people were needed: the names of the others. */
  approvalBeside: text.exactOptional(),
  /** Absent = for nothing else. */
  countsFor: countsFor.exactOptional(),
  /** A schedule or a plan caused it: in its order key, and everywhere else, what an event caused goes first. */
  background: z.literal(true).exactOptional(),
  ...fields('reason code', maybeText),
  parameters: jsonObject.nullable(),
  dueAt: time,
  /** Owner epoch: grows with each claim; checked right before the send. */
  epoch: count,
  attempts: count,
  /** Counted failed tries since it was planned or revived (calls that never reached the forge, reads before the call). */
  tries: count,
  /** When the first failed try, counted or not, since it was planned or revived happened. */
  failingSince: maybeTime,
  /** It cannot end for a reason of its own: it holds back the later steps of its run, and what was planned after it and writes or names its object. */
  aside: z.literal(true).exactOptional(),
  /** Its turn is over until `dueAt`, and others of its order key go first: a budget is spent for it or for an earlier step of its run, it waits for others, or it stepped aside. */
  held: z.literal(true).exactOptional(),
  /** When a budget held it for the first time; stays when it is released. */
  heldSince: time.exactOptional(),
  /** What the action reported, or what dry-run would have sent. */
  result: json,
  updatedAt: time,
});

export type Intent = Omit<z.output<typeof shownIntent>, 'reason' | 'code' | 'parameters'> & {
  reason: Reason | null;
};

/** As it is planned; with an approval it goes into state `waiting`. */
export type NewIntent = Pick<
  Intent,
  | 'id'
  | 'runId'
  | 'forge'
  | 'org'
  | 'rule'
  | 'revisionId'
  | 'stepId'
  | 'stepNo'
  | 'itemKey'
  | 'intentKey'
  | 'action'
  | 'params'
  | 'target'
  | 'orderKey'
  | 'effectKey'
  | 'object'
  | 'names'
  | 'mode'
  | 'plannedAt'
  | 'twoPeople'
  | 'countsFor'
  | 'background'
> & { approval?: 'wanted' };

/** One call made for an intent. */
export const attempt = z.object({
  ...fields('id intentId operation', text),
  /** SHA-256 over the request body; never the body when it holds secrets. */
  requestHash: text,
  ...fields('n epoch', count),
  /** What the action remembered right before the call, for the read that may have to tell its outcome; null = nothing. */
  snapshot: jsonObject.nullable(),
  sentAt: time,
  answeredAt: maybeTime,
  outcome: z.enum(['done', 'refused', 'not-sent', 'rate-limited', 'moved', 'not-offered', 'unknown']).nullable(),
  status: count.nullable(),
  message: maybeText,
  /** Forge id of the object made or changed, decimal string. */
  objectId: maybeText,
});
export type Attempt = z.output<typeof attempt>;
