import { z } from 'zod';
import type { Sight } from '../core/sight.js';
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
  readonly lane: string | null;
}

/** What the facts of one object are locked under, beside their own keys. */
export function keyOfObject({ repoId, kind, objectId }: StatedObject): string {
  return `state|${repoId}|${kind}|${objectId}`;
}

/** What the deliveries of one text are locked under. */
export function keyOfText(textKey: string): string {
  return `text|${textKey}`;
}

/**
 * What deciding about one arrival asks the store for, told before it begins: all of it is locked against every other decision until the commit, and read at once with what others
 * of the same batch ask for.
 */
export interface DecisionNeeds {
  readonly facts?: ReadonlyArray<{ readonly factKey: string; readonly discussionKey?: string | undefined }>;
  readonly objects?: readonly StatedObject[];
  /** Keys of texts (see `equal-texts.ts`). */
  readonly texts?: readonly string[];
  readonly touched?: readonly Touched[];
}

/** What deciding about one arrival may read and write, all inside one transaction. It reads what its needs name, and sees what was decided before it. */
export interface ArrivalDecision {
  readonly arrival: Arrival;
  /** The deliveries that count under these keys (see `equal-texts.ts`), in their order; null = none yet. */
  actsOfText(keys: readonly string[]): Promise<Array<TextAct | null>>;
  /**
   * What the arrival's hook brought between this delivery and the arrival, whichever came first: an act of one of these facts (see `isOneOf`), or
   * else something that is not decided yet.
   */
  receivedBetween(first: TextAct, factKeys: readonly string[]): Promise<'opposite' | 'undecided' | 'nothing'>;
  /** The delivery counts under this key, and is of this event type. */
  claimText(key: string, eventType: string): Promise<void>;
  /** The delivery is no act of its own: it is counted with the one that is, and its body is dropped. To be closed as well. */
  countWith(first: TextAct): Promise<void>;
  /**
   * The material for deduplication: events of this fact key that are open to this arrival, told by the other class of source alone (the
   * webhook, or the polls) or shown by a list alone, to a list all of them, and, where a discussion is given (see `EventFact.discussionKey`), all events of it. Oldest first; of many, the newest 200.
   * Only events of the arrival's organization: a body can name any repository number.
   */
  eventsOfFact(forge: string, factKey: string, discussionKey?: string): Promise<ToldEvent[]>;
  /** What was last kept about this object for the arrival's organization; null when nothing is. */
  objectState(forge: string, object: StatedObject): Promise<JsonObject | null>;
  /** Whether an event of this object and the arrival's organization is not decided yet. */
  hasUndecided(forge: string, object: StatedObject): Promise<boolean>;
  /** Whether any of this is known of the arrival's organization. */
  isKnown(touched: Touched): Promise<boolean>;
  keepObjectState(forge: string, object: StatedObject, state: JsonObject): Promise<void>;
  /**
   * @param object what it is about, whose events are decided in their order
   * @param decision what the rules made of it: it is decided, and nobody has to be woken. Default: it is to be decided
   */
  insertEvent(
    event: ForgeEvent,
    discussionKey?: string,
    object?: StatedObject | null,
    decision?: EventDecision | null,
  ): Promise<void>;
  /**
   * The arrival tells this event (new or existing). May be called for several events of one arrival (a feed row of a pushed
   * tag tells the push and the tag's creation): a join table (arrival, event) holds them all, `Arrival.eventId` the first.
   * Ends the arrival's state `stored`.
   */
  join(eventId: string): Promise<void>;
  /**
   * What the arrival tells stands in the place of what the event does not know (see `withLearned`).
   * @param from `DELIVERY` where a delivery tells it, else empty
   */
  tell(eventId: string, told: Pick<ForgeEvent, 'actor' | 'data'>, from: readonly string[]): Promise<void>;
  /**
   * The arrival makes no event, or (after `join`) something is to be said about it beside its event.
   * @param reason for people, visible in `forgehand deliveries`
   * @param code names the reason for programs; null = it has none
   */
  close(state: ArrivalState, reason: string, code?: string | null): Promise<void>;
}

export interface ArrivalFilter {
  org?: string | undefined;
  limit: number;
  kind?: 'delivery' | 'entry' | undefined;
  /** Without those that were decided and whose events made no run that changed something. */
  changed?: boolean | undefined;
  /** Id of an arrival: those before it. */
  before?: string | undefined;
  /** In a sight of a part of an organization are arrivals all of whose events are, and that have some. Default: everything. */
  sight?: Sight | undefined;
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
   * @param line those of one organization, without these and without those that are being decided at this moment. Default: all
   */
  abstract dueArrivals(
    limit: number,
    line?: { readonly org: string; readonly except: readonly string[] },
  ): Promise<string[]>;
  abstract get(id: string): Promise<Arrival | null>;
  /** Without deliveries that are counted with another. */
  abstract list(filter: ArrivalFilter): Promise<ArrivalSummary[]>;
  /**
   * Run `decide` in one transaction over a locked arrival; null when it is not `stored` any more. The whole is retried on 40001/40P01.
   * @param prepare what is read of the arrival before the store is asked, with all that `decide` will ask for; pure. Default: it asks for nothing
   */
  abstract decide<T, Read extends DecisionNeeds = DecisionNeeds>(
    arrivalId: string,
    decide: (tx: ArrivalDecision, read: Read) => Promise<T>,
    prepare?: (arrival: Arrival) => Read,
  ): Promise<T | null>;
  /** Events that the arrival tells, in order. */
  abstract eventsOfArrival(arrivalId: string): Promise<string[]>;
  /** Arrivals that tell the event, the one that made it first; in a sight, those that tell nothing beyond it. Default: everything. */
  abstract arrivalsOfEvent(eventId: string, sight?: Sight): Promise<ArrivalOfEvent[]>;
  abstract event(id: string): Promise<ForgeEvent | null>;
  /** Whether an event of one of these facts was stored for the organization after this one. */
  abstract isStoredSince(event: ForgeEvent, factKeys: readonly string[]): Promise<boolean>;
  /**
   * Events of the same fact, organization and actor (by number) that were stored before this one, within `EARLIER_MS` of it, oldest first, a page of `EARLIER_PAGE`;
   * without those that the forge did not confirm to this rule.
   * @param after the last event of the page before; null = the first page
   */
  abstract toldEarlier(eventId: string, rule: string, after: string | null): Promise<ForgeEvent[]>;
  /** What was read of it: it stands in the place of what the event does not know, whoever told more meanwhile. */
  abstract learn(eventId: string, known: Pick<ForgeEvent, 'data' | 'repo'>): Promise<void>;
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
  abstract claimEvents(org: string, limit: number, except: readonly string[], leaseMs: number): Promise<string[]>;
  /**
   * How many arrivals are in state `stored`, and how many events are not matched against rules, at one moment. What an arrival tells
   * is not known yet: in a sight of a part of an organization is none. Default: everything.
   */
  abstract backlog(sight?: Sight): Promise<Backlog>;
  /** Bytes of deliveries in state `stored`, of each hook that has some. Receivers may ask it, who may read no delivery. */
  abstract undecidedBytes(): Promise<HookBytes[]>;
}

export const EARLIER_MS = 7_200_000;
export const EARLIER_PAGE = 100;
