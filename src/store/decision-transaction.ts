import type { EntityManager } from 'typeorm';
import type { EventSource } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import { isJsonObject, parseJson, stringifyJson } from '../core/json.js';
import type { Arrival } from '../core/arrival.js';
import type { ArrivalDecision, StatedObject, ToldEvent } from '../pipeline/inbox-store.port.js';
import { TypeOrmArrivalDecision, type DecisionNews, type KeptState } from './arrival-decision.js';
import { columnsOf } from './batch.js';
import { execute } from './database.js';
import { factHash, objectHash } from './event-rows.js';
import type { FactLocks } from './fact-locks.js';

const MOST_CANDIDATES = 200;
const MOST_ROWS = 1_000_000;

/**
 * Bits of `events.reported_by`: which classes of source have reported it. What one alone has reported is open to the other; what only the lists show is open to
 * both, and everything is open to them.
 */
const REPORTED_BY_WEBHOOK = 1;
const REPORTED_BY_POLL = 2;
const REPORTED_BY_LISTS = 4;
const REPORTED_BY: Readonly<Record<EventSource, number>> = {
  webhook: REPORTED_BY_WEBHOOK,
  feed: REPORTED_BY_POLL,
  tasks: REPORTED_BY_POLL,
  lists: REPORTED_BY_LISTS,
};
const OPEN_TO: Readonly<Record<number, readonly number[]>> = {
  [REPORTED_BY_WEBHOOK]: [REPORTED_BY_POLL, REPORTED_BY_LISTS, REPORTED_BY_POLL | REPORTED_BY_LISTS],
  [REPORTED_BY_POLL]: [REPORTED_BY_WEBHOOK, REPORTED_BY_LISTS, REPORTED_BY_WEBHOOK | REPORTED_BY_LISTS],
  [REPORTED_BY_LISTS]: [1, 2, 3, 4, 5, 6, 7],
};

/**
 * The index leads to open events alone: of a fact reported thousands of times by one source the next report reads none. Each look is one for itself, by
 * whole keys: one question for all would be answered by reading the table, if it was almost empty when the plan was made.
 */
const FIND_REPORTED = `
SELECT k.place::integer AS place, t.id, t.kind, t."factKey", t."factAt", t.data, t.sources
FROM unnest($1::bytea[], $2::text[], $3::bytea[], $5::text[]) WITH ORDINALITY AS k (fact_hash, open_to, discussion_hash, org, place)
CROSS JOIN LATERAL (
  SELECT f.id FROM unnest(k.open_to::smallint[]) AS o (reported_by)
  CROSS JOIN LATERAL (SELECT id, seq FROM events WHERE fact_hash = k.fact_hash AND reported_by = o.reported_by AND org = k.org ORDER BY seq DESC LIMIT $4) AS f
  UNION
  SELECT f.id FROM (SELECT id, seq FROM events WHERE discussion_hash = k.discussion_hash AND org = k.org ORDER BY seq DESC LIMIT $4) AS f
) AS found
CROSS JOIN LATERAL (
  SELECT e.seq, e.id, e.kind, e.fact_key AS "factKey", e.fact_at AS "factAt", CASE WHEN e.discussion_hash IS NULL THEN '{}' ELSE e.data END AS data,
         ARRAY(SELECT s.source FROM arrival_events s WHERE s.event_id = e.id ORDER BY s.seq) AS sources
  FROM events e WHERE e.id = found.id OFFSET 0
) AS t
ORDER BY k.place, t.seq`;

const FIND_STATES = `
SELECT k.place::integer AS place, s.state
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS k (forge, org, repo_id, kind, object_id, place)
CROSS JOIN LATERAL (
  SELECT o.state FROM object_states o WHERE o.forge = k.forge AND o.org = k.org AND o.repo_id = k.repo_id AND o.kind = k.kind AND o.object_id = k.object_id OFFSET 0
) AS s`;

/**
 * All that decisions write. What a statement inserts it does not see itself, so a new event bears from the start by whom it was told. Of a list with a
 * limit that it does not know the planner expects one row, and looks that up by its key however small the table was then.
 */
const WRITE = `
WITH made AS (
  INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, discussion_hash, object_hash, reported_by)
  SELECT n.id, n.forge, n.org, n.kind, n.source, n.fact_key, n.fact_hash, n.fact_at, n.actor, n.repo, n.repo_id, n.data, n.stored_at, n.discussion_hash, n.object_hash,
         n.reported_by
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::timestamptz[], $9::text[], $10::text[], $11::text[],
              $12::text[], $13::timestamptz[], $14::bytea[], $15::bytea[], $16::integer[]) WITH ORDINALITY
    AS n (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, discussion_hash, object_hash, reported_by, place)
  ORDER BY n.place
), joined AS (
  INSERT INTO arrival_events (arrival_id, event_id, source)
  SELECT j.arrival_id, j.event_id, j.source FROM unnest($17::text[], $18::text[], $19::text[]) WITH ORDINALITY AS j (arrival_id, event_id, source, place)
  ORDER BY j.place ON CONFLICT DO NOTHING
), told AS (
  UPDATE events e SET reported_by = e.reported_by | t.bits FROM (SELECT * FROM unnest($20::text[], $21::integer[]) LIMIT $33) AS t (id, bits)
  WHERE e.id = t.id AND e.reported_by & t.bits <> t.bits
), kept AS (
  INSERT INTO object_states (forge, org, repo_id, kind, object_id, state)
  SELECT * FROM unnest($22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[])
  ON CONFLICT (forge, org, repo_id, kind, object_id) DO UPDATE SET state = excluded.state, kept_at = clock_timestamp()
)
UPDATE arrivals a SET state = coalesce(c.state, a.state), reason = coalesce(c.reason, a.reason), code = coalesce(c.code, a.code), event_id = coalesce(a.event_id, c.event_id)
FROM (SELECT * FROM unnest($28::text[], $29::text[], $30::text[], $31::text[], $32::text[]) LIMIT $33) AS c (id, state, reason, code, event_id) WHERE a.id = c.id`;

const EVENT_COLUMNS = [
  'id',
  'forge',
  'org',
  'kind',
  'source',
  'factKey',
  'factHash',
  'factAt',
  'actor',
  'repo',
  'repoId',
  'data',
  'storedAt',
  'discussionHash',
  'objectHash',
  'reportedBy',
] as const;

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
    await execute(this.manager, WRITE, [
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
