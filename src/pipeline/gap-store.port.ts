import { z } from 'zod';
import type { Visibility } from '../core/visibility.js';
import { ENTRY_SOURCES, type EntrySource } from '../core/event.js';
import type { EventKind } from '../core/event-kinds.js';
import type { JsonObject } from '../core/json.js';
import { fields, maybeText, maybeTime, text, time, word, type Shape } from '../core/schema.js';

/** Why a delivery did not come, as far as it can be known. */
const GAP_CLASSES = ['down', 'hook-inactive', 'not-subscribed', 'branch-filter', 'duplicate-hook', 'unknown'] as const;
export type GapClass = (typeof GAP_CLASSES)[number];

/** A fact that a row told and no delivery: one for each event, or for the row itself where it made none. */
export const gap = z.object({
  ...fields('forge org', text),
  /** The entry that told it. */
  arrivalId: text,
  eventId: maybeText,
  source: z.enum(ENTRY_SOURCES),
  /** Id of the row at the forge (for tasks: of repository, task and state). */
  entryKey: text,
  kind: word<EventKind>().nullable(),
  repo: maybeText,
  class: z.enum(GAP_CLASSES),
  reason: text,
  /** What became of the fact: its event was made from the row; the row cannot be read as an event; its delivery came after all. */
  outcome: z.enum(['repaired', 'not-representable', 'late']),
  /** Seconds from the reading of the row to its delivery, to compare with `feed.grace_s`; null = none came, or it is not kept any more. */
  lateByS: z.number().nullable(),
  factAt: maybeTime,
  foundAt: time,
});
export type Gap = Shape<typeof gap>;
export type GapOutcome = Gap['outcome'];

/** An entry with one event that it tells (or none), as it waits to be matched. */
export interface WaitingEntry {
  readonly arrivalId: string;
  readonly forge: string;
  readonly org: string;
  readonly source: EntrySource;
  readonly entryKey: string;
  readonly readAt: Date;
  /** Why it makes no event. */
  readonly closed: string | null;
  readonly event: {
    readonly id: string;
    readonly kind: EventKind;
    readonly repo: string | null;
    readonly factAt: Date | null;
    readonly data: JsonObject;
    /** A delivery tells it too. */
    readonly isMatched: boolean;
    /** A delivery of the same fact came more than once with one text. */
    readonly hasRepeats: boolean;
  } | null;
}

/** When no receiver of deliveries was alive. */
export interface Outage {
  readonly from: Date;
  readonly to: Date;
}

/** How many events of one kind deliveries and rows reported, both or one of them alone. */
export interface KindCount {
  readonly org: string;
  readonly kind: EventKind;
  readonly both: number;
  readonly webhook: number;
  readonly rows: number;
}

/** Deliveries of one hook in one hour. */
export interface HourOfHook {
  readonly org: string;
  readonly hook: string;
  /** Its beginning. */
  readonly hour: Date;
  readonly count: number;
  readonly last: Date;
}

/** How deliveries of an organization arrive. */
export interface Arriving {
  readonly forge: string;
  readonly org: string;
  /** When the newest delivery that is kept was stored; null = none is. */
  readonly last: Date | null;
  /** Facts found since then, and since the time asked for, of which our webhook should have told. */
  readonly unreported: number;
}

export abstract class GapStore {
  /** Entries that are decided, read before this time and not settled, oldest first; at most `limit` entries, one row for each event. */
  abstract waiting(before: Date, limit: number): Promise<WaitingEntry[]>;
  /** Of each organization when the oldest delivery came that is not decided: whatever is not known yet may be in it. */
  abstract oldestUndecided(): Promise<Array<{ readonly forge: string; readonly org: string; readonly at: Date }>>;
  /** The entries are matched or told as gaps, in one commit; a gap known before is left alone. Answers the gaps that are new. */
  abstract settle(arrivalIds: readonly string[], gaps: readonly Gap[]): Promise<Gap[]>;
  /** Gaps whose delivery came after all: marked so, in one commit, and answered. */
  abstract markLate(): Promise<Gap[]>;
  /** Of the gaps found after this time those whose delivery has not come: each organization and class once. */
  abstract missingSince(since: Date): Promise<Array<Pick<Gap, 'forge' | 'org' | 'class'>>>;
  /** Newest first. Which repository a gap is about, its event tells. Default visibility: everything. */
  abstract gaps(filter: {
    org?: string | undefined;
    visibility?: Visibility | undefined;
    limit: number;
  }): Promise<Gap[]>;
  /** The same, page by page. @param before `next` of the page before */
  abstract page(filter: {
    org?: string | undefined;
    before?: string | undefined;
    visibility: Visibility;
    limit: number;
  }): Promise<{ readonly rows: Gap[]; readonly next: string | null }>;
  /** Of events stored from one moment until another, which is not included; kinds in no order. */
  abstract coverage(filter: {
    orgs: readonly string[];
    visibility: Visibility;
    from: Date;
    until: Date;
  }): Promise<KindCount[]>;
  /** Whether any delivery of the organization was stored at this time or later. */
  abstract anyDeliverySince(forge: string, org: string, since: Date): Promise<boolean>;
  /** When the newest delivery of the organization that is kept was stored; null = none is. */
  abstract lastDelivery(forge: string, org: string): Promise<Date | null>;
  /** Of each of these organizations. */
  abstract arriving(
    orgs: ReadonlyArray<{ readonly forge: string; readonly org: string }>,
    since: Date,
  ): Promise<Arriving[]>;
  /** The newest deliveries since, at most `limit` of those that wait and of those that are decided. */
  abstract recentDeliveries(since: Date, limit: number): Promise<HourOfHook[]>;
  /** A receiver is alive at this time. When none was for longer than `silentMs`, that is an outage: it is kept and answered. */
  abstract beat(at: Date, silentMs: number): Promise<Outage | null>;
  /** Outages that ended at this time or later. */
  abstract outages(since: Date): Promise<Outage[]>;
}
