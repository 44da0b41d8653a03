import { decideBy } from '../../builders/decide-all.js';
import type { Clock } from '../../../src/core/clock.js';
import type { EntrySource, ForgeEvent } from '../../../src/core/event.js';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.js';
import type { EventDecision, Touched } from '../../../src/pipeline/inbox-store.port.js';
import type { Tick } from '../../../src/pipeline/tick-store.port.js';
import type { NewDelivery, Stored } from '../../../src/core/arrival.js';
import { InMemoryCursorStore } from '../../fakes/in-memory-cursor-store.js';
import { InMemoryInboxStore } from '../../fakes/in-memory-inbox-store.js';
import type {
  BeginWork,
  PoisonMessage,
  PoisonMessageStore,
  WatchedTopic,
} from '../../../src/pipeline/poison-message-store.port.js';
import type { Claim, NewAttempt } from '../../../src/pipeline/journal-store.port.js';
import type { RolloutRow } from '../../../src/pipeline/rollout-store.port.js';
import type { Doubt } from '../../../src/pipeline/recovery-store.port.js';
import type { Attempt, Intent } from '../../../src/core/run.js';
import { InMemorySeenRepositories } from '../../fakes/in-memory-seen-repositories.js';
import { InMemoryJournalStore, type Row } from '../../fakes/in-memory-journal-store.js';
import { InMemoryPlanStore } from '../../fakes/in-memory-plan-store.js';
import { InMemoryRolloutStore } from '../../fakes/in-memory-rollout-store.js';
import { InMemoryTickStore } from '../../fakes/in-memory-tick-store.js';

/** One database: what the journal decided is not due in the inbox and among the ticks any more, in the same commit. */
export class SimStores {
  readonly journal: SimJournal;
  readonly inbox: SimInbox;
  readonly ticks: SimTicks;
  readonly poisonMessages: SimDeadlyWork;
  readonly rollouts: SimRollouts;
  readonly plans: InMemoryPlanStore;
  readonly cursors: SimCursors;
  readonly seen = new InMemorySeenRepositories();

  /** Null = database time. */
  private told: Date | null = null;

  constructor(clock: Clock) {
    this.journal = new SimJournal({ now: () => this.told ?? clock.now(), monotonicMs: () => clock.monotonicMs() });
    this.inbox = new SimInbox(this.journal, clock);
    this.journal.hasUndecided = async () =>
      (await this.inbox.dueArrivals(1)).length > 0 || (await this.inbox.undecidedEvents(1)).length > 0;
    this.journal.undecidedLines = async () => [
      ...((await this.inbox.dueArrivals(1)).length > 0 ? [{ topic: 'arrivals' as const, org: 'acme' }] : []),
      ...((await this.inbox.undecidedEvents(1)).length > 0 ? [{ topic: 'events' as const, org: 'acme' }] : []),
    ];
    this.journal.doubtOf = (eventId, isLate) => this.inbox.doubtOf(eventId, isLate);
    this.ticks = new SimTicks(this.journal);
    this.rollouts = new SimRollouts(this.journal, clock);
    this.plans = new InMemoryPlanStore(() => clock.now());
    this.cursors = new SimCursors(clock);
    this.poisonMessages = new SimDeadlyWork(clock, this.inbox, this.journal, (id) => this.untimed(id));
  }

  private readonly timedIds = new Map<string, string>();
  private readonly realIds = new Map<string, string>();

  /** Ids are made by the real clock; this one tells the virtual time at which its row was stored, as one made by that process would. */
  timed(id: string): string {
    let timed = this.timedIds.get(id);
    if (timed === undefined) {
      const hex = Math.floor(this.inbox.storedAtMs(id)).toString(16).padStart(12, '0');
      timed = `${hex.slice(0, 8)}-${hex.slice(8)}-7${id.slice(15)}`;
      this.timedIds.set(id, timed);
      this.realIds.set(timed, id);
    }
    return timed;
  }

  untimed(id: string): string {
    return this.realIds.get(id) ?? id;
  }

  /** For a planted bug: the clock of whoever asks, in the place of the database's. */
  async byClock<Result>(now: Date, ask: () => Promise<Result>): Promise<Result> {
    this.told = now;
    const answer = ask();
    this.told = null;
    return answer;
  }
}

/** As the fake one, and with what planted bugs leave out. */
class SimJournal extends InMemoryJournalStore {
  /** Claims look at their own row alone. */
  ignoresOthers = false;
  /** Whoever says so may send. */
  isUnfenced = false;
  /** A budget holds the one step for which it is spent, and those behind it are in their order keys. */
  holdsOneStep = false;
  /** What stepped aside holds nothing back. */
  overlooksAside = false;
  /** Credentials that wait hold nothing back. */
  overlooksForges = false;

  constructor(private readonly time: Clock) {
    super(time);
  }

  /** The inbox of the same database knows in which order, and how often, an object was told about. */
  doubtOf: ((eventId: string, isLate: boolean) => Doubt | null) | null = null;

  override doubtOfRun(runId: string): Doubt | null {
    const cause = this.causeOf(runId);
    return cause?.kind === 'event' ? (this.doubtOf?.(cause.eventId, this.isLate(runId)) ?? null) : null;
  }

  /** Told right after the commit by which an event is decided. */
  onDecided: ((eventId: string) => void) | null = null;

  override async recordDecision(...args: Parameters<InMemoryJournalStore['recordDecision']>): Promise<string[]> {
    const [{ eventId }] = args;
    const isFirst = eventId !== undefined && !this.decidedEvents.has(eventId);
    const due = await super.recordDecision(...args);
    if (isFirst) this.onDecided?.(eventId);
    return due;
  }

  /** Told right after the commit of what a person said. */
  onConsent: ((intentIds: readonly string[], verdict: 'given' | 'denied') => void) | null = null;

  override async decideApproval(
    id: string,
    verdict: 'given' | 'denied',
    by: string,
    beside: string | null = null,
  ): Promise<string[]> {
    const decided = await super.decideApproval(id, verdict, by, beside);
    this.onConsent?.(decided, verdict);
    return decided;
  }

  override async markSent(intentId: string, epoch: number, attempt: NewAttempt): Promise<Attempt | null> {
    const row = this.isUnfenced ? [...this.peek()].find(({ intent }) => intent.id === intentId) : undefined;
    if (!row) return super.markSent(intentId, epoch, attempt);
    const current = row.intent.epoch;
    Object.assign(row, {
      intent: { ...row.intent, state: 'claimed' },
      leaseUntilMs: this.time.now().getTime() + 5_000,
    });
    const written = await super.markSent(intentId, current, attempt);
    const kept = this.peekAttempts().find(({ id }) => id === attempt.id);
    if (kept) Object.assign(kept, { epoch });
    return written;
  }

  /** Told right after the commit of a claim. */
  onClaimed: ((intent: Intent) => void) | null = null;

  override async claim(...args: Parameters<InMemoryJournalStore['claim']>): Promise<Claim[]> {
    const claims = await super.claim(...args);
    for (const { intent } of claims) this.onClaimed?.(intent);
    return claims;
  }

  protected override holdsOrder(row: Row): boolean {
    const { state, stepNo, runId } = row.intent;
    const isBehind = ({ intent }: Pick<Row, 'intent'>): boolean =>
      intent.runId === runId && intent.stepNo < stepNo && intent.held === true;
    return super.holdsOrder(row) || (this.holdsOneStep && state === 'planned' && [...this.peek()].some(isBehind));
  }

  protected override isBehindAside(row: Row, other: Row): boolean {
    return !this.overlooksAside && super.isBehindAside(row, other);
  }

  protected override isForgeHeld(intent: Intent): boolean {
    return !this.overlooksForges && super.isForgeHeld(intent);
  }

  /** Whether credentials wait, whatever a planted bug overlooks. */
  waitsForForge(intent: Intent): boolean {
    return super.isForgeHeld(intent);
  }

  /** Whether it was planned after an effect that stepped aside on an object that it writes or names. */
  waitsForObject(intent: Intent): boolean {
    const row = this.row(intent.id);
    return [...this.peek()].some(
      (other) => other.intent.orderKey === intent.orderKey && super.isBehindAside(row, this.row(other.intent.id)),
    );
  }

  protected override isClaimable(row: Row): boolean {
    return this.ignoresOthers ? row.intent.state === 'planned' && !this.isHeld(row) : super.isClaimable(row);
  }
}

class SimInbox extends InMemoryInboxStore {
  private readonly times = new Map<string, number>();

  constructor(
    private readonly journal: InMemoryJournalStore,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async storeDeliveries(batch: readonly NewDelivery[]): Promise<void> {
    await super.storeDeliveries(batch);
    for (const { id } of batch) this.times.set(id, this.times.get(id) ?? this.clock.now().getTime());
  }

  readonly entryKeys = new Set<string>();

  override async storeEntries(...args: Parameters<InMemoryInboxStore['storeEntries']>): Promise<Stored[]> {
    const [batch] = args;
    const stored = await super.storeEntries(...args);
    for (const { id, duplicate } of stored) if (!duplicate) this.times.set(id, this.clock.now().getTime());
    for (const { entryKey } of batch) this.entryKeys.add(entryKey);
    return stored;
  }

  /** Of an arrival or an event, in milliseconds since 1970; 0 = never. */
  storedAtMs(id: string): number {
    return (
      this.times.get(id) ??
      this.allEvents()
        .find((event) => event.id === id)
        ?.storedAt.getTime() ??
      0
    );
  }

  protected override nowMs(): number {
    return this.clock.monotonicMs();
  }

  protected override isDecided(eventId: string): boolean {
    return this.journal.decidedEvents.has(eventId);
  }

  protected override isDenied(eventId: string, rule?: string): boolean {
    return this.journal.isDenied(eventId, rule);
  }

  protected override async isKnown(org: string, { effectKeys, orderKey }: Touched): Promise<boolean> {
    const sent = await this.journal.sentOfEffects(effectKeys, Infinity);
    const isHeld = ({ intent }: Pick<Row, 'intent'>): boolean =>
      intent.org === org && intent.orderKey === orderKey && intent.state === 'planned' && intent.held === true;
    return sent.some(({ intent }) => intent.org === org) || [...this.journal.peek()].some(isHeld);
  }

  protected override async recordDecision(eventId: string, { by, runs }: EventDecision): Promise<void> {
    await this.journal.recordDecision({ eventId, by }, runs);
  }

  override async undecidedEvents(limit: number, org?: string): Promise<string[]> {
    const open = this.allEvents().filter(
      (event: ForgeEvent) => event.org === (org ?? event.org) && !this.journal.decidedEvents.has(event.id),
    );
    return open.slice(0, limit).map(({ id }) => id);
  }
}

class SimRollouts extends InMemoryRolloutStore {
  private readonly times = new Map<string, number>();

  constructor(
    journal: InMemoryJournalStore,
    private readonly clock: Clock,
  ) {
    super(journal);
  }

  override async add(...args: Parameters<InMemoryRolloutStore['add']>): Promise<boolean> {
    const isAdded = await super.add(...args);
    if (isAdded) this.times.set(args[0].id, this.clock.now().getTime());
    return isAdded;
  }

  /** By the database's clock; the row tells that of its process. */
  addedAtMs({ id }: Pick<RolloutRow, 'id'>): number {
    return this.times.get(id) ?? 0;
  }
}

class SimCursors extends InMemoryCursorStore {
  /** The first start, by the clock of the process that stored it. */
  private sinceMs = Infinity;
  /** When a process stored for the first time which rows were there before. */
  private historyMs = Infinity;

  constructor(private readonly clock: Clock) {
    super(() => clock.now());
  }

  protected override keep(forge: string, org: string, source: EntrySource, position: Json): void {
    super.keep(forge, org, source, position);
    if (!isJsonObject(position)) return;
    const { since, historyTo } = position;
    this.sinceMs = Math.min(this.sinceMs, Date.parse(String(since)));
    if (historyTo !== null) this.historyMs = Math.min(this.historyMs, this.clock.now().getTime());
  }

  /** Whether a row of the feed is news, and no history: it was made after the first start, or shown after all rows that were there before were known. */
  isNews({ atMs, row }: { readonly atMs: number; readonly row: JsonObject }): boolean {
    return atMs > this.historyMs || Date.parse(String(row.created)) >= this.sinceMs;
  }
}

interface Hand {
  readonly topic: WatchedTopic;
  readonly id: string;
  readonly since: Date;
  owner: string;
  leaseUntilMs: number;
  deaths: number;
  isQuarantined: boolean;
}

/** Twin of the database's: the same rules, with times of the simulation. */
class SimDeadlyWork implements PoisonMessageStore {
  private readonly rows = new Map<string, Hand>();

  constructor(
    private readonly clock: Clock,
    private readonly inbox: InMemoryInboxStore,
    private readonly journal: InMemoryJournalStore,
    /** Id in the other stores of what is called so here. */
    private readonly idOf: (id: string) => string,
  ) {}

  async begin({ ids, ...work }: BeginWork): Promise<ReadonlyMap<string, number>> {
    const begun = ids.map((id) => [id, this.beginOne(id, work)] as const);
    return new Map(begun.flatMap(([id, deaths]) => (deaths === null ? [] : [[id, deaths]])));
  }

  private beginOne(id: string, { topic, owner, leaseMs, dares }: Omit<BeginWork, 'ids'>): number | null {
    const now = this.clock.now();
    const row = this.rows.get(`${topic}/${id}`);
    if (!row) {
      this.rows.set(`${topic}/${id}`, {
        topic,
        id,
        owner,
        since: now,
        leaseUntilMs: now.getTime() + leaseMs,
        deaths: 0,
        isQuarantined: false,
      });
      return 0;
    }
    if (row.isQuarantined || row.leaseUntilMs > now.getTime() || !(dares > row.deaths || row.deaths >= 2)) return null;
    Object.assign(row, { owner, leaseUntilMs: now.getTime() + leaseMs, deaths: row.deaths + 1 });
    return row.deaths;
  }

  async renew(topic: WatchedTopic, ids: readonly string[], owner: string, leaseMs: number): Promise<void> {
    for (const row of this.ownedBy(topic, ids, owner)) row.leaseUntilMs = this.clock.now().getTime() + leaseMs;
  }

  async end(topic: WatchedTopic, ids: readonly string[], owner: string): Promise<void> {
    for (const { id, isQuarantined } of this.ownedBy(topic, ids, owner))
      if (!isQuarantined) this.rows.delete(`${topic}/${id}`);
  }

  async quarantine(topic: WatchedTopic, id: string, reason: string): Promise<void> {
    if (topic === 'arrival')
      await decideBy(this.inbox, this.idOf(id), (tx) => tx.close('quarantined', reason, 'processes_ended'));
    else this.journal.decidedEvents.add(this.idOf(id));
    const row = this.rows.get(`${topic}/${id}`);
    if (row) row.isQuarantined = true;
  }

  async quarantined(limit: number): Promise<PoisonMessage[]> {
    const rows = [...this.rows.values()].filter(({ isQuarantined }) => isQuarantined);
    return rows
      .slice(0, limit)
      .map(({ topic, id, deaths, isQuarantined, since }) => ({ topic, id, deaths, isQuarantined, since }));
  }

  async release(id: string): Promise<boolean> {
    const row = [...this.rows.values()].find((one) => one.id === id && one.isQuarantined);
    if (!row) return this.inbox.reopen(this.idOf(id));
    this.rows.delete(`${row.topic}/${id}`);
    if (row.topic === 'arrival') this.inbox.reopen(this.idOf(id));
    else this.journal.decidedEvents.delete(this.idOf(id));
    return true;
  }

  private ownedBy(topic: WatchedTopic, ids: readonly string[], owner: string): Hand[] {
    return ids.flatMap((id) => this.rows.get(`${topic}/${id}`) ?? []).filter((row) => row.owner === owner);
  }
}

class SimTicks extends InMemoryTickStore {
  constructor(private readonly journal: InMemoryJournalStore) {
    super();
  }

  override async due(limit: number): Promise<Tick[]> {
    for (const row of this.rows) if (this.journal.decidedTicks.has(row.id)) row.state = 'decided';
    return super.due(limit);
  }
}
