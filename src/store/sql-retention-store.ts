import type { EntityManager } from 'typeorm';
import { grouped } from '../core/grouped.js';
import type { NewEntry } from '../core/arrival.js';
import { firstIdAt, madeAtMs } from '../core/ids.js';
import { isJsonObject, parseJson, type Json } from '../core/json.js';
import {
  ageBefore,
  type HistoryKind,
  type OldRows,
  type Retention,
  type RetentionStore,
} from '../housekeeping/retention-store.port.js';
import { cutLinks } from './audit-cuts.js';
import { execute, executePlanned, planForValues, type Database } from './database.js';
import {
  ACTING_EVENTS,
  ARRIVALS_OF_EVENTS,
  DELETE_ARRIVALS,
  DELETE_EVENTS,
  DELETE_INTENTS,
  DELETE_REVISIONS,
  DELETE_RUNS,
  ENDED,
  ENDED_OBJECTS,
  FORGET_ACTS,
  FORGET_ACTS_OF_EVENTS,
  FORGET_ENTRIES,
  FORGET_INTENTS,
  FORGET_RELEASES,
  FORGET_STATES,
  FORGET_UNDONE,
  KEEP_ACTS,
  LOCK_ROWS,
  LOCK_RUNS_OF_EVENTS,
  OLDEST_KEPT,
  MOVE_BEGINNINGS,
  OLD_ROWS,
  POINT_TO_KEPT,
  REMEMBER_INTENTS,
  RUNS_OF_EVENTS,
} from './history-statements.js';
import { columnsOf } from './parameters.js';
import { idsOf, knownEntryKey } from './rows.js';

const PAGES = `SELECT (pg_relation_size('repeats') / current_setting('block_size')::int)::int AS pages`;

/** The table has no index by time, which would be as large as the table. It lies in the order of time, so that it is read a stretch of pages at a time. */
const FORGET_REPEATS = `DELETE FROM repeats WHERE ctid >= $1::tid AND ctid < $2::tid AND arrival_id < $3::uuid`;
const PAGES_AT_ONCE = 50;

export class SqlRetentionStore implements RetentionStore {
  constructor(private readonly db: Database) {}

  async forgetRepeats(before: Date, from: number): Promise<{ count: number; next: number | null }> {
    const to = from + PAGES_AT_ONCE;
    const stretch = [`(${from},0)`, `(${to},0)`, `${firstIdAt(before)}-0000-0000-000000000000`];
    const { affected } = await this.db.run((manager) => execute(manager, FORGET_REPEATS, stretch));
    const { rows } = await this.db.run((manager) => execute<{ pages: number }>(manager, PAGES));
    return { count: affected, next: to < (rows[0]?.pages ?? 0) ? to : null };
  }

  async moveBeginnings(to: Date): Promise<void> {
    await this.db.run((manager) => execute(manager, MOVE_BEGINNINGS, [to.toISOString(), to]));
  }

  async oldRows(kind: HistoryKind, after: string, limit: number, before: Date): Promise<OldRows> {
    const values = [after, firstIdAt(before), limit];
    const { rows } = await this.db.run((manager) =>
      executePlanned<{ id: string; org: string }>(manager, OLD_ROWS[kind], values),
    );
    const ids = new Map([...grouped(rows, ({ org }) => org)].map(([org, ofOrg]) => [org, ofOrg.map(({ id }) => id)]));
    return { ids, last: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
  }

  async deleteEnded(kind: HistoryKind, ids: readonly string[], age: Retention): Promise<number> {
    return this.db.transaction(async (manager) => {
      await planForValues(manager);
      await execute(manager, LOCK_ROWS[kind], [ids]);
      if (kind === 'events') await execute(manager, LOCK_RUNS_OF_EVENTS, [ids]);
      const ended = idsOf(await execute(manager, ENDED[kind], [ids, ageBefore(age)]));
      if (ended.length > 0) await DELETE[kind](manager, ended, age);
      return ended.length;
    });
  }

  async deleteRevisions(before: Date): Promise<number> {
    return this.db.transaction(async (manager) => {
      const [oldest] = (await execute<{ run: string | null; event: string | null }>(manager, OLDEST_KEPT)).rows;
      const times = [oldest?.run, oldest?.event].map((id) => (id ? (madeAtMs(id) ?? 0) : Infinity));
      const until = new Date(Math.min(before.getTime(), ...times) - REVISIONS_BEFORE_MS);
      return (await execute<{ count: number }>(manager, DELETE_REVISIONS, [until])).rows[0]?.count ?? 0;
    });
  }
}

/** Clocks of processes differ, and a run may be written some time after it was decided. */
const REVISIONS_BEFORE_MS = 86_400_000;

const DELETE = { events: deleteEvents, runs: deleteRuns, arrivals: deleteArrivals };

async function deleteEvents(manager: EntityManager, ids: readonly string[], age: Retention): Promise<void> {
  const arrivals = idsOf(await execute(manager, ARRIVALS_OF_EVENTS, [ids]));
  const { rows: objects } = await execute<EndedObject>(manager, ENDED_OBJECTS, [ids, ageBefore(age)]);
  await deleteRuns(manager, idsOf(await execute(manager, RUNS_OF_EVENTS, [ids])), age);
  await forgetActs(manager, ids, ageBefore(age));
  await execute(manager, FORGET_RELEASES, [ids, ageBefore(age)]);
  await execute(manager, DELETE_EVENTS, [ids]);
  await deleteArrivals(manager, arrivals);
  await forgetObjects(manager, objects);
}

/** Acts by which these events counted for a rule. Those of an issue or pull request that goes on are remembered. */
async function forgetActs(manager: EntityManager, ids: readonly string[], before: Date): Promise<void> {
  const { rows } = await execute<{ id: string; data: string }>(manager, ACTING_EVENTS, [ids]);
  const numbered = rows.flatMap(({ id, data }) => {
    const number = numberIn(parseJson(data));
    return number === null ? [] : [{ id, number }];
  });
  if (numbered.length > 0)
    await execute(manager, KEEP_ACTS, [numbered.map(({ id }) => id), before, numbered.map(({ number }) => number)]);
  await execute(manager, FORGET_ACTS_OF_EVENTS, [ids]);
}

function numberIn(data: Json): string | null {
  const number = isJsonObject(data) ? String(data['number'] ?? '') : '';
  return /^\d+$/.test(number) ? number : null;
}

async function deleteRuns(manager: EntityManager, ids: readonly string[], age: Retention): Promise<void> {
  if (ids.length === 0) return;
  await cutLinks(manager, ids, age);
  for (const sql of [DELETE_INTENTS, REMEMBER_INTENTS, DELETE_RUNS]) await execute(manager, sql, [ids]);
}

async function deleteArrivals(manager: EntityManager, ids: readonly string[]): Promise<void> {
  const { rows } = await execute<GoneArrival>(manager, DELETE_ARRIVALS, [ids]);
  if (rows.length < ids.length) await execute(manager, POINT_TO_KEPT, [ids]);
  const entries = rows.filter(({ kind }) => kind === 'entry');
  if (entries.length > 0)
    await execute(manager, FORGET_ENTRIES, [entries.map(knownEntryKey), entries.map(({ id }) => id)]);
}

async function forgetObjects(manager: EntityManager, objects: readonly EndedObject[]): Promise<void> {
  if (objects.length === 0) return;
  const columns = columnsOf(objects, ['forge', 'org', 'repoId', 'number'] as const);
  for (const sql of [...FORGET_STATES, FORGET_ACTS]) await execute(manager, sql, columns);
  const { rows } = await execute<{ hash: Buffer }>(manager, FORGET_INTENTS, columns);
  if (rows.length > 0) await execute(manager, FORGET_UNDONE, [rows.map(({ hash }) => hash)]);
}

interface EndedObject {
  readonly forge: string;
  readonly org: string;
  readonly repoId: string;
  /** Of an issue or pull request; null = the whole repository. */
  readonly number: string | null;
}

type GoneArrival = Pick<NewEntry, 'id' | 'forge' | 'org' | 'source' | 'entryKey'> & { kind: string };
