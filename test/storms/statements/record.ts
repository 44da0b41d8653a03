import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { Database } from '../../../src/store/database.js';

/** A statement as the program sent it, with values of one test. */
export interface RecordedStatement {
  readonly text: string;
  /** As the server reads them; null = NULL. */
  readonly values: ReadonlyArray<string | null>;
  /** It was planned for its values, not for any. */
  readonly isPlanned: boolean;
}

/** What one test sent for the first time, and the rows that its store had at the end, as a list of JSON objects for each table. */
export interface RecordedTest {
  readonly statements: readonly RecordedStatement[];
  readonly rows: Readonly<Record<string, string>>;
  /** Of the stores: which there are, and which were called so far, as `Class.name`. */
  readonly methods: { readonly all: readonly string[]; readonly called: readonly string[] };
}

/** Values of so many tests are kept of each text. */
const SAMPLES = 3;
/** Host of the embedded store, which knows no buffers. */
const EMBEDDED = 'embedded';
const IS_STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;

/** Connections in the hands of the program; what tests ask by themselves is not of interest. */
const inUse = new WeakSet<object>();
const planned = new WeakSet<object>();
const counts = new Map<string, number>();
let fresh: RecordedStatement[] = [];
let isWatching = false;

/** Folder for what is recorded; absent = nothing is. */
const FOLDER = process.env['FORGEHAND_TEST_STATEMENTS'];

const methods = { all: new Set<string>(), called: new Set<string>() };
const watched = new WeakSet<object>();

/** Which methods of the stores are called: a plain store's statements are made by a library, and stand in no source. */
export function watchMethods(stores: object): void {
  if (FOLDER === undefined) return;
  for (const store of Object.values(stores) as unknown[])
    for (let of = prototypeOf(store); of && of !== Object.prototype; of = prototypeOf(of))
      if (/^(?:Sql|TypeOrm)/.test(of.constructor.name)) watch(of);
}

function prototypeOf(value: unknown): object | null {
  return typeof value === 'object' && value !== null ? (Object.getPrototypeOf(value) as object | null) : null;
}

function watch(prototype: object): void {
  if (watched.has(prototype)) return;
  watched.add(prototype);
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === 'constructor' || typeof value !== 'function') continue;
    const method = `${prototype.constructor.name}.${name}`;
    methods.all.add(method);
    const own = value as (...args: unknown[]) => unknown;
    const noted = function (this: unknown, ...args: unknown[]): unknown {
      methods.called.add(method);
      return own.apply(this, args);
    };
    Object.defineProperty(prototype, name, { value: noted, writable: true, configurable: true });
  }
}

/** Sees each statement where all of them pass: `Database` on the one side, the driver on the other. */
export function watchStatements(): void {
  if (FOLDER === undefined || isWatching) return;
  isWatching = true;
  const connected = Database.prototype['connected'];
  Database.prototype['connected'] = function <T>(this: Database, work: Parameters<typeof connected<T>>[0]): Promise<T> {
    return connected.call(this, async (runner) => {
      const client = (await runner.connect()) as object;
      inUse.add(client);
      try {
        return await work(runner);
      } finally {
        inUse.delete(client);
      }
    }) as Promise<T>;
  };
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    if (inUse.has(this) && this.host !== EMBEDDED) note(this, args);
    return query.apply(this, args);
  } as typeof pg.Client.prototype.query;
}

function note(client: object, [asked, given]: unknown[]): void {
  const { text, values } = typeof asked === 'string' ? { text: asked, values: given } : (asked as pg.QueryConfig);
  if (/^SET LOCAL plan_cache_mode = force_custom_plan/.test(text)) planned.add(client);
  if (/^(COMMIT|ROLLBACK)/.test(text)) planned.delete(client);
  const count = counts.get(text) ?? 0;
  if (!IS_STATEMENT.test(text) || count >= SAMPLES || fresh.some((one) => one.text === text)) return;
  counts.set(text, count + 1);
  const list: unknown[] = Array.isArray(values) ? values : [];
  fresh.push({ text, values: list.map(asText), isPlanned: planned.has(client) });
}

/** As the driver would write it into a message. Its types do not name the function. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;

function asText(value: unknown): string | null {
  const prepared = prepareValue(value);
  if (prepared === null || prepared === undefined) return null;
  return Buffer.isBuffer(prepared) ? `\\x${prepared.toString('hex')}` : String(prepared);
}

const TABLES = `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'migrations'`;

/** At the end of a test, before its store is emptied: what it sent that is new, with the rows that it had. */
export async function keepStatements(dataSource: DataSource): Promise<void> {
  if (FOLDER === undefined || fresh.length === 0) return;
  const statements = fresh;
  fresh = [];
  const rows: Record<string, string> = {};
  for (const { name } of await dataSource.query<Array<{ name: string }>>(TABLES)) {
    const sql = `SELECT json_agg(t)::text AS rows FROM ${name} t`;
    const [found] = await dataSource.query<Array<{ rows: string | null }>>(sql);
    if (found?.rows) rows[name] = found.rows;
  }
  mkdirSync(FOLDER, { recursive: true });
  const test: RecordedTest = { statements, rows, methods: { all: [...methods.all], called: [...methods.called] } };
  writeFileSync(join(FOLDER, `${process.pid}-${randomBytes(6).toString('hex')}.json`), JSON.stringify(test));
}
