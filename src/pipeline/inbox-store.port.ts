import { z } from 'zod';
import type { Visibility } from '../core/visibility.js';
import type { EventKind } from '../core/event-kinds.js';
import { ENTRY_SOURCES, type EntrySource, type EventSource, type ForgeEvent } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import { count, maybeText, maybeTime, text, time, word, type Shape } from '../core/schema.js';
import type { StatedObject } from '../events/derive/derive-facts.js';
import type { TextAct } from '../events/equal-texts.js';
import type { Arrival, ArrivalState, NewDelivery, NewEntry, Stored } from '../core/arrival.js';
import type { DecidedBy, RecordedRun } from './journal-store.port.js';

/** The store's adapters know it from here. */
export type { StatedObject, TextAct };

/** An event that an arrival may tell once more. */
export interface ToldEvent {
  readonly id: string;
  readonly kind: EventKind;
  readonly factKey: string;
  readonly factAt: Date | null;
  /** Of an event of a discussion: deduplication compares texts there. Empty for all others, whose bodies it would be a waste to read. */
  readonly data: JsonObject;
  /** One for each arrival joined to it, in their order. */
  readonly sources: readonly EventSource[];
  /** When it was stored, where a run was refused since the forge showed no such act; null = none was. */
  readonly deniedAt: Date | null;
}

/**
 * Bits of `events.reported_by`: which classes of source have reported it. What one alone has reported is open to the other; what only the lists show is open to
 * both, and everything is open to them.
 */
const REPORTED_BY_WEBHOOK = 1;
const REPORTED_BY_POLL = 2;
const REPORTED_BY_LISTS = 4;
export const REPORTED_BY: Readonly<Record<EventSource, number>> = {
  webhook: REPORTED_BY_WEBHOOK,
  feed: REPORTED_BY_POLL,
  tasks: REPORTED_BY_POLL,
  lists: REPORTED_BY_LISTS,
};
export const OPEN_TO: Readonly<Record<number, readonly number[]>> = {
  [REPORTED_BY_WEBHOOK]: [REPORTED_BY_POLL, REPORTED_BY_LISTS, REPORTED_BY_POLL | REPORTED_BY_LISTS],
  [REPORTED_BY_POLL]: [REPORTED_BY_WEBHOOK, REPORTED_BY_LISTS, REPORTED_BY_WEBHOOK | REPORTED_BY_LISTS],
  [REPORTED_BY_LISTS]: [1, 2, 3, 4, 5, 6, 7],
};

/** Whether an event that these told may be told once more by this one. */
export function isOpenTo(source: EventSource, sources: readonly EventSource[]): boolean {
  const reportedBy = sources.reduce((bits, one) => bits | REPORTED_BY[one], 0);
  return (OPEN_TO[REPORTED_BY[source]] ?? []).includes(reportedBy);
}

/** What the rules made of an event before it was stored. The runs count nothing and join no window. */
export interface EventDecision {
  readonly by: DecidedBy;
  readonly runs: readonly RecordedRun[];
}

/** What of ours an event may have to do with. */
export interface Touched {
  /** Of effects that it may show or undo, where they were ever sent. */
  readonly effectKeys: readonly string[];
  /** Where intents may wait for such an event; null = none waits for its kind. */
  readonly orderKey: string | null;
}

/** What the facts of one object are locked under, beside their own keys. */
export function keyOfObject({ repoId, kind, objectId }: StatedObject): string {
  return `state|${repoId}|${kind}|${objectId}`;
}

/** What the deliveries of one text are locked under. */
export function keyOfText(textKey: string): string {
  return `text|${textKey}`;
}

export interface FactNeed {
  readonly forge: string;
  readonly factKey: string;
  /** See `EventFact.discussionKey`. */
  readonly discussionKey: string | undefined;
  /** Of the arrival that tells it. */
  readonly source: EventSource;
}

export interface ObjectNeed {
  readonly forge: string;
  readonly object: StatedObject;
}

/** What a batch of arrivals of one organization needs to know, each once. */
export interface BatchNeeds {
  readonly org: string;
  readonly facts: readonly FactNeed[];
  readonly objects: readonly ObjectNeed[];
  /** Keys of texts (see `equal-texts.ts`). */
  readonly texts: ReadonlyArray<{ readonly forge: string; readonly key: string }>;
  /** Keys of effects. */
  readonly effects: readonly string[];
  readonly orderKeys: readonly string[];
}

/** An event that an arrival may tell once more. */
export interface FoundEvent extends ToldEvent {
  /** Of the discussion that was asked for: it is a candidate whoever told it. */
  readonly isOfDiscussion: boolean;
}

export interface KnownObject {
  /** What was last kept about it; null when nothing is. */
  readonly state: JsonObject | null;
  /** An event of it is not decided yet. */
  readonly isOpen: boolean;
}

/** What the store knows of the organization, each list in the order of the needs: a body can name any repository number. */
export interface BatchFacts {
  /**
   * The material for deduplication: events of this fact key that are open to the source, told by the other class of source alone (the webhook, or the polls)
   * or shown by a list alone, to a list all of them, and, where a discussion is given, all events of it. Oldest first; of many, the newest `MOST_CANDIDATES`.
   */
  readonly facts: ReadonlyArray<readonly FoundEvent[]>;
  readonly objects: readonly KnownObject[];
  /** The deliveries that count under these keys; null = none yet. */
  readonly texts: ReadonlyArray<TextAct | null>;
  /** Whether it was ever sent. */
  readonly effects: readonly boolean[];
  /** Whether something is held in it. */
  readonly orderKeys: readonly boolean[];
}
export const MOST_CANDIDATES = 200;

/** An event that an arrival tells first. */
export interface NewEvent {
  readonly event: ForgeEvent;
  readonly discussionKey: string | undefined;
  /** What it is about, whose events are decided in their order. */
  readonly object: StatedObject | null;
  /** What the rules made of it: it is decided, and nobody has to be woken. Null = it is to be decided. */
  readonly decision: EventDecision | null;
}

/** What stands in the place of what an event does not know (see `withTold`). */
export interface ToldMore {
  readonly eventId: string;
  readonly details: Pick<ForgeEvent, 'actor' | 'data'>;
  /** `DELIVERY` where a delivery tells it, else empty. */
  readonly from: readonly string[];
}

/** What was decided about one arrival. It is `decided` where it tells an event, or in the state in which it is closed; else it stays `stored`. */
export interface ArrivalNews {
  readonly arrival: Arrival;
  readonly made: readonly NewEvent[];
  /** Ids of events that it tells, new or known, in order: a feed row of a pushed tag tells the push and the tag's creation. */
  readonly joined: readonly string[];
  readonly additions: readonly ToldMore[];
  readonly objectStates: ReadonlyArray<ObjectNeed & { readonly state: JsonObject }>;
  /** It makes no event, or something is to be said about it beside its event. `code` names the reason for programs; null = it has none. */
  readonly closed: { readonly state: ArrivalState; readonly reason: string; readonly code: string | null } | null;
  /** Of a delivery: under which key it counts, in hex, and what it is. */
  readonly claimed: { readonly key: string; readonly eventType: string } | null;
  /** Id of the delivery with which this one is counted: it is no act of its own, and its body is dropped. */
  readonly countedWith: string | null;
}

/** One transaction over arrivals that nobody else decides until the commit. On the embedded store nothing else may be asked meanwhile. */
export interface ArrivalBatch {
  /**
   * Locks those of these arrivals that are `stored` and that nobody else decides at this moment; as many as fit into memory together, and one at least.
   * @returns them in the order in which they came
   */
  claim(ids: readonly string[]): Promise<Arrival[]>;
  /** Locks what these arrivals need against every other decision until the commit, in one order whoever asks, and reads it. */
  load(needs: BatchNeeds): Promise<BatchFacts>;
  /**
   * What the arrival's hook brought between this delivery and the arrival, whichever came first: an act of one of these facts (see `isOneOf`), or else something
   * that is not decided yet. It sees what was written.
   */
  receivedBetween(
    first: TextAct,
    arrival: Arrival,
    factKeys: readonly string[],
  ): Promise<'opposite' | 'undecided' | 'nothing'>;
  /** May be called again, for other arrivals. */
  write(news: readonly ArrivalNews[]): Promise<void>;
}

export interface ArrivalFilter {
  org?: string | undefined;
  limit: number;
  kind?: 'delivery' | 'entry' | undefined;
  /** Without those that were decided and whose events made no run that changed something. */
  changed?: boolean | undefined;
  /** Id of an arrival: those before it. */
  before?: string | undefined;
  /** Somebody who sees a part of an organization sees arrivals that have events and all of whose events are visible. Default: everything. */
  visibility?: Visibility | undefined;
}

export const arrivalSummary = z.object({
  id: text,
  kind: z.enum(['delivery', 'entry']),
  org: text,
  hook: maybeText,
  source: z.enum(['webhook', ...ENTRY_SOURCES]),
  eventType: text,
  deliveryId: maybeText,
  state: word<ArrivalState>(),
  reason: maybeText,
  /** Names the reason for programs; null where there is none. */
  code: maybeText,
  eventId: maybeText,
  /** Of all events that it tells, in order; `eventId` names the first. */
  eventKinds: z.array(word<EventKind>()),
  /** Of those events, in the same order. */
  eventIds: z.array(text),
  repeats: count,
  verdict: z.enum(['signed', 'unsigned']).nullable(),
  at: time,
  archivedAt: maybeTime,
});
export type ArrivalSummary = Shape<typeof arrivalSummary>;

/** One of the arrivals that tell an event. */
export interface ArrivalOfEvent {
  readonly id: string;
  readonly source: EventSource;
  readonly at: Date;
  /** Null of an entry. */
  readonly hook: string | null;
  readonly deliveryId: string | null;
  /** Equal deliveries that came after it. */
  readonly repeats: number;
}

export interface Backlog {
  readonly arrivals: number;
  readonly events: number;
}

export interface HookBytes {
  readonly hook: string;
  readonly bytes: number;
}

/** The inbox: arrivals as they came. */
export abstract class InboxStore {
  /** One commit for all. One whose id is known is stored already. Needs no right but to insert arrivals. */
  abstract storeDeliveries(batch: readonly NewDelivery[]): Promise<void>;
  /**
   * One commit for all; an entry key already known is a duplicate. Answers in order.
   * With `closed`, new rows are kept as known only: state `decided` with this reason, never due (history from before the first start).
   */
  abstract storeEntries(batch: readonly NewEntry[], closed?: { reason: string; code?: string }): Promise<Stored[]>;
  /** Which of these entry keys are known already. */
  abstract knownEntries(forge: string, org: string, source: EntrySource, keys: readonly string[]): Promise<Set<string>>;
  /**
   * Ids of arrivals in state `stored`, oldest first.
   * @param line those of one organization, without these, without those that are put off, and without those that are being decided at this moment. Default: all
   */
  abstract dueArrivals(
    limit: number,
    line?: { readonly org: string; readonly except: readonly string[] },
  ): Promise<string[]>;
  abstract get(id: string): Promise<Arrival | null>;
  /** Without deliveries that are counted with another. */
  abstract list(filter: ArrivalFilter): Promise<ArrivalSummary[]>;
  /** Runs the work in one transaction, again from its start on 40001/40P01. */
  abstract inBatch<T>(work: (batch: ArrivalBatch) => Promise<T>): Promise<T>;
  /** Leave these arrivals alone for so long. */
  abstract putOff(ids: readonly string[], ms: number): Promise<void>;
  /** Events that the arrival tells, in order. */
  abstract eventsOfArrival(arrivalId: string): Promise<string[]>;
  /** Arrivals that tell the event, the one that made it first; with `visibility`, those that tell nothing beyond it. Default: everything. */
  abstract arrivalsOfEvent(eventId: string, visibility?: Visibility): Promise<ArrivalOfEvent[]>;
  abstract event(id: string): Promise<ForgeEvent | null>;
  /**
   * Ids of the repositories of which a delivery told events of these kinds, each once.
   * @param since deliveries that were received before it do not count, by the clock of their receiver
   */
  abstract repositoriesTold(
    place: { readonly forge: string; readonly org: string },
    kinds: readonly EventKind[],
    since: Date,
  ): Promise<string[]>;
  /** Whether an event of one of these facts was stored for the organization after this one. */
  abstract isStoredSince(event: ForgeEvent, factKeys: readonly string[]): Promise<boolean>;
  /**
   * Events of the same fact, organization and actor (by number) that were stored before this one, within `EARLIER_MS` of it, oldest first, a page of `EARLIER_PAGE`;
   * without those that the forge did not confirm to this rule.
   * @param after the last event of the page before; null = the first page
   */
  abstract toldEarlier(eventId: string, rule: string, after: string | null): Promise<ForgeEvent[]>;
  /** What was read of it: it stands in the place of what the event does not know, whoever told more meanwhile. */
  abstract learn(eventId: string, knowledge: Pick<ForgeEvent, 'data' | 'repo'>): Promise<void>;
  /**
   * Give up bodies and texts of what is not `stored` any more and arrived before this time, the oldest first; ids, keys, hashes and events
   * stay, so that an equal arrival is a duplicate for ever. Answers how many, at most `limit`.
   */
  abstract archive(before: Date, limit: number): Promise<number>;
  /**
   * Ids of events not yet matched against rules, oldest first.
   * @param org default: of all
   */
  abstract undecidedEvents(limit: number, org?: string): Promise<string[]>;
  /**
   * Takes undecided events of an organization, oldest first; nobody else is given them for `leaseMs`. Of one object the oldest undecided event alone is given,
   * so that its events are decided in the order in which they were stored.
   */
  abstract claimEvents(org: string, limit: number, except: readonly string[], leaseMs: number): Promise<ForgeEvent[]>;
  /**
   * How many arrivals are in state `stored`, and how many events are not matched against rules, at one moment. What an arrival tells
   * is not known yet: somebody who sees a part of an organization sees none of these. Default: everything.
   */
  abstract backlog(visibility?: Visibility): Promise<Backlog>;
  /** Bytes of deliveries in state `stored`, of each hook that has some. Receivers may ask it, who may read no delivery. */
  abstract undecidedBytes(): Promise<HookBytes[]>;
}

export const EARLIER_MS = 7_200_000;
export const EARLIER_PAGE = 100;
