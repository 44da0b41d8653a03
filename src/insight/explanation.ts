import type { RuleOrigin } from '../rules/sources/rule-repository.port.js';
import type { EventSource } from '../core/event.js';
import type { Json, JsonObject } from '../core/json.js';
import type { IntentState } from '../core/states.js';
import type { Shown } from '../core/reason.js';
import type { Attempt, Run } from '../core/run.js';

/** A place in a rule file, 1-based. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly col: number;
}

/** The place to look at first, with its line as it stands in the revision; null where the text is not kept. */
export interface Look extends Place {
  readonly text: string | null;
}

export interface EventFacts {
  readonly id: string;
  readonly kind: string;
  readonly org: string;
  readonly repo: string | null;
  readonly actor: string | null;
  /** Of its first arrival. */
  readonly source: EventSource;
  readonly factAt: Date | null;
  readonly storedAt: Date;
  readonly arrivals: ReadonlyArray<{ readonly id: string; readonly source: EventSource; readonly at: Date }>;
}

export interface RevisionFacts {
  readonly id: string;
  /** `gone` = its text is not kept any more. */
  readonly state: 'active' | 'replaced' | 'broken' | 'gone';
  readonly loadedAt: Date | null;
  /** Of rules from a repository: the commit, its author and who approved it. */
  readonly origin?: RuleOrigin;
}

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
export interface ExplainedFilter {
  readonly filter: string;
  readonly wanted: Json;
  readonly seen: Json;
  readonly reason: string;
  readonly place: Place | null;
}

export interface ExplainedStep {
  readonly id: string;
  readonly action: string;
  readonly place: Place;
  readonly outcome: string;
  readonly items: readonly string[];
  /** The `when`, `unless` or `for_each` because of which it wants nothing, or less. */
  readonly held: {
    readonly why: string;
    readonly text: string;
    readonly place: Place;
    readonly seen: Seen;
    readonly because: readonly ExplainedPart[];
  } | null;
}

export interface ExplainedLookup {
  readonly name: string;
  /** The lookup it uses; null where that was not kept. */
  readonly use: string | null;
  readonly answer: string;
}

export interface ExplainedIntent {
  readonly id: string;
  readonly action: string;
  readonly itemKey: string;
  readonly mode: 'live' | 'dry-run';
  readonly state: IntentState;
  readonly reason: string | null;
  readonly code: string | null;
  /** What the action reported, in short. */
  readonly result: string | null;
  readonly attempts: ReadonlyArray<
    Pick<Attempt, 'n' | 'operation' | 'sentAt' | 'answeredAt' | 'outcome' | 'status' | 'message'>
  >;
}

/** What a run decided, why, and what came of it. */
export interface RunExplanation {
  readonly about: 'run';
  readonly run: Shown<Omit<Run, 'trace' | 'lookups' | 'runKey' | 'forge'>>;
  /** The intent that was asked about. */
  readonly intentId: string | null;
  readonly event: EventFacts | null;
  readonly revision: RevisionFacts;
  readonly place: Place | null;
  readonly look: Look | null;
  readonly conditions: readonly ExplainedCondition[];
  readonly steps: readonly ExplainedStep[];
  /** Of a policy: per section what was wanted, missing and otherwise. */
  readonly sections: JsonObject | null;
  readonly lookups: readonly ExplainedLookup[];
  readonly intents: readonly ExplainedIntent[];
  readonly notes: readonly string[];
}

/** `rejected` = a filter of `on` or `where` turned it away; `unknown` = history does not hold what it depends on; `absent` = there is no such rule. */
export type Verdict = 'fired' | 'rejected' | 'not-fired' | 'error' | 'unknown' | 'absent';

/** Why a rule did or did not take an event, found out again from what is stored. */
export interface DecisionExplanation {
  readonly about: 'decision';
  readonly rule: string;
  readonly event: EventFacts;
  readonly revision: RevisionFacts | null;
  readonly place: Place | null;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly look: Look | null;
  readonly filters: readonly ExplainedFilter[];
  readonly conditions: readonly ExplainedCondition[];
  readonly steps: readonly ExplainedStep[];
  readonly lookups: readonly ExplainedLookup[];
  /** Runs of this rule about this event, newest first. */
  readonly runs: ReadonlyArray<Shown<Pick<Run, 'id' | 'state' | 'reason'>>>;
  readonly notes: readonly string[];
}

/** One rule in one line. */
export interface RuleLine {
  readonly rule: string;
  readonly kind: 'rule' | 'policy';
  readonly verdict: Verdict;
  /** Filters and parts of conditions that would have to be otherwise. */
  readonly away: number;
  /** Conditions that cannot be told. */
  readonly unknown: number;
  readonly reason: string;
  readonly place: Place | null;
  /** The newest run of it about this event. */
  readonly runId: string | null;
}

/** What every rule of the active revision makes of an event, nearest first. */
export interface EventExplanation {
  readonly about: 'event';
  readonly event: EventFacts;
  readonly revision: RevisionFacts | null;
  readonly rules: readonly RuleLine[];
  readonly notes: readonly string[];
}

export type Explanation = RunExplanation | DecisionExplanation | EventExplanation;

/** `id` is a run, an intent, an event or an arrival; `rule` asks about one rule of that event, `revision` with which rules (`active`, or an id). */
export interface ExplainQuery {
  readonly id: string;
  readonly rule?: string | undefined;
  readonly revision?: string | undefined;
}
