import type { Sight } from '../../src/core/sight.js';
import { wholeSight } from './whole-sight.js';
import type { EventSource, ForgeEvent } from '../../src/core/event.js';
import { withRead, withTold } from '../../src/core/event-knowledge.js';
import { readText } from '../../src/core/json-bytes.js';
import type { JsonObject } from '../../src/core/json.js';
import { isOneOf } from '../../src/events/equal-texts.js';
import type { StatedObject } from '../../src/events/derive/derive-facts.js';
import type { Arrival, ArrivalState, NewDelivery, NewEntry, Stored } from '../../src/core/arrival.js';
import type { Doubt } from '../../src/pipeline/recovery-store.port.js';
import type {
  ArrivalDecision,
  ArrivalFilter,
  ArrivalOfEvent,
  ArrivalSummary,
  Backlog,
  DecisionNeeds,
  EventDecision,
  HookBytes,
  InboxStore,
  TextAct,
  ToldEvent,
  Touched,
} from '../../src/pipeline/inbox-store.port.js';
import { EARLIER_MS, EARLIER_PAGE } from '../../src/pipeline/inbox-store.port.js';

interface Row {
  arrival: Arrival;
  reason: string | null;
  code: string | null;
  eventIds: string[];
}

/** Twin of the database's inbox for tests without one: the same rules, one process, nothing kept. Both run the conformance suite. */
export class InMemoryInboxStore implements InboxStore {
  private readonly rows = new Map<string, Row>();
  /** By the key under which a delivery counts. */
  private readonly byTextKey = new Map<string, string>();
  private readonly byEntryKey = new Map<string, string>();
  private readonly events = new Map<string, ForgeEvent>();
  private readonly objects = new Map<string, string>();
  private readonly discussions = new Map<string, string>();
  private readonly states = new Map<string, JsonObject>();
  /** Decisions run one after the other, as the lock of a fact would have it at the worst. */
  private last: Promise<unknown> = Promise.resolve();

  async storeDeliveries(batch: readonly NewDelivery[]): Promise<void> {
    for (const delivery of batch) {
      if (this.rows.has(delivery.id)) continue;
      const read = readText(delivery.contentType, delivery.body);
      this.rows.set(delivery.id, {
        arrival: {
          ...delivery,
          ...read,
          kind: 'delivery',
          state: 'stored',
          eventId: null,
          repeats: 0,
          archivedAt: null,
        },
        reason: null,
        code: null,
        eventIds: [],
      });
    }
  }

  async storeEntries(batch: readonly NewEntry[], closed?: { reason: string; code?: string }): Promise<Stored[]> {
    return batch.map((entry) => {
      const key = entryKey(entry.forge, entry.org, entry.source, entry.entryKey);
      const known = this.byEntryKey.get(key);
      if (known !== undefined) return { id: known, duplicate: true };
      this.byEntryKey.set(key, entry.id);
      const state: ArrivalState = closed ? 'decided' : 'stored';
      this.rows.set(entry.id, {
        arrival: { kind: 'entry', ...entry, state, eventId: null, repeats: 0, archivedAt: null },
        reason: closed?.reason ?? null,
        code: closed?.code ?? null,
        eventIds: [],
      });
      return { id: entry.id, duplicate: false };
    });
  }

  async knownEntries(
    forge: string,
    org: string,
    source: 'feed' | 'tasks',
    keys: readonly string[],
  ): Promise<Set<string>> {
    return new Set(keys.filter((key) => this.byEntryKey.has(entryKey(forge, org, source, key))));
  }

  async dueArrivals(
    limit: number,
    line?: { readonly org: string; readonly except: readonly string[] },
  ): Promise<string[]> {
    return [...this.rows.values()]
      .filter(({ arrival }) => arrival.state === 'stored')
      .filter(({ arrival: { id, org } }) => !line || (org === line.org && !line.except.includes(id)))
      .slice(0, limit)
      .map(({ arrival }) => arrival.id);
  }

  async get(id: string): Promise<Arrival | null> {
    const row = this.rows.get(id);
    return row ? { ...row.arrival } : null;
  }

  async list(filter: ArrivalFilter): Promise<ArrivalSummary[]> {
    wholeSight(filter.sight);
    return [...this.rows.values()]
      .reverse()
      .filter(
        ({ arrival, code }) =>
          code !== 'duplicate' &&
          (filter.before === undefined || arrival.id < filter.before) &&
          (filter.org === undefined || arrival.org.toLowerCase() === filter.org.toLowerCase()) &&
          (filter.kind === undefined || arrival.kind === filter.kind),
      )
      .slice(0, filter.limit)
      .map((row) => this.summaryOf(row));
  }

  async decide<T, Read extends DecisionNeeds = DecisionNeeds>(
    arrivalId: string,
    decide: (tx: ArrivalDecision, read: Read) => Promise<T>,
    prepare: (arrival: Arrival) => Read = () => ({}) as Read,
  ): Promise<T | null> {
    const turn = this.last.then(() => this.decideNow(arrivalId, decide, prepare));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  async eventsOfArrival(arrivalId: string): Promise<string[]> {
    return this.eventsToldBy(arrivalId);
  }

  async arrivalsOfEvent(eventId: string): Promise<ArrivalOfEvent[]> {
    const told = [...this.rows.values()].filter((row) => row.eventIds.includes(eventId));
    return told.map(({ arrival }) => ({
      id: arrival.id,
      source: sourceOf(arrival),
      at: arrival.kind === 'delivery' ? arrival.receivedAt : arrival.readAt,
      hook: arrival.kind === 'delivery' ? arrival.hook : null,
      deliveryId: arrival.kind === 'delivery' ? arrival.deliveryId : null,
      repeats: arrival.repeats,
    }));
  }

  async event(id: string): Promise<ForgeEvent | null> {
    return this.events.get(id) ?? null;
  }

  async learn(eventId: string, known: Pick<ForgeEvent, 'data' | 'repo'>): Promise<void> {
    const event = this.events.get(eventId);
    if (event) this.events.set(eventId, { ...event, ...withRead(event, known) });
  }

  async isStoredSince(event: ForgeEvent, factKeys: readonly string[]): Promise<boolean> {
    const ids = [...this.events.keys()];
    return [...this.events.values()].some(
      (one) =>
        one.forge === event.forge &&
        one.org === event.org &&
        factKeys.includes(one.factKey) &&
        ids.indexOf(one.id) > ids.indexOf(event.id),
    );
  }

  async toldEarlier(eventId: string, rule: string, after: string | null): Promise<ForgeEvent[]> {
    const all = [...this.events.values()];
    const event = this.events.get(eventId);
    if (!event) return [];
    const last = all.findIndex(({ id }) => id === after);
    return all
      .slice(last + 1, all.indexOf(event))
      .filter(
        (one) =>
          one.forge === event.forge &&
          one.org === event.org &&
          one.factKey === event.factKey &&
          one.actor !== null &&
          one.actor.id === event.actor?.id &&
          one.storedAt.getTime() > event.storedAt.getTime() - EARLIER_MS &&
          !this.isDenied(one.id, rule),
      )
      .slice(0, EARLIER_PAGE);
  }

  private isBehindAnother(eventId: string): boolean {
    const ids = this.openOfObject(eventId);
    return (
      ids.length > 0 &&
      ids.indexOf(eventId) !== 0 &&
      [...this.events.keys()].indexOf(ids[0] ?? '') < [...this.events.keys()].indexOf(eventId)
    );
  }

  /**
   * What speaks against what an event tells of its object, as the database says it: null = nothing does.
   * @param isLate whether the run that it caused has waited since
   */
  doubtOf(eventId: string, isLate = false): Doubt | null {
    const object = this.objects.get(eventId);
    const event = this.events.get(eventId);
    if (object === undefined || !event) return null;
    const [before, others] = [this.ofObject(object, eventId), this.ofObject(object)];
    const { factAt } = event;
    if (factAt && before.some((other) => other.factAt && other.factAt > factAt))
      return { event, because: 'out-of-order' };
    const ids = new Set(others.map(({ id }) => id));
    const isRepeated = [...this.rows.values()].some(
      ({ arrival, eventIds }) => arrival.repeats > 0 && eventIds.some((id) => ids.has(id)),
    );
    if (isRepeated) return { event, because: 'told-again' };
    return isLate ? { event, because: 'late' } : null;
  }

  /** Events of an object, oldest first: all of them, or those that were stored before one. */
  private ofObject(object: string, before?: string): ForgeEvent[] {
    const all = [...this.events.values()].filter(({ id }) => this.objects.get(id) === object);
    return before === undefined
      ? all
      : all.slice(
          0,
          all.findIndex(({ id }) => id === before),
        );
  }

  /** Undecided events of the same object, oldest first. */
  private openOfObject(eventId: string): string[] {
    const object = this.objects.get(eventId);
    return object === undefined
      ? []
      : [...this.events.keys()].filter((id) => this.objects.get(id) === object && !this.isDecided(id));
  }

  /** What was decided stands in the journal: by itself this store takes all for decided. */
  protected isDecided(_eventId: string): boolean {
    return true;
  }

  /** What was refused stands in the journal: by itself this store knows of nothing. */
  protected isDenied(_eventId: string, _rule?: string): boolean {
    return false;
  }

  /** What was sent stands in the journal: by itself this store knows of nothing. */
  protected async isKnown(_org: string, _touched: Touched): Promise<boolean> {
    return false;
  }

  /** Into the journal, in the same commit. */
  protected async recordDecision(_eventId: string, _decision: EventDecision): Promise<void> {
    throw new Error('this store has no journal');
  }

  /** What is quarantined is due again. */
  reopen(arrivalId: string): boolean {
    const row = this.rows.get(arrivalId);
    if (row?.arrival.state !== 'quarantined' || row.arrival.archivedAt) return false;
    row.arrival.state = 'stored';
    if (row.code === 'act_too_old') row.arrival.isAgeAccepted = true;
    row.reason = null;
    row.code = null;
    return true;
  }

  async archive(before: Date, limit: number): Promise<number> {
    const old = [...this.rows.values()].filter(
      ({ arrival }) => arrival.state !== 'stored' && !arrival.archivedAt && arrivedAt(arrival) < before,
    );
    const given = old.sort((a, b) => arrivedAt(a.arrival).getTime() - arrivedAt(b.arrival).getTime()).slice(0, limit);
    for (const { arrival } of given)
      Object.assign(
        arrival,
        { text: '', archivedAt: new Date() },
        arrival.kind === 'delivery' ? { body: Buffer.alloc(0) } : {},
      );
    return given.length;
  }

  async undecidedEvents(limit: number, org?: string): Promise<string[]> {
    return [...this.events.values()]
      .filter((event) => org === undefined || event.org === org)
      .slice(0, limit)
      .map(({ id }) => id);
  }

  /** By which clock leases run out. */
  protected nowMs(): number {
    return Date.now();
  }

  /** Until when each event is in hand, in ms. */
  private readonly claimedUntilMs = new Map<string, number>();
  /** A bug for tests: what stands behind another of its object is given too. */
  ignoresOrder = false;

  async claimEvents(org: string, limit: number, except: readonly string[], leaseMs: number): Promise<string[]> {
    const nowMs = this.nowMs();
    const undecided = await this.undecidedEvents(Infinity, org);
    const ids = undecided
      .filter((id) => !except.includes(id) && (this.claimedUntilMs.get(id) ?? 0) <= nowMs)
      .filter((id) => this.ignoresOrder || !this.isBehindAnother(id))
      .slice(0, limit);
    for (const id of ids) this.claimedUntilMs.set(id, nowMs + leaseMs);
    return ids;
  }

  async backlog(sight: Sight = null): Promise<Backlog> {
    wholeSight(sight);
    return {
      arrivals: (await this.dueArrivals(Infinity)).length,
      events: (await this.undecidedEvents(Infinity)).length,
    };
  }

  async undecidedBytes(): Promise<HookBytes[]> {
    const bytes = new Map<string, number>();
    for (const { arrival } of this.rows.values())
      if (arrival.kind === 'delivery' && arrival.state === 'stored')
        bytes.set(arrival.hook, (bytes.get(arrival.hook) ?? 0) + arrival.body.length);
    return [...bytes].map(([hook, each]) => ({ hook, bytes: each }));
  }

  /** Every event stored, oldest first: for tests to look at. */
  allEvents(): ForgeEvent[] {
    return [...this.events.values()];
  }

  /** Arrivals that are not decided. */
  openCount(): number {
    let count = 0;
    for (const { arrival } of this.rows.values()) if (arrival.state === 'stored') count += 1;
    return count;
  }

  /** Whether an arrival of this text is kept. */
  holds(text: string): boolean {
    for (const { arrival } of this.rows.values()) if (arrival.text === text) return true;
    return false;
  }

  /** Events that an arrival tells, the first one first. */
  eventsToldBy(arrivalId: string): string[] {
    return [...(this.rows.get(arrivalId)?.eventIds ?? [])];
  }

  private async decideNow<T, Read extends DecisionNeeds>(
    arrivalId: string,
    decide: (tx: ArrivalDecision, read: Read) => Promise<T>,
    prepare: (arrival: Arrival) => Read,
  ): Promise<T | null> {
    const row = this.rows.get(arrivalId);
    if (!row || row.arrival.state !== 'stored') return null;
    // Written only when `decide` ends well: a transaction.
    const inserted: ForgeEvent[] = [];
    const decisions = new Map<string, EventDecision>();
    const joined: string[] = [];
    const kept = new Map<string, JsonObject>();
    let end: { state: ArrivalState; reason: string | null; code: string | null } | null = null;
    let claimed: { key: string; eventType: string } | null = null;
    let countedWith: string | null = null;
    const told: Array<() => void> = [];
    const { org } = row.arrival;
    const arrival = { ...row.arrival };
    const tx: ArrivalDecision = {
      arrival,
      actsOfText: async (keys) => keys.map((key) => this.actOf(this.byTextKey.get(key))),
      receivedBetween: async (first, factKeys) => this.receivedBetween(first.id, arrivalId, factKeys),
      claimText: async (key, eventType) => void (claimed = { key, eventType }),
      countWith: async ({ id }) => void (countedWith = id),
      eventsOfFact: async (forge, factKey, discussionKey) =>
        this.eventsOfFact(row.arrival, forge, factKey, discussionKey, inserted),
      objectState: async (forge, object) =>
        kept.get(stateKey(forge, org, object)) ?? this.states.get(stateKey(forge, org, object)) ?? null,
      keepObjectState: async (forge, object, state) => void kept.set(stateKey(forge, org, object), state),
      hasUndecided: async (forge, object) => {
        const key = stateKey(forge, org, object);
        const isOfObject = (id: string): boolean => this.objects.get(id) === key;
        return (
          [...this.events.keys()].some((id) => isOfObject(id) && !this.isDecided(id)) ||
          inserted.some(({ id }) => isOfObject(id) && !decisions.has(id))
        );
      },
      isKnown: async (touched) => this.isKnown(org, touched),
      insertEvent: async (event, discussionKey, object, decision = null) => {
        inserted.push(event);
        if (decision) decisions.set(event.id, decision);
        if (object) this.objects.set(event.id, stateKey(event.forge, event.org, object));
        if (discussionKey !== undefined) this.discussions.set(event.id, discussionKey);
      },
      join: async (eventId) => {
        joined.push(eventId);
        end ??= { state: 'decided', reason: null, code: null };
      },
      tell: async (eventId, news, from) =>
        void told.push(() => {
          const event = this.events.get(eventId);
          if (event) this.events.set(eventId, { ...event, ...withTold(event, news, from) });
        }),
      close: async (state, reason, code = null) => void (end = { state, reason, code }),
    };
    const answer = await decide(tx, prepare(arrival));
    for (const change of told) change();
    const [claim, first] = [claimed as { key: string; eventType: string } | null, countedWith as string | null];
    if (claim && row.arrival.kind === 'delivery') {
      row.arrival.eventType = claim.eventType;
      this.byTextKey.set(claim.key, arrivalId);
    }
    const firstRow = first === null ? undefined : this.rows.get(first);
    if (firstRow) {
      firstRow.arrival.repeats += 1;
      Object.assign(row.arrival, { text: '', body: Buffer.alloc(0), archivedAt: new Date() });
    }
    for (const event of inserted) this.events.set(event.id, event);
    for (const [id, decision] of decisions) await this.recordDecision(id, decision);
    for (const [key, state] of kept) this.states.set(key, state);
    row.eventIds.push(...joined);
    row.arrival.eventId ??= joined[0] ?? null;
    const ended = end as { state: ArrivalState; reason: string | null; code: string | null } | null;
    if (ended) {
      row.arrival.state = ended.state;
      row.reason = ended.reason;
      row.code = ended.code;
    }
    return answer;
  }

  private actOf(id: string | undefined): TextAct | null {
    const arrival = id === undefined ? undefined : this.rows.get(id)?.arrival;
    if (arrival?.kind !== 'delivery') return null;
    const { hook, deliveryId, receivedAt } = arrival;
    return { id: arrival.id, hook, deliveryId, receivedAt };
  }

  private receivedBetween(
    one: string,
    other: string,
    factKeys: readonly string[],
  ): 'opposite' | 'undecided' | 'nothing' {
    const rows = [...this.rows.values()];
    const [from = 0, to = 0] = [one, other]
      .map((id) => rows.findIndex(({ arrival }) => arrival.id === id))
      .sort((a, b) => a - b);
    const [begins, ends] = [rows[from], rows[to]].map((row) => row?.arrival as Arrival & { kind: 'delivery' });
    if (!begins || !ends) return 'nothing';
    const times = [begins, ends].map(({ receivedAt }) => receivedAt.getTime());
    const between = rows
      .slice(from + 1, to)
      .filter(
        ({ arrival }) =>
          arrival.kind === 'delivery' &&
          arrival.hook === begins.hook &&
          arrival.receivedAt.getTime() >= Math.min(...times) &&
          arrival.receivedAt.getTime() <= Math.max(...times),
      );
    const told = between.flatMap(({ eventIds }) => eventIds.map((id) => this.events.get(id)?.factKey ?? ''));
    if (told.some((key) => isOneOf(key, factKeys))) return 'opposite';
    return between.some(({ arrival }) => arrival.state === 'stored') ? 'undecided' : 'nothing';
  }

  private eventsOfFact(
    arrival: Arrival,
    forge: string,
    factKey: string,
    discussionKey: string | undefined,
    inserted: readonly ForgeEvent[],
  ): ToldEvent[] {
    const own = sourceOf(arrival);
    return [...this.events.values(), ...inserted].flatMap((event): ToldEvent[] => {
      const { id, kind, factAt } = event;
      const discussion = this.discussions.get(id);
      const isOfDiscussion = discussionKey !== undefined && discussion === discussionKey;
      if (event.forge !== forge || event.org !== arrival.org || !(isOfDiscussion || event.factKey === factKey))
        return [];
      const sources = [...this.rows.values()]
        .filter((row) => row.eventIds.includes(id))
        .map(({ arrival }) => sourceOf(arrival));
      const isOpen =
        sources.length > 0 &&
        (own === 'lists' || sources.every((told) => told === 'lists' || (told === 'webhook') !== (own === 'webhook')));
      if (!isOfDiscussion && !isOpen) return [];
      const data = discussion === undefined ? {} : event.data;
      const deniedAt = this.isDenied(id) ? event.storedAt : null;
      return [{ id, kind, factKey: event.factKey, factAt, data, sources, deniedAt }];
    });
  }

  private summaryOf({ arrival, reason, code, eventIds }: Row): ArrivalSummary {
    const delivery = arrival.kind === 'delivery' ? arrival : null;
    return {
      id: arrival.id,
      kind: arrival.kind,
      org: arrival.org,
      hook: delivery?.hook ?? null,
      source: sourceOf(arrival),
      eventType: delivery?.eventType ?? (arrival.kind === 'entry' ? arrival.entryKey : ''),
      deliveryId: delivery?.deliveryId ?? null,
      state: arrival.state,
      reason,
      code,
      eventId: arrival.eventId,
      eventIds,
      eventKinds: eventIds.flatMap((id) => this.events.get(id)?.kind ?? []),
      repeats: arrival.repeats,
      verdict: delivery?.verdict ?? null,
      at: arrivedAt(arrival),
      archivedAt: arrival.archivedAt,
    };
  }
}

function entryKey(forge: string, org: string, source: string, key: string): string {
  return JSON.stringify([forge, org.toLowerCase(), source, key]);
}

function stateKey(forge: string, org: string, { repoId, kind, objectId }: StatedObject): string {
  return JSON.stringify([forge, org, repoId, kind, objectId]);
}

function arrivedAt(arrival: Arrival): Date {
  return arrival.kind === 'delivery' ? arrival.receivedAt : arrival.readAt;
}

function sourceOf(arrival: Arrival): EventSource {
  return arrival.kind === 'delivery' ? 'webhook' : arrival.source;
}
