import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type DataSource,
  type EntityManager,
  type EntityTarget,
  type ObjectLiteral,
  QueryFailedError,
  type QueryRunner,
  QueryRunnerAlreadyReleasedError,
  type Repository,
} from 'typeorm';
import { backoffMs } from '../platform/backoff.js';
import { StoreUnavailable } from '../core/errors.js';
import { hashOf } from '../core/ids.js';
import { BytesInPieces, queryInPieces, type TakesQueries } from './bytes-in-pieces.js';
import { RunAgain, isRunAgain, isUnavailable, sqlStateOf, toStoreError } from './store-errors.js';
import type { Place, StoreGate } from './store-gate.js';

const NAME_UNKNOWN = 'a connection did not know the name of a statement';
const TRIES = 5;
const BACKOFF_MS = 20;

export interface Rows<T> {
  rows: T[];
  /** Rows inserted, updated, deleted or read. */
  affected: number;
}

/**
 * Run one statement on the connection of this manager, in its transaction if there is one; without the detour over TypeORM's own, which
 * costs as much as the statement. One that comes again is prepared.
 * NUL characters, which `text` cannot hold and anybody may put into a name, become U+FFFD. The last parameter may be `BytesInPieces`.
 */
export async function execute<T = unknown>(
  manager: EntityManager,
  sql: string,
  params: readonly unknown[] = [],
): Promise<Rows<T>> {
  const { runner, client, prepared } = await clientOf(manager);
  const values = params.map(withoutNul);
  const query = await prepared.queryOf(client, sql, values);
  try {
    return rowsOf<T>(await withBegin(client, ask(client, query)));
  } catch (error) {
    if (!prepared.isOfName(query, error)) throw failed(sql, error);
    // An error is the end of a transaction.
    if (runner.isTransactionActive) throw new RunAgain(NAME_UNKNOWN);
    return rowsOf<T>(
      await ask(client, { text: sql, values }).catch((again: unknown) => {
        throw failed(sql, again);
      }),
    );
  } finally {
    const last = values.at(-1);
    if (last instanceof BytesInPieces) last.giveUp();
  }
}

/** A statement with its values. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/**
 * One transaction of statements that need nothing of each other's answers, on the connection of this manager: sent in one go, with its begin and
 * its commit, it costs one way to the server and one write to the socket. Each statement still sees what was committed before it began.
 * What came of it is not known when the connection is lost meanwhile.
 * @returns what each is answered with, in order
 */
export async function executeAtOnce(
  manager: EntityManager,
  statements: readonly Statement[],
): Promise<ReadonlyArray<Rows<Record<string, unknown>>>> {
  const { client, prepared } = await clientOf(manager);
  const queries: Query[] = [];
  for (const { sql, params } of statements) queries.push(await prepared.queryOf(client, sql, params.map(withoutNul)));
  begin(client);
  const answers = [...queries, { text: 'COMMIT', values: [] }].map(async (query) => {
    try {
      return rowsOf<Record<string, unknown>>(await ask(client, query));
    } catch (error) {
      throw prepared.isOfName(query, error) ? new RunAgain(NAME_UNKNOWN) : failed(query.text, error);
    }
  });
  // All have ended before anybody goes on; those behind the first failure only say that the transaction had failed.
  await withBegin(client, Promise.allSettled(answers));
  return (await Promise.all(answers)).slice(0, queries.length);
}

/**
 * One statement that is planned for its values: for what comes seldom and finds rows by a limit, a span of time or a filter that may be left out. The one plan
 * for all values (`SESSION`) takes a limit for a tenth of the table and a filter for one that is there. Not within a transaction: see `planForValues`.
 */
export async function executePlanned<T>(
  manager: EntityManager,
  sql: string,
  params: readonly unknown[],
): Promise<Rows<T>> {
  const [, answer] = await executeAtOnce(manager, [PLAN_FOR_VALUES, { sql, params }]);
  return answer as Rows<T>;
}

/** To the end of the transaction, statements are planned for their values. */
export async function planForValues(manager: EntityManager): Promise<void> {
  await execute(manager, PLAN_FOR_VALUES.sql);
}

const PLAN_FOR_VALUES: Statement = { sql: 'SET LOCAL plan_cache_mode = force_custom_plan', params: [] };

async function clientOf(
  manager: EntityManager,
): Promise<{ runner: QueryRunner; client: Client; prepared: PreparedStatements }> {
  const runner = manager.queryRunner;
  if (!runner) throw new Error('a statement outside Database.run and Database.transaction');
  // TypeORM lets go of a connection that broke, and another may have it by now.
  if (runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
  return { runner, client: (await runner.connect()) as Client, prepared: PreparedStatements.of(manager.connection) };
}

const BEGIN = 'START TRANSACTION';

/** Connections whose transaction has begun, and which were not told yet. */
const begun = new WeakMap<object, Client['connection']['stream']>();

/** Told with the first statement: to wait for the answer would be a way to the server for nothing. Where it fails, so does that statement. */
function begin(client: Client): void {
  const { stream } = client.connection;
  stream.cork();
  begun.set(client, stream);
  client.query({ text: BEGIN, values: [] }).catch(() => undefined);
}

/** @param answer of a statement that was just given to the connection */
function withBegin<T>(client: object, answer: Promise<T>): Promise<T> {
  begun.get(client)?.uncork();
  begun.delete(client);
  return answer;
}

function ask(client: Client, query: Query): Promise<{ rows: unknown[]; rowCount: number | null }> {
  const last = query.values.at(-1);
  return last instanceof BytesInPieces
    ? queryInPieces(client as object as TakesQueries, query, last)
    : client.query(query);
}

function rowsOf<T>({ rows, rowCount }: { rows: unknown[]; rowCount: number | null }): Rows<T> {
  return { rows: rows as T[], affected: rowCount ?? 0 };
}

function failed(sql: string, error: unknown): QueryFailedError {
  return new QueryFailedError(sql, undefined, error instanceof Error ? error : new Error(String(error)));
}

/** For `text`: NUL becomes U+FFFD, also in the members of lists. */
function withoutNul(param: unknown): unknown {
  if (typeof param === 'string') return param.includes('\0') ? param.replaceAll('\0', '\uFFFD') : param;
  return Array.isArray(param) ? param.map(withoutNul) : param;
}

/** The one way to the tables: transactions that survive deadlocks and a lost answer to COMMIT, and errors in our words. */
export class Database {
  /** @param gate shared by all that ask the same store on behalf of organizations; absent = first come, first served */
  constructor(
    private readonly dataSource: DataSource,
    private readonly gate: StoreGate | null = null,
    /** `first`: before all that wait at the gate. */
    private readonly place: Place = 'in turn',
  ) {}

  /**
   * Reads, or a single statement that is right to repeat; not in a transaction.
   * @param org on whose behalf, as for `StoreGate.through`
   */
  async run<T>(work: (manager: EntityManager) => Promise<T>, org?: string): Promise<T> {
    return this.again(() => this.onConnection((runner) => work(runner.manager), org));
  }

  /** Reads of a list: each statement is planned for its values, as by `executePlanned`. */
  async planned<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const planned = async (manager: EntityManager): Promise<T> => {
      await planForValues(manager);
      return work(manager);
    };
    return this.transaction(planned, async () => undefined);
  }

  /** `run` with the repository of a plain table. */
  async table<Row extends ObjectLiteral, T>(
    entity: EntityTarget<Row>,
    work: (rows: Repository<Row>) => Promise<T>,
  ): Promise<T> {
    return this.run((manager) => work(manager.getRepository(entity)));
  }

  /**
   * Run `work` in one transaction; again from the start on deadlock and serialization failure (up to 5 times). On the embedded store
   * there is one connection: inside, use nothing but the given manager.
   * @param recheck when the connection was lost at COMMIT, says what came of it (ids are made by us, so it can be read); undefined =
   *   nothing was committed, run again. Without it such a transaction ends in StoreUnavailable
   * @throws StoreUnavailable when the store cannot be used now
   */
  async transaction<T>(
    work: (manager: EntityManager) => Promise<T>,
    recheck?: (manager: EntityManager) => Promise<T | undefined>,
  ): Promise<T> {
    return this.again(async () => {
      const outcome = await this.once(work);
      if ('value' in outcome) return outcome.value;
      if (!recheck) throw new StoreUnavailable('the store went away at commit');
      const committed = await this.run(recheck);
      return committed === undefined ? this.transaction(work) : committed;
    });
  }

  /**
   * One statement that is its own transaction, and that must not be repeated when it is not known what came of it.
   * @param recheck when the connection was lost meanwhile, says what came of it; undefined = it cannot be seen now. It may still come
   *   through, since a server may go on with what it was told last: the caller asks once more later
   * @throws StoreUnavailable when the store cannot be used now
   */
  async statement<T>(
    work: (manager: EntityManager) => Promise<T>,
    recheck: (manager: EntityManager) => Promise<T | undefined>,
  ): Promise<T> {
    try {
      return await this.run(work);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      const seen = await this.run(recheck).catch(() => undefined);
      if (seen === undefined) throw error;
      return seen;
    }
  }

  private async once<T>(work: (manager: EntityManager) => Promise<T>): Promise<{ value: T } | { lostAtCommit: true }> {
    return this.onConnection(async (runner) => {
      await runner.startTransaction();
      let value: T;
      try {
        value = await work(runner.manager);
      } catch (error) {
        await runner.rollbackTransaction().catch(() => undefined);
        throw error;
      }
      try {
        await runner.commitTransaction();
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        await discard(runner);
        return { lostAtCommit: true };
      }
      return { value };
    });
  }

  private onConnection<T>(work: (runner: QueryRunner) => Promise<T>, org?: string): Promise<T> {
    return this.gate ? this.gate.through(() => this.connected(work), this.place, org) : this.connected(work);
  }

  private async connected<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    const query = runner.query.bind(runner);
    // What TypeORM asks by itself does not go through `execute`.
    const sendQuery = async (sql: string, params?: unknown, isWhole?: boolean): Promise<unknown> => {
      const client = (await runner.connect()) as Client;
      if (sql === BEGIN) return begin(client);
      return withBegin(client, query(sql, withoutNul(params) as unknown[], isWhole as true));
    };
    runner.query = sendQuery as QueryRunner['query'];
    try {
      return await work(runner);
    } catch (error) {
      if (isUnavailable(error)) await discard(runner);
      throw error;
    } finally {
      await runner.release();
    }
  }

  private async again<T>(work: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        return await work();
      } catch (error) {
        if (!isRunAgain(error) || tried >= TRIES) throw toStoreError(error);
        await wait(backoffMs(tried, { firstMs: BACKOFF_MS, between: [0, 1] }));
      }
    }
  }
}

/**
 * The pool must not give this connection out again: a server says that it ends it before the socket closes, and until then it looks sound.
 * Without one (the connect failed) there is nothing to do.
 */
async function discard(runner: QueryRunner): Promise<void> {
  const client = (await runner.connect().catch(() => null)) as { end(): Promise<void> } | null;
  client?.end().catch(() => undefined);
}

/** As `pg` takes it. */
interface Query {
  name?: string;
  text: string;
  values: readonly unknown[];
}

/** What we use of `pg`'s client. */
interface Client {
  readonly connection: { readonly stream: Pick<Writable, 'cork' | 'uncork'> };
  query(query: Query): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/** Texts of which we keep count, and so the most that a connection ever prepares. */
const MOST_TEXTS = 500;
/**
 * A plan made for an almost empty table would be kept until the table is analyzed, which the embedded store does at housekeeping only. Plans of a
 * young connection, whose store may be as young, live for a short time, and each time twice as long as before.
 */
const FIRST_PLANS_LIVE_MS = 500;
const PLANS_LIVE_MS = 30_000;
/**
 * One plan for all values. Left to itself the planner makes a new one each time, since it takes a list of unknown length for ten members where
 * ours mostly has one. Statements that come often are written so that this plan is right: they find by key first (`executePlanned` is for the others). None
 * runs for so long that compiling it (`jit`) pays. Said again now and then, for a transaction that is rolled back takes it along.
 */
const SESSION = 'SET plan_cache_mode = force_generic_plan; SET jit = off';

/**
 * What a pooler between us and the server answers, when it hands each transaction to another connection of the server: the name is not known
 * there (26000), or known already (42P05). 0A000: the columns of a prepared statement have changed under it, as an upgrade may do.
 */
const NAME_IN_DOUBT = new Set(['26000', '42P05', '0A000']);

/**
 * Statements that come again are prepared, once by each connection: to read and plan one of ours anew costs two to five times what it costs to
 * run it. Where 4,000 deliveries that no rule wants are decided in batches, the server takes 0.17 ms for each in place of 0.29, and a bot with the embedded store
 * 1.5 ms in place of 2.0 (processor time, `npm run bench -- drain`). Behind a pooler that cannot keep names everything is sent in full.
 */
export class PreparedStatements {
  private static readonly ofSources = new WeakMap<DataSource, PreparedStatements>();
  /** By text; '' = it came once. One that was made for its lists alone never comes again, and is not worth a name. */
  private readonly names = new Map<string, string>();
  private readonly planned = new WeakMap<Pick<Client, 'query'>, { readonly atMs: number; readonly liveMs: number }>();
  private isNaming = true;

  /** @param now milliseconds, steady */
  constructor(private readonly now: () => number = () => performance.now()) {}

  static of(source: DataSource): PreparedStatements {
    const entry = this.ofSources.get(source);
    if (entry) return entry;
    const made = new PreparedStatements();
    this.ofSources.set(source, made);
    return made;
  }

  /** What to give to the client. What has no values may be several statements, and several cannot be prepared. The name is made of the text, since two processes of ours may come to share a connection of the server. */
  async queryOf(client: Pick<Client, 'query'>, text: string, values: readonly unknown[]): Promise<Query> {
    if (!this.isNaming || values.length === 0) return { text, values };
    const planned = this.planned.get(client);
    if (planned === undefined || this.now() - planned.atMs >= planned.liveMs) {
      const liveMs = planned === undefined ? FIRST_PLANS_LIVE_MS : Math.min(2 * planned.liveMs, PLANS_LIVE_MS);
      this.planned.set(client, { atMs: this.now(), liveMs });
      const settings = planned === undefined ? SESSION : `DISCARD PLANS; ${SESSION}`;
      await withBegin(client, client.query({ text: settings, values: [] }));
    }
    const name = this.nameOf(text);
    return name === null ? { text, values } : { name, text, values };
  }

  /**
   * Look at what a query ended with.
   * @returns whether that came of its name alone: the server did nothing, and names are not used any more
   */
  isOfName({ name }: Query, error: unknown): boolean {
    if (name === undefined || !NAME_IN_DOUBT.has(sqlStateOf(error) ?? '')) return false;
    this.isNaming = false;
    return true;
  }

  private nameOf(text: string): string | null {
    const earlierName = this.names.get(text);
    if (earlierName === undefined) {
      if (this.names.size < MOST_TEXTS) this.names.set(text, '');
      return null;
    }
    if (earlierName !== '') return earlierName;
    const name = `forgehand_${hashOf(text).slice(0, 24)}`;
    this.names.set(text, name);
    return name;
  }
}
