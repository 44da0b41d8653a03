import type { EntityManager } from 'typeorm';
import type { Arrival, ArrivalState } from '../core/arrival.js';
import { withTold } from '../core/event-knowledge.js';
import type { EventSource, ForgeEvent } from '../core/event.js';
import { Breathing } from '../core/in-slices.js';
import { type JsonObject, isJsonObject, parseJson, stringifyJson } from '../core/json.js';
import {
  keyOfObject,
  keyOfText,
  type ArrivalDecision,
  type DecisionNeeds,
  type EventDecision,
  type StatedObject,
  type TextAct,
  type ToldEvent,
  type Touched,
} from '../pipeline/inbox-store.port.js';
import { Packed, columnsOf, integers } from './batch-loader.js';
import { lockKeyOf } from './columns.js';
import { execute } from './database.js';
import {
  COUNT_REPEATS,
  EVENT_COLUMNS,
  FIND_ACTS,
  FIND_OBJECTS,
  FIND_REPORTED,
  FIND_TOUCHED,
  OPEN_TO,
  RECEIVED_BETWEEN,
  REPORTED_BY,
  WRITE_DECISIONS,
} from './inbox-statements.js';
import { deciderColumns, deciderId, effectHash, insertPlainRuns } from './journal-decisions.js';
import { factHash, objectHash } from './rows.js';

/** An arrival whose row is locked, and what decides about it. */
export interface BatchItem {
  readonly arrival: Arrival;
  /** Pure. */
  readonly prepare: (arrival: Arrival) => DecisionNeeds;
  readonly decide: (tx: ArrivalDecision, needs: DecisionNeeds) => Promise<unknown>;
}

const LOCK_ALL =
  'SELECT pg_advisory_xact_lock(key) FROM (SELECT key FROM unnest($1::bigint[]) WITH ORDINALITY AS k (key, place) ORDER BY place) AS keys';
const MOST_CANDIDATES = 200;
const MOST_ROWS = 1_000_000;

/**
 * Decides about several arrivals in one transaction: reads them all, locks and loads all that they need, decides one after the other over what is in memory,
 * and writes what came of it. Each sees what those before it decided, as if each had a transaction of its own.
 * @returns what each decision answered, after all is written but for the commit
 */
export async function decideBatch(manager: EntityManager, items: readonly BatchItem[]): Promise<unknown[]> {
  const breathing = new Breathing();
  const prepared: Array<BatchItem & { readonly needs: DecisionNeeds }> = [];
  for (const item of items) {
    prepared.push({ ...item, needs: item.prepare(item.arrival) });
    await breathing.between();
  }
  const known = new BatchKnowledge(manager);
  await known.load(prepared);
  const answers: unknown[] = [];
  for (const { arrival, needs, decide } of prepared) {
    const decision = new BatchedDecision(known, arrival);
    answers.push(await decide(decision, needs));
    known.keep(decision);
    await breathing.between();
  }
  await known.write();
  return answers;
}

/** An event as deduplication sees it, with what the batch made of it so far. */
interface BatchEvent extends ToldEvent {
  sources: EventSource[];
  data: JsonObject;
}

interface Candidate {
  readonly id: string;
  /** Of the discussion that was asked for: it is a candidate whoever told it. */
  readonly isOfDiscussion: boolean;
}

interface KnownObject {
  readonly state: JsonObject | null;
  /** An event of it is not decided. */
  readonly isOpen: boolean;
}

interface FactAsk {
  readonly forge: string;
  readonly org: string;
  readonly factKey: string;
  readonly discussionKey: string | undefined;
  readonly source: EventSource;
}

interface ObjectAsk {
  readonly forge: string;
  readonly org: string;
  readonly object: StatedObject;
}

/** What the store knows of all that a batch needs, kept up to date with what the batch decides; and what is to be written. */
class BatchKnowledge {
  private readonly events = new Map<string, BatchEvent>();
  /** Each in the order in which they were stored. */
  private readonly candidates = new Map<string, readonly Candidate[]>();
  private readonly made: Array<{ readonly id: string; readonly fact: string; readonly discussion: string | null }> = [];
  private readonly objects = new Map<string, KnownObject>();
  private readonly texts = new Map<string, TextAct | null>();
  private readonly sentEffects = new Map<string, boolean>();
  private readonly heldLanes = new Map<string, boolean>();
  private decided: BatchedDecision[] = [];

  constructor(private readonly manager: EntityManager) {}

  /** Locks what these arrivals need until the commit, always in one order, and reads it. */
  async load(items: ReadonlyArray<{ readonly arrival: Arrival; readonly needs: DecisionNeeds }>): Promise<void> {
    const locks = new Set<string>();
    const facts = new Map<string, FactAsk>();
    const objects = new Map<string, ObjectAsk>();
    const effects = new Map<string, { org: string; effectKey: string }>();
    const lanes = new Map<string, { org: string; lane: string }>();
    for (const { arrival, needs } of items) {
      const { forge, org } = arrival;
      const lock = (key: string): void => void locks.add(lockKeyOf('fact', forge, key));
      for (const { factKey, discussionKey } of needs.facts ?? []) {
        lock(factKey);
        if (discussionKey !== undefined) lock(discussionKey);
        const ask = { forge, org, factKey, discussionKey, source: sourceOf(arrival) };
        facts.set(nameOfAsk(ask), ask);
      }
      for (const object of needs.objects ?? []) {
        lock(keyOfObject(object));
        objects.set(nameOfObject({ forge, org, object }), { forge, org, object });
      }
      for (const key of needs.texts ?? []) {
        lock(keyOfText(key));
        this.texts.set(key, null);
      }
      for (const { effectKeys, lane } of needs.touched ?? []) {
        for (const effectKey of effectKeys) effects.set(nameIn(org, effectKey), { org, effectKey });
        if (lane !== null) lanes.set(nameIn(org, lane), { org, lane });
      }
    }
    if (locks.size > 0) await execute(this.manager, LOCK_ALL, [[...locks].sort()]);
    await this.loadEvents([...facts.values()]);
    await this.loadObjects([...objects.values()]);
    await this.loadTouched([...effects.values()], [...lanes.values()]);
    await this.loadTexts();
  }

  private async loadEvents(asks: readonly FactAsk[]): Promise<void> {
    if (asks.length === 0) return;
    const { rows } = await execute<Omit<ToldEvent, 'data'> & Candidate & { place: number; data: string }>(
      this.manager,
      FIND_REPORTED,
      [
        asks.map(({ forge, factKey }) => factHash(forge, factKey)),
        asks.map(({ source }) => `{${(OPEN_TO[REPORTED_BY[source]] ?? []).join(',')}}`),
        asks.map(({ forge, discussionKey }) => (discussionKey === undefined ? null : factHash(forge, discussionKey))),
        MOST_CANDIDATES,
        asks.map(({ org }) => org),
      ],
    );
    const found: Candidate[][] = asks.map(() => []);
    for (const { place, data, sources, isOfDiscussion, ...event } of rows) {
      found[place - 1]?.push({ id: event.id, isOfDiscussion });
      this.events.set(event.id, { ...event, sources: [...sources], data: objectIn(data) ?? {} });
    }
    for (const [n, ask] of asks.entries()) this.candidates.set(nameOfAsk(ask), found[n] ?? []);
  }

  private async loadObjects(asks: readonly ObjectAsk[]): Promise<void> {
    if (asks.length === 0) return;
    const keys = asks.map(({ forge, org, object }) => ({
      forge,
      org,
      ...object,
      objectHash: objectHash(forge, object),
    }));
    const { rows } = await execute<{ place: number; state: string | null; isOpen: boolean }>(
      this.manager,
      FIND_OBJECTS,
      columnsOf(keys, ['forge', 'org', 'repoId', 'kind', 'objectId', 'objectHash'] as const),
    );
    const found = new Map(rows.map((row) => [row.place, row]));
    for (const [n, ask] of asks.entries()) {
      const { state = null, isOpen = true } = found.get(n + 1) ?? {};
      this.objects.set(nameOfObject(ask), { state: state === null ? null : objectIn(state), isOpen });
    }
  }

  private async loadTouched(
    effects: ReadonlyArray<{ org: string; effectKey: string }>,
    lanes: ReadonlyArray<{ org: string; lane: string }>,
  ): Promise<void> {
    const keys = [
      ...effects.map(({ org, effectKey }) => ({ org, effectHash: effectHash(effectKey), lane: null })),
      ...lanes.map(({ org, lane }) => ({ org, effectHash: null, lane })),
    ];
    if (keys.length === 0) return;
    const { rows } = await execute<{ place: number }>(
      this.manager,
      FIND_TOUCHED,
      columnsOf(keys, ['effectHash', 'lane', 'org'] as const),
    );
    const found = new Set(rows.map(({ place }) => place - 1));
    for (const [n, { org, effectKey }] of effects.entries()) this.sentEffects.set(nameIn(org, effectKey), found.has(n));
    for (const [n, { org, lane }] of lanes.entries())
      this.heldLanes.set(nameIn(org, lane), found.has(effects.length + n));
  }

  private async loadTexts(): Promise<void> {
    if (this.texts.size === 0) return;
    const keys = [...this.texts.keys()].map((key) => Buffer.from(key, 'hex'));
    const { rows } = await execute<TextAct & { key: string }>(this.manager, FIND_ACTS, [keys]);
    for (const { key, ...act } of rows) this.texts.set(key, act);
  }

  eventsOfFact(ask: FactAsk): ToldEvent[] {
    const [fact, discussion] = [nameOfFact(ask), nameOfDiscussion(ask)];
    const made = this.made.flatMap((one): Candidate[] => {
      const isOfDiscussion = discussion !== null && one.discussion === discussion;
      return isOfDiscussion || one.fact === fact ? [{ id: one.id, isOfDiscussion }] : [];
    });
    return [...needed(this.candidates.get(nameOfAsk(ask)), 'fact'), ...made]
      .map(({ id, isOfDiscussion }) => ({ event: needed(this.events.get(id), 'event'), isOfDiscussion }))
      .filter(({ event, isOfDiscussion }) => isOfDiscussion || isOpenTo(ask.source, event))
      .map(({ event }) => ({ ...event, sources: [...event.sources] }))
      .slice(-MOST_CANDIDATES);
  }

  object(ask: ObjectAsk): KnownObject {
    return needed(this.objects.get(nameOfObject(ask)), 'object');
  }

  /** Whoever reads it later named it before, so that it is known. */
  note(ask: ObjectAsk, news: Partial<KnownObject>): void {
    const name = nameOfObject(ask);
    const object = this.objects.get(name);
    if (object) this.objects.set(name, { ...object, ...news });
  }

  isKnown(org: string, { effectKeys, lane }: Touched): boolean {
    const wasSent = effectKeys.some((effectKey) => needed(this.sentEffects.get(nameIn(org, effectKey)), 'effect'));
    return wasSent || (lane !== null && needed(this.heldLanes.get(nameIn(org, lane)), 'lane'));
  }

  actOfText(key: string): TextAct | null {
    return needed(this.texts.get(key), 'text');
  }

  claimText(key: string, { id, hook, deliveryId, receivedAt }: TextAct): void {
    this.texts.set(key, { id, hook, deliveryId, receivedAt });
  }

  /** Rare: twice the same within seconds. What was decided before stands in the store then. */
  async receivedBetween(
    first: TextAct,
    arrival: Arrival,
    factKeys: readonly string[],
  ): Promise<'opposite' | 'undecided' | 'nothing'> {
    await this.write();
    const values = [first.id, arrival.id, first.hook, factKeys];
    const { rows } = await execute<{ opposite: boolean; undecided: boolean }>(this.manager, RECEIVED_BETWEEN, values);
    return rows[0]?.opposite ? 'opposite' : rows[0]?.undecided ? 'undecided' : 'nothing';
  }

  make(event: ForgeEvent, discussionKey: string | undefined): void {
    const { forge, org, id, kind, factKey, factAt } = event;
    const data = discussionKey === undefined ? {} : event.data;
    this.events.set(id, { id, kind, factKey, factAt, data, sources: [], deniedAt: null });
    const names = { forge, org, factKey, discussionKey };
    this.made.push({ id, fact: nameOfFact(names), discussion: nameOfDiscussion(names) });
  }

  join(eventId: string, source: EventSource): void {
    this.events.get(eventId)?.sources.push(source);
  }

  tell(eventId: string, told: Told['told'], from: readonly string[]): void {
    const event = this.events.get(eventId);
    if (event && Object.keys(event.data).length > 0)
      event.data = withTold({ actor: null, repo: null, data: event.data }, told, from).data;
  }

  keep(decision: BatchedDecision): void {
    if (decision.hasNews) this.decided.push(decision);
  }

  /** What was decided and not written yet. */
  async write(): Promise<void> {
    const all = this.decided;
    this.decided = [];
    if (all.length === 0) return;
    const joins = all.flatMap(({ arrival, source, joined }) =>
      [...joined].map((eventId) => ({ arrivalId: arrival.id, eventId, source })),
    );
    const reportedBy = new Map<string, number>();
    for (const { eventId, source } of joins)
      reportedBy.set(eventId, (reportedBy.get(eventId) ?? 0) | REPORTED_BY[source]);
    const [repos, data] = [new Packed(), new Packed()];
    const events = all.flatMap(({ made }) => made.map((one) => eventRow(one, reportedBy)));
    for (const event of events) {
      repos.add(Buffer.from(event.repo));
      data.add(Buffer.from(event.data));
    }
    await execute(this.manager, WRITE_DECISIONS, [
      ...columnsOf(events, EVENT_COLUMNS),
      integers(repos.starts),
      integers(data.starts),
      ...columnsOf(joins, ['arrivalId', 'eventId', 'source'] as const),
      [...reportedBy.keys()],
      [...reportedBy.values()],
      ...columnsOf(stateRows(all.flatMap(({ kept }) => kept)), [
        'forge',
        'org',
        'repoId',
        'kind',
        'objectId',
        'state',
      ] as const),
      ...columnsOf(
        all.map(({ arrival, closed, joined }) => ({
          arrivalId: arrival.id,
          state: closed?.state ?? (joined.size > 0 ? 'decided' : null),
          reason: closed?.reason ?? null,
          code: closed?.code ?? null,
          eventId: [...joined][0] ?? null,
        })),
        ['arrivalId', 'state', 'reason', 'code', 'eventId'] as const,
      ),
      MOST_ROWS,
      all.map(({ claimed }) => claimed?.eventType ?? null),
      all.map(({ claimed }) => (claimed ? Buffer.from(claimed.key, 'hex') : null)),
      all.map(({ arrival }) => Buffer.from(arrival.textHash, 'hex')),
      all.map(({ countedWith }) => countedWith !== null),
      repos.bytes,
      integers(repos.lengths),
      data.bytes,
      integers(data.lengths),
      ...deciderColumns(all.flatMap(({ made }) => made.map(({ decision }) => decision?.by))),
    ]);
    const repeats = new Map<string, number>();
    for (const { countedWith } of all)
      if (countedWith !== null) repeats.set(countedWith, (repeats.get(countedWith) ?? 0) + 1);
    if (repeats.size > 0)
      await execute(this.manager, COUNT_REPEATS, [[...repeats.keys()], [...repeats.values()], MOST_ROWS]);
    // Rare: a delivery that came after polling had seen its act.
    for (const { eventId, told, from } of all.flatMap((decision) => decision.told))
      await changeEvent(this.manager, eventId, (event) => withTold(event, told, from));
    await insertPlainRuns(
      this.manager,
      all.flatMap(({ made }) => made.flatMap(({ decision }) => decision?.runs ?? [])),
    );
  }
}

interface NewEvent {
  readonly event: ForgeEvent;
  readonly discussionKey: string | undefined;
  readonly object: StatedObject | null | undefined;
  readonly decision: EventDecision | null;
}

interface KeptState extends ObjectAsk {
  readonly state: JsonObject;
}

interface Told {
  readonly eventId: string;
  readonly told: Pick<ForgeEvent, 'actor' | 'data'>;
  readonly from: readonly string[];
}

/** What deciding about one arrival sees and wants written. */
class BatchedDecision implements ArrivalDecision {
  readonly made: NewEvent[] = [];
  /** Ids of events that the arrival tells, in order. */
  readonly joined = new Set<string>();
  readonly kept: KeptState[] = [];
  readonly told: Told[] = [];
  closed: { readonly state: ArrivalState; readonly reason: string; readonly code: string | null } | null = null;
  /** Of a delivery: under which key it counts, in hex, and what it is. */
  claimed: { readonly key: string; readonly eventType: string } | null = null;
  /** Id of the delivery with which this one is counted. */
  countedWith: string | null = null;

  constructor(
    private readonly known: BatchKnowledge,
    readonly arrival: Arrival,
  ) {}

  get source(): EventSource {
    return sourceOf(this.arrival);
  }

  get hasNews(): boolean {
    const { made, joined, kept, closed, claimed } = this;
    return made.length + joined.size + kept.length > 0 || closed !== null || claimed !== null;
  }

  async actsOfText(keys: readonly string[]): Promise<Array<TextAct | null>> {
    return keys.map((key) => this.known.actOfText(key));
  }

  async receivedBetween(first: TextAct, factKeys: readonly string[]): Promise<'opposite' | 'undecided' | 'nothing'> {
    return this.known.receivedBetween(first, this.arrival, factKeys);
  }

  async claimText(key: string, eventType: string): Promise<void> {
    this.claimed = { key, eventType };
    if (this.arrival.kind === 'delivery') this.known.claimText(key, this.arrival);
  }

  async countWith(first: TextAct): Promise<void> {
    this.countedWith = first.id;
  }

  async eventsOfFact(forge: string, factKey: string, discussionKey?: string): Promise<ToldEvent[]> {
    return this.known.eventsOfFact({ forge, org: this.arrival.org, factKey, discussionKey, source: this.source });
  }

  async objectState(forge: string, object: StatedObject): Promise<JsonObject | null> {
    return this.known.object({ forge, org: this.arrival.org, object }).state;
  }

  async hasUndecided(forge: string, object: StatedObject): Promise<boolean> {
    return this.known.object({ forge, org: this.arrival.org, object }).isOpen;
  }

  async isKnown(touched: Touched): Promise<boolean> {
    return this.known.isKnown(this.arrival.org, touched);
  }

  async insertEvent(
    event: ForgeEvent,
    discussionKey?: string,
    object?: StatedObject | null,
    decision: EventDecision | null = null,
  ): Promise<void> {
    this.made.push({ event, discussionKey, object, decision });
    this.known.make(event, discussionKey);
    if (object && !decision) this.known.note({ forge: event.forge, org: event.org, object }, { isOpen: true });
  }

  async keepObjectState(forge: string, object: StatedObject, state: JsonObject): Promise<void> {
    const { org } = this.arrival;
    this.kept.push({ forge, org, object, state });
    this.known.note({ forge, org, object }, { state });
  }

  async join(eventId: string): Promise<void> {
    if (this.joined.has(eventId)) return;
    this.joined.add(eventId);
    this.known.join(eventId, this.source);
  }

  async tell(eventId: string, told: Told['told'], from: readonly string[]): Promise<void> {
    this.told.push({ eventId, told, from });
    this.known.tell(eventId, told, from);
  }

  async close(state: ArrivalState, reason: string, code: string | null = null): Promise<void> {
    this.closed = { state, reason, code };
  }
}

/** Under the lock of its row, so that nothing that is learned at the same time is lost. */
export async function changeEvent(
  manager: EntityManager,
  eventId: string,
  change: (event: Pick<ForgeEvent, 'actor' | 'repo' | 'data'>) => Pick<ForgeEvent, 'actor' | 'repo' | 'data'>,
): Promise<void> {
  const found = await execute<{ actor: string; repo: string; data: string }>(
    manager,
    'SELECT actor, repo, data FROM events WHERE id = $1 FOR NO KEY UPDATE',
    [eventId],
  );
  const [row] = found.rows;
  if (!row) return;
  const { actor, repo, data } = change({
    actor: parseJson(row.actor) as unknown as ForgeEvent['actor'],
    repo: parseJson(row.repo) as unknown as ForgeEvent['repo'],
    data: objectIn(row.data) ?? {},
  });
  await execute(manager, 'UPDATE events SET actor = $2, repo = $3, data = $4 WHERE id = $1', [
    eventId,
    stringifyJson(actor),
    stringifyJson(repo),
    stringifyJson(data),
  ]);
}

/** What was not named before the decision began was neither locked nor read: a fault of ours. */
function needed<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`a decision reads a ${what} that its needs do not name`);
  return value;
}

function isOpenTo(source: EventSource, { sources }: BatchEvent): boolean {
  const reportedBy = sources.reduce((bits, one) => bits | REPORTED_BY[one], 0);
  return (OPEN_TO[REPORTED_BY[source]] ?? []).includes(reportedBy);
}

function sourceOf(arrival: Arrival): EventSource {
  return arrival.kind === 'delivery' ? 'webhook' : arrival.source;
}

function nameIn(org: string, key: string): string {
  return `${org}\n${key}`;
}

function nameOfObject({ forge, org, object }: ObjectAsk): string {
  return [forge, org, keyOfObject(object)].join('\n');
}

type FactNames = Omit<FactAsk, 'source'>;

function nameOfFact({ forge, org, factKey }: FactNames): string {
  return [forge, org, factKey].join('\n');
}

function nameOfDiscussion({ forge, org, discussionKey }: FactNames): string | null {
  return discussionKey === undefined ? null : [forge, org, discussionKey].join('\n');
}

/** Sources of one class ask alike. */
function nameOfAsk(ask: FactAsk): string {
  return [nameOfFact(ask), nameOfDiscussion(ask) ?? '', REPORTED_BY[ask.source]].join('\n\n');
}

function eventRow({ event, discussionKey, object, decision }: NewEvent, reportedBy: ReadonlyMap<string, number>) {
  return {
    ...event,
    factHash: factHash(event.forge, event.factKey),
    actor: stringifyJson(event.actor),
    repo: stringifyJson(event.repo),
    repoId: event.repo?.id ?? null,
    data: stringifyJson(event.data),
    discussionHash: discussionKey === undefined ? null : factHash(event.forge, discussionKey),
    objectHash: objectHash(event.forge, object),
    reportedBy: reportedBy.get(event.id) ?? 0,
    decidedBy: decision && deciderId(decision.by),
  };
}

/** Of states of one object the last. */
function stateRows(kept: readonly KeptState[]) {
  const last = new Map(kept.map((one) => [nameOfObject(one), one]));
  return [...last.values()].map(({ forge, org, object, state }) => ({
    forge,
    org,
    ...object,
    state: stringifyJson(state),
  }));
}

function objectIn(text: string): JsonObject | null {
  const value = parseJson(text);
  return isJsonObject(value) ? value : null;
}
