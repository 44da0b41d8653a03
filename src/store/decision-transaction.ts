import type { EntityManager } from 'typeorm';
import type { Arrival, ArrivalState } from '../core/arrival.js';
import type { EventSource, ForgeEvent } from '../core/event.js';
import { afterMicrotasks, eachInSlices } from '../core/in-slices.js';
import { type JsonObject, isJsonObject, parseJson, stringifyJson } from '../core/json.js';
import {
  keyOfObject,
  keyOfText,
  type ArrivalDecision,
  type EventDecision,
  type StatedObject,
  type TextAct,
  type ToldEvent,
  type Touched,
} from '../pipeline/inbox-store.port.js';
import { Packed, columnsOf, integers } from './batch-loader.js';
import { lockKeyOf } from './columns.js';
import { withTold } from '../core/event-knowledge.js';
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
import { RunAgain } from './store-errors.js';

interface NewEvent {
  readonly event: ForgeEvent;
  readonly discussionKey: string | undefined;
  readonly object: StatedObject | null | undefined;
  readonly decision: EventDecision | null;
}

interface KeptState {
  readonly forge: string;
  readonly org: string;
  readonly object: StatedObject;
  readonly state: JsonObject;
}

/** What one decision wants written. */
interface DecisionNews {
  readonly made: readonly NewEvent[];
  /** Ids of events that the arrival tells, in order. */
  readonly joined: readonly string[];
  readonly kept: readonly KeptState[];
  readonly closed: { readonly state: ArrivalState; readonly reason: string; readonly code: string | null } | null;
  /** Of a delivery: under which key it counts, in hex, and what it is. */
  readonly claimed: { readonly key: string; readonly eventType: string } | null;
  /** Id of the delivery with which this one is counted. */
  readonly countedWith: string | null;
  /** What it tells of events that are known. */
  readonly told: readonly Told[];
}

interface Told {
  readonly eventId: string;
  readonly told: Pick<ForgeEvent, 'actor' | 'data'>;
  readonly from: readonly string[];
}

/** What deciding about one arrival does, inside the transaction that holds its row, and perhaps others'. */
class TypeOrmArrivalDecision implements ArrivalDecision {
  private made: NewEvent[] = [];
  private joined = new Set<string>();
  private kept: KeptState[] = [];
  private closed: DecisionNews['closed'] = null;
  private claimed: DecisionNews['claimed'] = null;
  private countedWith: string | null = null;
  private told: Told[] = [];

  constructor(
    private readonly transaction: DecisionTransaction,
    readonly arrival: Arrival,
  ) {}

  async lockFacts(forge: string, factKeys: readonly string[]): Promise<void> {
    this.transaction.lock(this, forge, factKeys);
  }

  async actsOfText(keys: readonly string[]): Promise<Array<TextAct | null>> {
    await this.transaction.behindOthers(this, this.arrival.forge, keys.map(keyOfText));
    return this.transaction.actsOfText(keys);
  }

  async receivedBetween(first: TextAct, factKeys: readonly string[]): Promise<'opposite' | 'undecided' | 'nothing'> {
    // What undid the first is about the same object, and may be decided in this transaction.
    await this.transaction.behindAll(this);
    return this.transaction.receivedBetween([first.id, this.arrival.id, first.hook, factKeys]);
  }

  async claimText(key: string, eventType: string): Promise<void> {
    this.claimed = { key, eventType };
  }

  async countWith(first: TextAct): Promise<void> {
    this.countedWith = first.id;
  }

  async eventsOfFact(forge: string, factKey: string, discussionKey?: string): Promise<ToldEvent[]> {
    await this.transaction.behindOthers(
      this,
      forge,
      discussionKey === undefined ? [factKey] : [factKey, discussionKey],
    );
    return this.transaction.eventsOfFact({ forge, org: this.arrival.org, factKey, discussionKey, source: this.source });
  }

  async objectState(forge: string, object: StatedObject): Promise<JsonObject | null> {
    return (await this.known(forge, object)).state;
  }

  async hasUndecided(forge: string, object: StatedObject): Promise<boolean> {
    return (await this.known(forge, object)).isOpen;
  }

  async isKnown({ effectKeys, lane }: Touched): Promise<boolean> {
    if (effectKeys.length === 0 && lane === null) return false;
    return this.transaction.isKnown({ org: this.arrival.org, effectKeys, lane });
  }

  async insertEvent(
    event: ForgeEvent,
    discussionKey?: string,
    object?: StatedObject | null,
    decision: EventDecision | null = null,
  ): Promise<void> {
    this.made.push({ event, discussionKey, object, decision });
    if (object && !decision) this.transaction.note({ forge: event.forge, org: event.org, object }, { isOpen: true });
  }

  async keepObjectState(forge: string, object: StatedObject, state: JsonObject): Promise<void> {
    const { org } = this.arrival;
    this.kept.push({ forge, org, object, state });
    this.transaction.note({ forge, org, object }, { state });
  }

  private async known(forge: string, object: StatedObject): Promise<KnownObject> {
    await this.transaction.behindOthers(this, forge, [keyOfObject(object)]);
    return this.transaction.object({ forge, org: this.arrival.org, object });
  }

  async join(eventId: string): Promise<void> {
    this.joined.add(eventId);
  }

  async tell(eventId: string, told: Told['told'], from: readonly string[]): Promise<void> {
    this.told.push({ eventId, told, from });
  }

  async close(state: ArrivalState, reason: string, code: string | null = null): Promise<void> {
    this.closed = { state, reason, code };
  }

  get source(): EventSource {
    return this.arrival.kind === 'delivery' ? 'webhook' : this.arrival.source;
  }

  /**
   * What was not taken yet; null = nothing. A claim alone waits for the end: whoever asks about the same text does so behind it, and the arrival is then
   * written once.
   */
  takeNews(hasEnded: boolean): DecisionNews | null {
    const { made, joined, kept, closed, claimed, countedWith, told } = this;
    const isDue = closed !== null || (hasEnded && claimed !== null);
    if (made.length + joined.size + kept.length === 0 && !isDue) return null;
    [this.made, this.joined, this.kept, this.closed] = [[], new Set(), [], null];
    [this.claimed, this.countedWith, this.told] = [null, null, []];
    return { made, joined: [...joined], kept, closed, claimed, countedWith, told };
  }
}

const TAKE_IN_ORDER =
  'SELECT pg_advisory_xact_lock(key) FROM (SELECT key FROM unnest($1::bigint[]) WITH ORDINALITY AS k (key, place) ORDER BY place) AS keys';
const TRY_ALL = 'SELECT pg_try_advisory_xact_lock(key) AS taken FROM unnest($1::bigint[]) AS k (key)';

/**
 * The locks of the facts that one decision is about, over all attempts of its transaction. Two decisions that lock the same facts in
 * different orders would deadlock, which the server finds out only after a second: so waiting is done in ascending order alone. A
 * lock out of order is taken only if it is free; if not, the transaction starts again and takes all it needed before in order.
 */
export class FactLocks {
  private readonly wanted = new Set<string>();
  private held = new Set<string>();

  /** To be called at the start of each attempt; the locks themselves are taken by the next `take`. */
  begin(): void {
    this.held = new Set();
  }

  ask(forge: string, factKey: string): void {
    this.wanted.add(lockKeyOf('fact', forge, factKey));
  }

  /** All that were asked for and are not held yet. */
  async take(manager: EntityManager): Promise<void> {
    const missing = [...this.wanted].filter((key) => !this.held.has(key)).sort();
    const [first] = missing;
    if (first === undefined) return;
    if ([...this.held].every((other) => other < first)) await execute(manager, TAKE_IN_ORDER, [missing]);
    else {
      const { rows } = await execute<{ taken: boolean }>(manager, TRY_ALL, [missing]);
      if (rows.some(({ taken }) => !taken)) throw new RunAgain('another decision holds the fact');
    }
    for (const key of missing) this.held.add(key);
  }
}

const MOST_CANDIDATES = 200;
const MOST_ROWS = 1_000_000;

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

/** What the decisions of this transaction know of an object, those that are not written yet among it. */
interface KnownObject {
  readonly state: JsonObject | null;
  /** An event of it is not decided. */
  readonly isOpen: boolean;
}

interface TouchedAsk extends Touched {
  readonly org: string;
}

interface Reading<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface Running {
  /** Settled when it has said all; it never rejects. */
  readonly ended: Promise<void>;
  hasEnded: boolean;
  /** Whose end it waits for. */
  waitsFor: TypeOrmArrivalDecision | null;
  /** By key, the decision that asked for it before. */
  readonly before: Map<string, TypeOrmArrivalDecision>;
}

/**
 * One transaction that decides about several arrivals. Decisions run side by side: what they read at the same time is read in one statement, and what
 * they write is written together, at the end or before a read that has to see it. What two decisions share, a fact or an object, the later one reads
 * after the end of the earlier one, in the order they were given, as if each had a transaction of its own. An object is read once: what becomes of
 * it is known here, so that many events of one object cost no more statements than one. Locks are taken with the first read.
 */
export class DecisionTransaction {
  private readonly running = new Map<TypeOrmArrivalDecision, Running>();
  /** By key, the last that asked for it. */
  private readonly holders = new Map<string, TypeOrmArrivalDecision>();
  private facts: Array<Reading<FactAsk, ToldEvent[]>> = [];
  private objects: Array<Reading<ObjectAsk, KnownObject>> = [];
  private touched: Array<Reading<TouchedAsk, boolean>> = [];
  private acts: Array<Reading<readonly string[], Array<TextAct | null>>> = [];
  private spans: Array<Reading<readonly unknown[], 'opposite' | 'undecided' | 'nothing'>> = [];
  private readonly known = new Map<string, KnownObject>();
  /** Reads go to the store one after the other, each for all that wait for one by then. */
  private turn: Promise<void> = Promise.resolve();
  private hasTurn = false;
  /** The first of a statement: what follows it in the transaction fails for that alone. */
  private failure: { readonly error: unknown } | null = null;

  constructor(
    private readonly manager: EntityManager,
    private readonly locks: FactLocks,
  ) {}

  /**
   * @returns what each decision answered, after all is written but for the commit
   * @throws the first failure, when all have ended: none goes on behind the end of the transaction
   */
  async decideAll<T>(
    asks: ReadonlyArray<{ arrival: Arrival; decide: (tx: ArrivalDecision) => Promise<T> }>,
  ): Promise<T[]> {
    const ended = await Promise.allSettled(await this.beginAll(asks));
    if (this.failure) throw this.failure.error;
    const answers = ended.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
    await this.write();
    return answers;
  }

  /** Other work of the process goes on between them, and what they read at first is read for all together. */
  private async beginAll<T>(
    asks: ReadonlyArray<{ arrival: Arrival; decide: (tx: ArrivalDecision) => Promise<T> }>,
  ): Promise<Array<Promise<T>>> {
    const begun: Array<Promise<T>> = [];
    this.turn = eachInSlices(asks, ({ arrival, decide }) => {
      const decided = this.decideOne(arrival, decide);
      // Looked at when all have begun.
      decided.catch(() => undefined);
      begun.push(decided);
    });
    await this.turn;
    return begun;
  }

  /** All keys at once: a decision is behind those alone that asked before it, so none can wait for itself. */
  lock(decision: TypeOrmArrivalDecision, forge: string, factKeys: readonly string[]): void {
    const own = this.running.get(decision);
    for (const factKey of factKeys) {
      this.locks.ask(forge, factKey);
      const key = `${forge}\n${factKey}`;
      const before = this.holders.get(key);
      if (before === decision) continue;
      this.holders.set(key, decision);
      if (before) own?.before.set(key, before);
    }
  }

  /** Waits for the ends of earlier decisions that have one of these keys. */
  behindOthers(decision: TypeOrmArrivalDecision, forge: string, factKeys: readonly string[]): Promise<void> {
    return this.behind(
      decision,
      factKeys.map((factKey) => `${forge}\n${factKey}`),
    );
  }

  /** Waits for the ends of all earlier decisions that share a key with it. */
  behindAll(decision: TypeOrmArrivalDecision): Promise<void> {
    return this.behind(decision, [...(this.running.get(decision)?.before.keys() ?? [])]);
  }

  private async behind(decision: TypeOrmArrivalDecision, keys: readonly string[]): Promise<void> {
    const own = this.running.get(decision);
    for (const key of keys) {
      const before = own?.before.get(key);
      const other = before && this.running.get(before);
      if (!own || !before || !other || other.hasEnded) continue;
      for (let next: TypeOrmArrivalDecision | null = before; next; next = this.running.get(next)?.waitsFor ?? null) {
        if (next === decision)
          throw new Error('two decisions lock the same facts in different orders: each is to be made alone');
      }
      own.waitsFor = before;
      await other.ended;
      own.waitsFor = null;
    }
  }

  eventsOfFact(ask: FactAsk): Promise<ToldEvent[]> {
    return new Promise((resolve, reject) => {
      this.facts.push({ ask, resolve, reject });
      this.readSoon();
    });
  }

  async object(ask: ObjectAsk): Promise<KnownObject> {
    const found = this.known.get(objectKey(ask));
    if (found) return found;
    return new Promise((resolve, reject) => {
      this.objects.push({ ask, resolve, reject });
      this.readSoon();
    });
  }

  isKnown(ask: TouchedAsk): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.touched.push({ ask, resolve, reject });
      this.readSoon();
    });
  }

  actsOfText(ask: readonly string[]): Promise<Array<TextAct | null>> {
    return new Promise((resolve, reject) => {
      this.acts.push({ ask, resolve, reject });
      this.readSoon();
    });
  }

  /** @param ask two ids of arrivals, the hook that brought both, fact keys */
  receivedBetween(ask: readonly unknown[]): Promise<'opposite' | 'undecided' | 'nothing'> {
    return new Promise((resolve, reject) => {
      this.spans.push({ ask, resolve, reject });
      this.readSoon();
    });
  }

  /** What becomes of an object that was read. One that was not is read after what is to be written. */
  note(about: ObjectAsk, news: Partial<KnownObject>): void {
    const key = objectKey(about);
    const found = this.known.get(key);
    if (found) this.known.set(key, { ...found, ...news });
  }

  private async decideOne<T>(arrival: Arrival, decide: (tx: ArrivalDecision) => Promise<T>): Promise<T> {
    const decision = new TypeOrmArrivalDecision(this, arrival);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const own: Running = { ended, hasEnded: false, waitsFor: null, before: new Map() };
    this.running.set(decision, own);
    try {
      return await decide(decision);
    } finally {
      own.hasEnded = true;
      end();
    }
  }

  /** When every decision has gone as far as it can without an answer. */
  private readSoon(): void {
    if (this.hasTurn) return;
    this.hasTurn = true;
    this.turn = this.turn.then(afterMicrotasks).then(() => this.read());
  }

  private async read(): Promise<void> {
    const { facts, objects, touched, acts, spans } = this;
    [this.facts, this.objects, this.touched, this.acts, this.spans, this.hasTurn] = [[], [], [], [], [], false];
    try {
      if (this.failure) throw this.failure.error;
      await this.write();
      const told = await this.findTold(facts.map(({ ask }) => ask));
      const found = await this.findObjects(objects.map(({ ask }) => ask));
      const areKnown = await this.findTouched(touched.map(({ ask }) => ask));
      const counted = await this.findActs(acts.map(({ ask }) => ask));
      const between: Array<'opposite' | 'undecided' | 'nothing'> = [];
      // Rare: twice the same within seconds.
      for (const { ask } of spans) between.push(await this.findBetween(ask));
      await eachInSlices(
        [
          ...facts.map(
            ({ resolve }, n) =>
              () =>
                resolve(told[n] ?? []),
          ),
          ...objects.map(
            ({ resolve }, n) =>
              () =>
                resolve(found[n] ?? { state: null, isOpen: true }),
          ),
          ...touched.map(
            ({ resolve }, n) =>
              () =>
                resolve(areKnown[n] ?? true),
          ),
          ...acts.map(
            ({ resolve }, n) =>
              () =>
                resolve(counted[n] ?? []),
          ),
          ...spans.map(
            ({ resolve }, n) =>
              () =>
                resolve(between[n] ?? 'undecided'),
          ),
        ],
        (tell) => tell(),
      );
    } catch (error) {
      this.failure ??= { error };
      for (const { reject } of [...facts, ...objects, ...touched, ...acts, ...spans]) reject(error);
    }
  }

  private async findTold(asks: readonly FactAsk[]): Promise<ToldEvent[][]> {
    if (asks.length === 0) return [];
    const { rows } = await execute<Omit<ToldEvent, 'data'> & { place: number; data: string }>(
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
    const found: ToldEvent[][] = asks.map(() => []);
    for (const { place, data, ...told } of rows) found[place - 1]?.push({ ...told, data: objectIn(data) ?? {} });
    // Of several ways to be open, each has so many.
    return found.map((events) => events.slice(-MOST_CANDIDATES));
  }

  private async findObjects(asks: readonly ObjectAsk[]): Promise<KnownObject[]> {
    if (asks.length === 0) return [];
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
    return asks.map((ask, n) => {
      const { state = null, isOpen = true } = found.get(n + 1) ?? {};
      const object = { state: state === null ? null : objectIn(state), isOpen };
      this.known.set(objectKey(ask), object);
      return object;
    });
  }

  private async findTouched(asks: readonly TouchedAsk[]): Promise<boolean[]> {
    const keys = asks.flatMap(({ org, effectKeys, lane }, n) => [
      ...effectKeys.map((effectKey) => ({ n, org, effectHash: effectHash(effectKey), lane: null })),
      ...(lane === null ? [] : [{ n, org, effectHash: null, lane }]),
    ]);
    if (keys.length === 0) return [];
    const { rows } = await execute<{ place: number }>(
      this.manager,
      FIND_TOUCHED,
      columnsOf(keys, ['effectHash', 'lane', 'org'] as const),
    );
    const found = new Set(rows.map(({ place }) => keys[place - 1]?.n));
    return asks.map((_, n) => found.has(n));
  }

  private async findActs(asks: ReadonlyArray<readonly string[]>): Promise<Array<Array<TextAct | null>>> {
    if (asks.length === 0) return [];
    const keys = [...new Set(asks.flat())].map((key) => Buffer.from(key, 'hex'));
    const { rows } = await execute<TextAct & { key: string }>(this.manager, FIND_ACTS, [keys]);
    const found = new Map(rows.map(({ key, ...act }) => [key, act]));
    return asks.map((own) => own.map((key) => found.get(key) ?? null));
  }

  private async findBetween(ask: readonly unknown[]): Promise<'opposite' | 'undecided' | 'nothing'> {
    const { rows } = await execute<{ opposite: boolean; undecided: boolean }>(this.manager, RECEIVED_BETWEEN, ask);
    return rows[0]?.opposite ? 'opposite' : rows[0]?.undecided ? 'undecided' : 'nothing';
  }

  /** What was not written yet. */
  private async write(): Promise<void> {
    await this.locks.take(this.manager);
    const all = [...this.running].flatMap(([decision, { hasEnded }]) => {
      const news = decision.takeNews(hasEnded);
      return news ? [{ arrival: decision.arrival, arrivalId: decision.arrival.id, source: decision.source, news }] : [];
    });
    if (all.length === 0) return;
    const joins = all.flatMap(({ arrivalId, source, news }) =>
      news.joined.map((eventId) => ({ arrivalId, eventId, source })),
    );
    const reportedBy = new Map<string, number>();
    for (const { eventId, source } of joins)
      reportedBy.set(eventId, (reportedBy.get(eventId) ?? 0) | REPORTED_BY[source]);
    const [repos, data] = [new Packed(), new Packed()];
    const events = all.flatMap(({ news }) => eventRows(news, reportedBy));
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
      ...columnsOf(stateRows(all.flatMap(({ news }) => news.kept)), [
        'forge',
        'org',
        'repoId',
        'kind',
        'objectId',
        'state',
      ] as const),
      ...columnsOf(
        all.map(({ arrivalId, news }) => ({
          arrivalId,
          state: news.closed?.state ?? (news.joined.length > 0 ? 'decided' : null),
          reason: news.closed?.reason ?? null,
          code: news.closed?.code ?? null,
          eventId: news.joined[0] ?? null,
        })),
        ['arrivalId', 'state', 'reason', 'code', 'eventId'] as const,
      ),
      MOST_ROWS,
      all.map(({ news }) => news.claimed?.eventType ?? null),
      all.map(({ news }) => (news.claimed ? Buffer.from(news.claimed.key, 'hex') : null)),
      all.map(({ arrival }) => Buffer.from(arrival.textHash, 'hex')),
      all.map(({ news }) => news.countedWith !== null),
      repos.bytes,
      integers(repos.lengths),
      data.bytes,
      integers(data.lengths),
      ...deciderColumns(all.flatMap(({ news }) => news.made.map(({ decision }) => decision?.by))),
    ]);
    const repeats = new Map<string, number>();
    for (const { news } of all)
      if (news.countedWith !== null) repeats.set(news.countedWith, (repeats.get(news.countedWith) ?? 0) + 1);
    if (repeats.size > 0)
      await execute(this.manager, COUNT_REPEATS, [[...repeats.keys()], [...repeats.values()], MOST_ROWS]);
    // Rare: a delivery that came after polling had seen its act.
    for (const { eventId, told, from } of all.flatMap(({ news }) => news.told))
      await changeEvent(this.manager, eventId, (event) => withTold(event, told, from));
    await insertPlainRuns(
      this.manager,
      all.flatMap(({ news }) => news.made.flatMap(({ decision }) => decision?.runs ?? [])),
    );
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

function objectKey({ forge, org, object }: ObjectAsk): string {
  return [forge, org, keyOfObject(object)].join('\n');
}

function eventRows({ made }: DecisionNews, reportedBy: ReadonlyMap<string, number>) {
  return made.map(({ event, discussionKey, object, decision }) => ({
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
  }));
}

/** Of states of one object the last. */
function stateRows(kept: readonly KeptState[]) {
  const last = new Map(
    kept.map((one) => [[one.forge, one.org, one.object.repoId, one.object.kind, one.object.objectId].join('\n'), one]),
  );
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
