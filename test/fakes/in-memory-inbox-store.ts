import type { Visibility } from '../../src/core/visibility.js';
import { wholeVisibility } from './whole-visibility.js';
import type { EventKind } from '../../src/core/event-kinds.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { firstIdAt } from '../../src/core/ids.js';
import { withRead, withTold } from '../../src/core/event-knowledge.js';
import { readText } from '../../src/core/json-bytes.js';
import type { JsonObject } from '../../src/core/json.js';
import { isOneOf } from '../../src/events/equal-texts.js';
import type { StatedObject } from '../../src/events/derive/derive-facts.js';
import {
  sourceOf,
  type Arrival,
  type ArrivalState,
  type NewDelivery,
  type NewEntry,
  type Stored,
} from '../../src/core/arrival.js';
import type { Doubt } from '../../src/pipeline/recovery-store.port.js';
import type {
  ArrivalBatch,
  ArrivalFilter,
  ArrivalNews,
  ArrivalOfEvent,
  ArrivalSummary,
  Backlog,
  EventDecision,
  FactNeed,
  FoundEvent,
  HookBytes,
  InboxStore,
  KnownObject,
  TextAct,
  Touched,
} from '../../src/pipeline/inbox-store.port.js';
import { EARLIER_MS, EARLIER_PAGE, isOpenTo, MOST_CANDIDATES } from '../../src/pipeline/inbox-store.port.js';

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
      .filter(
        ({ arrival: { id, org } }) =>
          !line || (org === line.org && !line.except.includes(id) && (this.dueAtMs.get(id) ?? 0) <= this.nowMs()),
      )
      .slice(0, limit)
      .map(({ arrival }) => arrival.id);
  }

  async get(id: string): Promise<Arrival | null> {
    const row = this.rows.get(id);
    return row ? { ...row.arrival } : null;
  }

  async list(filter: ArrivalFilter): Promise<ArrivalSummary[]> {
    wholeVisibility(filter.visibility);
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

  async inBatch<T>(work: (batch: ArrivalBatch) => Promise<T>): Promise<T> {
    const turn = this.last.then(() => this.transaction(work));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** Until when each arrival is left alone, in ms. */
  private readonly dueAtMs = new Map<string, number>();

  async putOff(ids: readonly string[], ms: number): Promise<void> {
    for (const id of ids) this.dueAtMs.set(id, this.nowMs() + ms);
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

  async repositoriesTold(
    { forge, org }: { readonly forge: string; readonly org: string },
    kinds: readonly EventKind[],
    since: Date,
  ): Promise<string[]> {
    const ids = [...this.rows.values()]
      .filter(({ arrival }) => arrival.kind === 'delivery' && arrival.id >= firstIdAt(since))
      .flatMap(({ eventIds }) => eventIds)
      .map((id) => this.events.get(id))
      .filter((event) => event?.forge === forge && event.org === org && kinds.includes(event.kind))
      .flatMap((event) => event?.repo?.id ?? []);
    return [...new Set(ids)];
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

  async claimEvents(org: string, limit: number, except: readonly string[], leaseMs: number): Promise<ForgeEvent[]> {
    const nowMs = this.nowMs();
    const undecided = await this.undecidedEvents(Infinity, org);
    const ids = undecided
      .filter((id) => !except.includes(id) && (this.claimedUntilMs.get(id) ?? 0) <= nowMs)
      .filter((id) => this.ignoresOrder || !this.isBehindAnother(id))
      .slice(0, limit);
    for (const id of ids) this.claimedUntilMs.set(id, nowMs + leaseMs);
    return ids.flatMap((id) => this.events.get(id) ?? []);
  }

  async backlog(visibility: Visibility = null): Promise<Backlog> {
    wholeVisibility(visibility);
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

  /** What it writes is kept when the work ends well. */
  private async transaction<T>(work: (batch: ArrivalBatch) => Promise<T>): Promise<T> {
    const written = new Map<string, ArrivalNews>();
    const answer = await work({
      claim: async (ids) =>
        [...this.rows.values()].flatMap(({ arrival }) =>
          ids.includes(arrival.id) && arrival.state === 'stored' ? [{ ...arrival }] : [],
        ),
      load: async ({ org, facts, objects, texts, effects, orderKeys }) => ({
        facts: facts.map((need) => this.eventsOfFact(org, need)),
        objects: objects.map(({ forge, object }) => this.knownObject(stateKey(forge, org, object))),
        texts: texts.map(({ key }) => this.actOf(this.byTextKey.get(key))),
        effects: await Promise.all(effects.map((key) => this.isKnown(org, { effectKeys: [key], orderKey: null }))),
        orderKeys: await Promise.all(orderKeys.map((orderKey) => this.isKnown(org, { effectKeys: [], orderKey }))),
      }),
      receivedBetween: async (first, arrival, factKeys) =>
        this.receivedBetween(first.id, arrival.id, factKeys, written),
      write: async (news) => {
        for (const one of news) written.set(one.arrival.id, one);
      },
    });
    for (const news of written.values()) await this.keep(news);
    return answer;
  }

  private knownObject(key: string): KnownObject {
    const isOpen = [...this.events.keys()].some((id) => this.objects.get(id) === key && !this.isDecided(id));
    return { state: this.states.get(key) ?? null, isOpen };
  }

  private async keep({
    arrival: { id, org },
    made,
    joined,
    additions: told,
    objectStates: kept,
    closed,
    claimed,
    countedWith,
  }: ArrivalNews) {
    const row = this.rows.get(id);
    if (!row) return;
    if (claimed && row.arrival.kind === 'delivery') {
      row.arrival.eventType = claimed.eventType;
      this.byTextKey.set(claimed.key, id);
    }
    const first = countedWith === null ? undefined : this.rows.get(countedWith);
    if (first) {
      first.arrival.repeats += 1;
      Object.assign(row.arrival, { text: '', body: Buffer.alloc(0), archivedAt: new Date() });
    }
    for (const { event, discussionKey, object, decision } of made) {
      this.events.set(event.id, event);
      if (object) this.objects.set(event.id, stateKey(event.forge, event.org, object));
      if (discussionKey !== undefined) this.discussions.set(event.id, discussionKey);
      if (decision) await this.recordDecision(event.id, decision);
    }
    for (const { eventId, details: news, from } of told) {
      const event = this.events.get(eventId);
      if (event) this.events.set(eventId, { ...event, ...withTold(event, news, from) });
    }
    for (const { forge, object, state } of kept) this.states.set(stateKey(forge, org, object), state);
    row.eventIds.push(...joined);
    row.arrival.eventId ??= joined[0] ?? null;
    const ended = closed ?? (joined.length > 0 ? { state: 'decided' as const, reason: null, code: null } : null);
    if (!ended) return;
    row.arrival.state = ended.state;
    row.reason = ended.reason;
    row.code = ended.code;
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
    written: ReadonlyMap<string, ArrivalNews>,
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
    const toldBy = ({ arrival, eventIds }: Row): readonly string[] => written.get(arrival.id)?.joined ?? eventIds;
    const made = new Map([...written.values()].flatMap((news) => news.made.map(({ event }) => [event.id, event])));
    const told = between.flatMap((row) =>
      toldBy(row).map((id) => (this.events.get(id) ?? made.get(id))?.factKey ?? ''),
    );
    if (told.some((key) => isOneOf(key, factKeys))) return 'opposite';
    return between.some(({ arrival }) => arrival.state === 'stored' && !written.has(arrival.id))
      ? 'undecided'
      : 'nothing';
  }

  private eventsOfFact(org: string, { forge, factKey, discussionKey, source }: FactNeed): FoundEvent[] {
    const found = [...this.events.values()].flatMap((event): FoundEvent[] => {
      const { id, kind, factAt } = event;
      const discussion = this.discussions.get(id);
      const isOfDiscussion = discussionKey !== undefined && discussion === discussionKey;
      if (event.forge !== forge || event.org !== org || !(isOfDiscussion || event.factKey === factKey)) return [];
      const sources = [...this.rows.values()]
        .filter((row) => row.eventIds.includes(id))
        .map(({ arrival }) => sourceOf(arrival));
      if (!isOfDiscussion && !(sources.length > 0 && isOpenTo(source, sources))) return [];
      const data = discussion === undefined ? {} : event.data;
      const deniedAt = this.isDenied(id) ? event.storedAt : null;
      return [{ id, kind, factKey: event.factKey, factAt, data, sources, deniedAt, isOfDiscussion }];
    });
    return found.slice(-MOST_CANDIDATES);
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
