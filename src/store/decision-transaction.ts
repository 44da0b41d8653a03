import type { EntityManager } from 'typeorm';
import type { Arrival, ArrivalState } from '../core/arrival.js';
import type { EventSource, ForgeEvent } from '../core/event.js';
import { type JsonObject, isJsonObject, parseJson, stringifyJson } from '../core/json.js';
import type { ArrivalDecision, StatedObject, ToldEvent } from '../pipeline/inbox-store.port.js';
import { columnsOf } from './batch-loader.js';
import { lockKeyOf } from './columns.js';
import { execute } from './database.js';
import {
  EVENT_COLUMNS,
  FIND_REPORTED,
  FIND_STATES,
  OPEN_TO,
  REPORTED_BY,
  WRITE_DECISIONS,
} from './inbox-statements.js';
import { factHash, objectHash } from './rows.js';
import { RunAgain } from './store-errors.js';

interface NewEvent {
  readonly event: ForgeEvent;
  readonly discussionKey: string | undefined;
  readonly object: StatedObject | null | undefined;
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
}

/** What deciding about one arrival does, inside the transaction that holds its row, and perhaps others'. */
class TypeOrmArrivalDecision implements ArrivalDecision {
  private made: NewEvent[] = [];
  private joined = new Set<string>();
  private kept: KeptState[] = [];
  private closed: { state: ArrivalState; reason: string; code: string | null } | null = null;

  constructor(
    private readonly transaction: DecisionTransaction,
    readonly arrival: Arrival,
  ) {}

  lockFact(forge: string, factKey: string): Promise<void> {
    return this.transaction.lock(this, forge, factKey);
  }

  eventsOfFact(forge: string, factKey: string, discussionKey?: string): Promise<ToldEvent[]> {
    return this.transaction.eventsOfFact({ forge, org: this.arrival.org, factKey, discussionKey, source: this.source });
  }

  objectState(forge: string, object: StatedObject): Promise<JsonObject | null> {
    return this.transaction.objectState({ forge, org: this.arrival.org, object });
  }

  async insertEvent(event: ForgeEvent, discussionKey?: string, object?: StatedObject | null): Promise<void> {
    this.made.push({ event, discussionKey, object });
  }

  async keepObjectState(forge: string, object: StatedObject, state: JsonObject): Promise<void> {
    this.kept.push({ forge, org: this.arrival.org, object, state });
  }

  async join(eventId: string): Promise<void> {
    this.joined.add(eventId);
  }

  async close(state: ArrivalState, reason: string, code: string | null = null): Promise<void> {
    this.closed = { state, reason, code };
  }

  get source(): EventSource {
    return this.arrival.kind === 'delivery' ? 'webhook' : this.arrival.source;
  }

  /** What was not taken yet; null = nothing. */
  takeNews(): DecisionNews | null {
    const { made, joined, kept, closed } = this;
    if (made.length + joined.size + kept.length === 0 && closed === null) return null;
    [this.made, this.joined, this.kept, this.closed] = [[], new Set(), [], null];
    return { made, joined: [...joined], kept, closed };
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

interface StateAsk {
  readonly forge: string;
  readonly org: string;
  readonly object: StatedObject;
}

interface Reading<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface Running {
  /** Settled when it has said all; it never rejects. */
  readonly ended: Promise<void>;
  /** Whose end it waits for. */
  waitsFor: TypeOrmArrivalDecision | null;
}

/**
 * One transaction that decides about several arrivals. Decisions run side by side: what they read at the same time is read in one statement, and what
 * they write is written together, at the end or before a read that has to see it. Those about the same fact or object go one after the other,
 * in the order they were given, as if each had a transaction of its own. Locks are taken with the first read.
 */
export class DecisionTransaction {
  private readonly running = new Map<TypeOrmArrivalDecision, Running>();
  /** By key, the last that asked for it. */
  private readonly holders = new Map<string, TypeOrmArrivalDecision>();
  private facts: Array<Reading<FactAsk, ToldEvent[]>> = [];
  private states: Array<Reading<StateAsk, JsonObject | null>> = [];
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
    const ended = await Promise.allSettled(asks.map(({ arrival, decide }) => this.decideOne(arrival, decide)));
    if (this.failure) throw this.failure.error;
    const answers = ended.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
    await this.write();
    return answers;
  }

  /** Waits for the end of an earlier decision that has the same key. */
  async lock(decision: TypeOrmArrivalDecision, forge: string, factKey: string): Promise<void> {
    this.locks.ask(forge, factKey);
    const key = `${forge}\n${factKey}`;
    const before = this.holders.get(key);
    if (before === decision) return;
    this.holders.set(key, decision);
    const [own, other] = [this.running.get(decision), before && this.running.get(before)];
    if (!own || !before || !other) return;
    for (let next: TypeOrmArrivalDecision | null = before; next; next = this.running.get(next)?.waitsFor ?? null) {
      if (next === decision)
        throw new Error('two decisions lock the same facts in different orders: each is to be made alone');
    }
    own.waitsFor = before;
    await other.ended;
    own.waitsFor = null;
  }

  eventsOfFact(ask: FactAsk): Promise<ToldEvent[]> {
    return new Promise((resolve, reject) => {
      this.facts.push({ ask, resolve, reject });
      this.readSoon();
    });
  }

  objectState(ask: StateAsk): Promise<JsonObject | null> {
    return new Promise((resolve, reject) => {
      this.states.push({ ask, resolve, reject });
      this.readSoon();
    });
  }

  private async decideOne<T>(arrival: Arrival, decide: (tx: ArrivalDecision) => Promise<T>): Promise<T> {
    const decision = new TypeOrmArrivalDecision(this, arrival);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    this.running.set(decision, { ended, waitsFor: null });
    try {
      return await decide(decision);
    } finally {
      end();
    }
  }

  /** When every decision has gone as far as it can without an answer. */
  private readSoon(): void {
    if (this.hasTurn) return;
    this.hasTurn = true;
    this.turn = this.turn
      .then(() => new Promise<void>((resolve) => void process.nextTick(resolve)))
      .then(() => this.read());
  }

  private async read(): Promise<void> {
    const { facts, states } = this;
    [this.facts, this.states, this.hasTurn] = [[], [], false];
    try {
      if (this.failure) throw this.failure.error;
      await this.write();
      const told = facts.length > 0 ? await this.findTold(facts.map(({ ask }) => ask)) : [];
      const kept = states.length > 0 ? await this.findStates(states.map(({ ask }) => ask)) : [];
      for (const [n, { resolve }] of facts.entries()) resolve(told[n] ?? []);
      for (const [n, { resolve }] of states.entries()) resolve(kept[n] ?? null);
    } catch (error) {
      this.failure ??= { error };
      for (const { reject } of [...facts, ...states]) reject(error);
    }
  }

  private async findTold(asks: readonly FactAsk[]): Promise<ToldEvent[][]> {
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

  private async findStates(asks: readonly StateAsk[]): Promise<Array<JsonObject | null>> {
    const keys = asks.map(({ forge, org, object }) => ({ forge, org, ...object }));
    const { rows } = await execute<{ place: number; state: string }>(
      this.manager,
      FIND_STATES,
      columnsOf(keys, ['forge', 'org', 'repoId', 'kind', 'objectId'] as const),
    );
    const found = asks.map((): JsonObject | null => null);
    for (const { place, state } of rows) found[place - 1] = objectIn(state);
    return found;
  }

  /** What was not written yet. */
  private async write(): Promise<void> {
    await this.locks.take(this.manager);
    const all = [...this.running.keys()].flatMap((decision) => {
      const news = decision.takeNews();
      return news ? [{ arrivalId: decision.arrival.id, source: decision.source, news }] : [];
    });
    if (all.length === 0) return;
    const joins = all.flatMap(({ arrivalId, source, news }) =>
      news.joined.map((eventId) => ({ arrivalId, eventId, source })),
    );
    const reportedBy = new Map<string, number>();
    for (const { eventId, source } of joins)
      reportedBy.set(eventId, (reportedBy.get(eventId) ?? 0) | REPORTED_BY[source]);
    await execute(this.manager, WRITE_DECISIONS, [
      ...columnsOf(
        all.flatMap(({ news }) => eventRows(news, reportedBy)),
        EVENT_COLUMNS,
      ),
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
    ]);
  }
}

function eventRows({ made }: DecisionNews, reportedBy: ReadonlyMap<string, number>) {
  return made.map(({ event, discussionKey, object }) => ({
    ...event,
    factHash: factHash(event.forge, event.factKey),
    actor: stringifyJson(event.actor),
    repo: stringifyJson(event.repo),
    repoId: event.repo?.id ?? null,
    data: stringifyJson(event.data),
    discussionHash: discussionKey === undefined ? null : factHash(event.forge, discussionKey),
    objectHash: objectHash(event.forge, object),
    reportedBy: reportedBy.get(event.id) ?? 0,
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
