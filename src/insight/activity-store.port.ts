import type { EventSource } from '../core/event.js';
import type { Visibility } from '../core/visibility.js';
import type { RunState } from '../core/run.js';
import type { IntentState } from '../core/states.js';
import type { ArrivalSummary } from '../pipeline/inbox-store.port.js';

/** What started something, or could have: an event, an arrival that made none, or a run that a schedule or a person caused. */
export interface CauseRef {
  readonly what: 'event' | 'arrival' | 'run';
  readonly id: string;
}

export interface CauseFilter {
  /** Names as the config writes them. Default: every organization. */
  readonly orgs?: readonly string[] | undefined;
  /** Full name of a repository, in any case. */
  readonly repo?: string | undefined;
  /** Login of who did it, in any case. */
  readonly person?: string | undefined;
  /** A kind of event, or the family before its dot: `issue`. */
  readonly kind?: string | undefined;
  /** Causes about which this rule or policy has a run. */
  readonly rule?: string | undefined;
  /** Causes with a run in this state. */
  readonly state?: RunState | undefined;
  /** Causes with an effect in this state; each once a page, in the order of the effects. */
  readonly effects?: IntentState | undefined;
  /** Without those whose runs changed nothing. */
  readonly changed?: boolean | undefined;
  /** `next` of the page before. */
  readonly before?: string | undefined;
  readonly visibility: Visibility;
  readonly limit: number;
}

export interface CausePage {
  /** Newest first. */
  readonly causes: readonly CauseRef[];
  /** Where the next page begins; null = there is nothing older. A page may be short, even empty, and have a next one: so many rows are looked at, no more. */
  readonly next: string | null;
}

/** One arrival of an event. */
export interface SourceOfEvent {
  readonly id: string;
  readonly source: EventSource;
  readonly hook: string | null;
  readonly at: Date;
  readonly repeats: number;
}

export interface CountFilter {
  readonly orgs: readonly string[];
  /** Runs decided from here on, and before this. */
  readonly from: Date;
  readonly until: Date;
  readonly visibility: Visibility;
}

/** Runs of one rule that ended (or stand) alike. */
export interface RunCount {
  readonly org: string;
  readonly rule: string;
  readonly state: RunState;
  readonly code: string;
  /** The condition that did not hold, or the code of what else decided; null = the reason names none. */
  readonly because: string | null;
  readonly count: number;
}

/** What happened, for people to look at. Every question looks at a bounded number of rows; rows and counts are of what is visible. */
export abstract class ActivityStore {
  abstract causes(filter: CauseFilter): Promise<CausePage>;
  /** In the order asked; what is not visible, or not there, is left out. */
  abstract arrivals(ids: readonly string[], visibility: Visibility): Promise<ArrivalSummary[]>;
  /** Of each event its arrivals, the one that made it first, at most so many; and whether it was decided. */
  abstract sources(
    eventIds: readonly string[],
    visibility: Visibility,
    most: number,
  ): Promise<Array<{ readonly eventId: string; readonly isDecided: boolean; readonly arrivals: SourceOfEvent[] }>>;
  /** Changes whenever one of the newest arrivals, runs and intents does, whosever they are. */
  abstract mark(): Promise<string>;
  abstract runCounts(filter: CountFilter): Promise<RunCount[]>;
}
