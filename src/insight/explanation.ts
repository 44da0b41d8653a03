import { z } from 'zod';
import type { Json } from '../core/json.js';
import type { Visibility } from '../core/visibility.js';
import { attempt, shownRun } from '../core/run.js';
import {
  count,
  fields,
  json,
  jsonObject,
  maybeText,
  maybeTime,
  mode,
  text,
  texts,
  time,
  type Shape,
} from '../core/schema.js';
import { INTENT_STATES, RUN_STATES } from '../core/states.js';
import { aboutRun } from './about-run.js';
import { origin } from '../rules/sources/rule-repository.port.js';
import { shownWaiting } from '../core/waiting.js';
import { sourceText } from './source-text.js';

/** A place in a rule file, 1-based. */
export const place = z.object({ file: text, ...fields('line col', count) });
export type Place = Shape<typeof place>;

/** The place to look at first, with its line as it stands in the revision; null where the text is not kept. */
const look = place.extend({ text: maybeText });
export type Look = Shape<typeof look>;

/** `source` is that of its first arrival. */
const source = z.enum(['webhook', 'feed', 'tasks', 'lists']);
const eventFacts = z.object({
  ...fields('id kind org', text),
  ...fields('repo subject actor', maybeText),
  source,
  factAt: maybeTime,
  storedAt: time,
  /** `repeats`: equal deliveries that came after it. */
  arrivals: z.array(z.object({ id: text, source, at: time, hook: maybeText, deliveryId: maybeText, repeats: count })),
});
export type EventFacts = Shape<typeof eventFacts>;

const revisionFacts = z.object({
  id: text,
  /** `gone` = its text is not kept any more. */
  state: z.enum(['active', 'replaced', 'broken', 'gone']),
  loadedAt: maybeTime,
  /** Of rules from a repository: the commit, its author and who approved it. */
  origin: origin.exactOptional(),
});
export type RevisionFacts = Shape<typeof revisionFacts>;

type Seen = Readonly<Record<string, Json>>;

/** What stands between `&&` and `||`, where it decided. */
export interface ExplainedPart {
  readonly text: string;
  readonly place: Place;
  /** Null = it could not be told. */
  readonly value: boolean | null;
  readonly loop: ExplainedLoop | null;
}

export interface ExplainedLoop {
  readonly variable: string;
  readonly of: number;
  /** 0-based index of the element that decided. */
  readonly index: number | null;
  /** 0-based index of the element that came nearest, where none was as it should be. */
  readonly nearest: number | null;
  readonly seen: Seen;
  readonly because: readonly ExplainedPart[];
  /** What was seen of the first elements, where no single one decided. */
  readonly others: readonly Seen[];
}

type ConditionState = 'true' | 'false' | 'error' | 'unknown' | 'not-evaluated';

export interface ExplainedCondition {
  readonly name: string;
  readonly text: string;
  readonly place: Place;
  readonly state: ConditionState;
  readonly seen: Seen;
  readonly because: readonly ExplainedPart[];
  /** The error, or what is not known. */
  readonly why: string | null;
  /** The line that decided. */
  readonly look: Place;
}

/** A filter of `on` and `where` that turned the event away. */
export const filter = z.object({
  ...fields('filter reason', text),
  ...fields('wanted seen', json),
  place: place.nullable(),
});
export type ExplainedFilter = Shape<typeof filter>;

export interface ExplainedStep {
  readonly id: string;
  readonly action: string;
  readonly place: Place;
  readonly outcome: string;
  readonly items: readonly string[];
  /** The `when`, `unless` or `for_each` because of which it wants nothing, or less. */
  // oxlint-disable-next-line local/no-participle-names -- in the answer of explain
  readonly held: {
    readonly why: string;
    readonly text: string;
    readonly place: Place;
    readonly seen: Seen;
    readonly because: readonly ExplainedPart[];
  } | null;
  /** How many items of `for_each` were wanted or left out, where its conditions look at each. */
  readonly each?: { readonly wanted: number; readonly whenFalse: number; readonly unlessTrue: number };
}

const lookup = z.object({
  ...fields('name answer', text),
  /** The lookup it uses; null where that was not kept. */
  use: maybeText,
});
export type ExplainedLookup = Shape<typeof lookup>;

const intent = z.object({
  ...fields('id action itemKey effectKey', text),
  mode,
  state: z.enum(INTENT_STATES),
  ...fields('reason code', maybeText),
  parameters: jsonObject.nullable(),
  /** What the action reported, in short. */
  result: maybeText,
  attempts: z.array(
    attempt.pick({
      n: true,
      operation: true,
      sentAt: true,
      answeredAt: true,
      outcome: true,
      status: true,
      message: true,
    }),
  ),
});
export type ExplainedIntent = Shape<typeof intent>;

/** What of it is not decided or not done since something else is in the way. */
const waiting = z.array(shownWaiting).exactOptional();

/** How conditions and steps were evaluated. */
export const evaluated = {
  conditions: z.array(z.custom<ExplainedCondition>()),
  steps: z.array(z.custom<ExplainedStep>()),
};
const why = {
  place: place.nullable(),
  look: look.nullable(),
  ...evaluated,
  lookups: z.array(lookup),
  /** The rule as it stands in the file of that revision; null = it is not kept, or not for this caller. */
  source: sourceText.nullable(),
  notes: texts,
};

/** What a run decided, why, and what came of it. */
const ofRun = z.object({
  about: z.literal('run'),
  run: shownRun.omit({ trace: true, lookups: true, runKey: true, forge: true }),
  /** Repository, subject, person and schedule. */
  context: aboutRun,
  /** The intent that was asked about. */
  intentId: maybeText,
  event: eventFacts.nullable(),
  revision: revisionFacts,
  ...why,
  /** Of a policy: per section what was wanted, missing and otherwise. */
  sections: jsonObject.nullable(),
  intents: z.array(intent),
  waiting,
});
export type RunExplanation = Shape<typeof ofRun>;

/** `rejected` = a filter of `on` or `where` turned it away; `unknown` = history does not hold what it depends on; `absent` = there is no such rule. */
const verdict = z.enum(['fired', 'rejected', 'not-fired', 'error', 'unknown', 'absent']);
export type Verdict = Shape<typeof verdict>;

/** Why a rule did or did not take an event, found out again from what is stored. */
const ofDecision = z.object({
  about: z.literal('decision'),
  ...fields('rule reason', text),
  event: eventFacts,
  revision: revisionFacts.nullable(),
  verdict,
  filters: z.array(filter),
  ...why,
  /** Runs of this rule about this event, newest first. */
  runs: z.array(z.object({ ...fields('id reason code', text), parameters: jsonObject, state: z.enum(RUN_STATES) })),
  waiting,
});
export type DecisionExplanation = Shape<typeof ofDecision>;

/** One rule in one line. */
export const ruleLine = z.object({
  ...fields('rule reason', text),
  kind: z.enum(['rule', 'policy']),
  verdict,
  /** Filters and parts of conditions that would have to be otherwise. */
  away: count,
  /** Conditions that cannot be told. */
  unknown: count,
  /** The clause that decided, with its line. */
  place: look.nullable(),
  /** The newest run of it about this event. */
  runId: maybeText,
});
export type RuleLine = Shape<typeof ruleLine>;

/** What every rule of the active revision makes of an event, nearest first. */
const ofEvent = z.object({
  about: z.literal('event'),
  event: eventFacts,
  revision: revisionFacts.nullable(),
  rules: z.array(ruleLine),
  notes: texts,
  waiting,
});
export type EventExplanation = Shape<typeof ofEvent>;

export const explanation = z.discriminatedUnion('about', [ofRun, ofDecision, ofEvent]);
export type Explanation = Shape<typeof explanation>;

/** `id` is a run, an intent, an event or an arrival; `rule` asks about one rule of that event, `revision` with which rules (`active`, or an id). */
export interface ExplainQuery {
  readonly id: string;
  readonly rule?: string | undefined;
  readonly revision?: string | undefined;
  /** What of it may be told; that the id itself may be, the caller has made sure. Default: everything. */
  readonly visibility?: Visibility;
  /** Whether what is sealed of an organization is opened. Default: of none */
  readonly opens?: (org: string) => boolean;
  /** Answers of lookups and results of effects are not cut. Default: false */
  readonly full?: boolean;
}
