import type { DataSource, QueryRunner } from 'typeorm';
import { UserError } from '../core/errors.js';

interface Column {
  readonly name: string;
  /** As the server writes it, with its modifiers: `timestamp with time zone`. */
  readonly type: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
}

/** What a row holds, in the order of the table's columns, each value as the server writes it. */
export type Row = ReadonlyArray<string | null>;

/** Decimal numbers. The digest is of the contents, whatever the order of the rows. */
export interface Sum {
  readonly rows: string;
  readonly digest: string;
}

/** Rows, and bytes of their texts, in one statement. A row that is longer travels alone: with its copies on the way it takes many times its size. */
const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 2 * 1024 * 1024;
/** Places of rows that are looked up together. */
const PLACES_AT_ONCE = 10_000;
/** So that a value has one text only, on whatever server. */
const SETTINGS = [
  'TimeZone TO UTC',
  'DateStyle TO ISO',
  'IntervalStyle TO postgres',
  'bytea_output TO hex',
  'extra_float_digits TO 3',
  'statement_timeout TO 0',
];

const TABLES = `
SELECT c.relname AS name FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> 'migrations' ORDER BY c.relname`;

const REFERENCES = `
SELECT DISTINCT f.conrelid::regclass::text AS "from", f.confrelid::regclass::text AS "to" FROM pg_constraint f
WHERE f.contype = 'f' AND f.connamespace = current_schema()::regnamespace AND f.conrelid <> f.confrelid`;

const COLUMNS = `
SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type FROM pg_attribute a
WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attname`;

/**
 * Run `work` in a transaction on a connection of its own.
 * @param isolation REPEATABLE READ: everything is read as of one moment
 */
export async function within<T>(
  dataSource: DataSource,
  isolation: 'REPEATABLE READ' | 'READ COMMITTED',
  work: (runner: QueryRunner) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction(isolation);
    for (const setting of SETTINGS) await runner.query(`SET LOCAL ${setting}`);
    const value = await work(runner);
    await runner.commitTransaction();
    return value;
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

/** Every table but the list of migrations, those that others refer to before them. */
export async function tablesOf(runner: QueryRunner): Promise<Table[]> {
  const names = ((await runner.query(TABLES)) as Array<{ name: string }>).map(({ name }) => name);
  const references = (await runner.query(REFERENCES)) as Array<{ from: string; to: string }>;
  const ordered: string[] = [];
  while (ordered.length < names.length) {
    const next = names.find(
      (name) => !ordered.includes(name) && references.every(({ from, to }) => from !== name || ordered.includes(to)),
    );
    if (next === undefined) throw new Error('tables refer to each other in a circle');
    ordered.push(next);
  }
  const columns = async (name: string): Promise<Column[]> =>
    ((await runner.query(COLUMNS, [quoted(name)])) as Column[]).map((column) => ({
      name: column.name,
      type: column.type,
    }));
  const tables: Table[] = [];
  for (const name of ordered) tables.push({ name, columns: await columns(name) });
  return tables;
}

/** Nobody changes the columns of the tables before the end of the transaction; rows are not held. */
export async function holdTables(source: QueryRunner, tables: readonly Table[]): Promise<void> {
  await source.query(`LOCK TABLE ${tables.map(({ name }) => quoted(name)).join(', ')} IN ACCESS SHARE MODE`);
}

/** @throws UserError STORE_IN_USE, STORE_NOT_EMPTY */
export async function refuseUnlessEmpty(target: QueryRunner, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    // Nobody else may begin to work there between this look and the end of the copy.
    await target.query(`LOCK TABLE ${quoted(name)} IN EXCLUSIVE MODE NOWAIT`).catch(() => {
      throw new UserError(
        'STORE_IN_USE',
        `another process uses the target (table ${name} is locked): stop every process that uses it`,
      );
    });
    const rows = (await target.query(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)) as unknown[];
    if (rows.length > 0)
      throw new UserError(
        'STORE_NOT_EMPTY',
        `the target is not empty (table ${name} has rows): use a new database or folder, since nothing is merged`,
      );
  }
}

interface Place {
  readonly ctid: string;
  /** Length of the row's long values as text. */
  readonly bytes: number;
}

/** Every row of a table, a few at a time. Within one snapshot a row keeps its place, and the lengths of its values are known without reading them. */
export async function* rowsOf(source: QueryRunner, { name, columns }: Table): AsyncGenerator<Row[]> {
  const lengths = columns
    .filter(({ type }) => type === 'text' || type === 'bytea')
    .map((column) => `coalesce(octet_length(${quoted(column.name)}), 0)::bigint * ${column.type === 'bytea' ? 2 : 1}`);
  const bytes = ['0', ...lengths].join(' + ');
  const texts = columns.map((column) => `${quoted(column.name)}::text AS ${quoted(column.name)}`).join(', ');
  await source.query(
    `DECLARE every_row NO SCROLL CURSOR FOR SELECT ctid::text AS ctid, (${bytes})::float8 AS bytes FROM ${quoted(name)}`,
  );
  for (;;) {
    const places = (await source.query(`FETCH ${PLACES_AT_ONCE} FROM every_row`)) as Place[];
    if (places.length === 0) break;
    for (const batch of batchesOf(places)) {
      const rows = (await source.query(`SELECT ${texts} FROM ${quoted(name)} WHERE ctid = ANY ($1::tid[])`, [
        batch,
      ])) as Array<Record<string, string | null>>;
      yield rows.map((row) => columns.map((column) => row[column.name] ?? null));
    }
  }
  await source.query('CLOSE every_row');
}

function* batchesOf(places: readonly Place[]): Generator<string[]> {
  let batch: string[] = [];
  let sum = 0;
  for (const { ctid, bytes } of places) {
    if (batch.length > 0 && (batch.length >= ROWS_AT_ONCE || sum + bytes > BYTES_AT_ONCE)) {
      yield batch;
      batch = [];
      sum = 0;
    }
    batch.push(ctid);
    sum += bytes;
  }
  if (batch.length > 0) yield batch;
}

export async function insertRows(target: QueryRunner, { name, columns }: Table, rows: readonly Row[]): Promise<void> {
  const names = columns.map((column) => quoted(column.name)).join(', ');
  await target.query(
    `INSERT INTO ${quoted(name)} (${names}) OVERRIDING SYSTEM VALUE
     SELECT ${columns.map((column) => `${quoted(column.name)}::${column.type}`).join(', ')}
     FROM unnest(${columns.map((_, n) => `$${n + 1}::text[]`).join(', ')}) AS copied (${names})`,
    columns.map((_, n) => rows.map((row) => row[n] ?? null)),
  );
}

/** What `RowSum` gives for the same rows. */
export async function sumOf(runner: QueryRunner, { name, columns }: Table): Promise<Sum> {
  const texts = columns.map((column) => `${quoted(column.name)}::text AS ${quoted(column.name)}`).join(', ');
  const row = columns
    .map((column) => `coalesce(octet_length(${quoted(column.name)}) || ':' || ${quoted(column.name)}, '-')`)
    .join(' || ');
  const sql = `SELECT count(*)::text AS rows, coalesce(sum(('x' || left(md5(${row}), 15))::bit(60)::bigint::numeric), 0)::text AS digest
    FROM (SELECT ${texts} FROM ${quoted(name)} OFFSET 0) AS every_row`;
  const [sum] = (await runner.query(sql)) as Sum[];
  if (!sum) throw new Error('an aggregate gave no row');
  return { rows: sum.rows, digest: sum.digest };
}

/** Rows made later must come after those copied. */
export async function advanceSequences(target: QueryRunner, { name, columns }: Table): Promise<void> {
  for (const column of columns) {
    const [row] = (await target.query('SELECT pg_get_serial_sequence($1, $2) AS sequence', [
      quoted(name),
      column.name,
    ])) as Array<{
      sequence: string | null;
    }>;
    if (!row?.sequence) continue;
    await target.query(
      `SELECT setval($1::regclass, coalesce((SELECT max(${quoted(column.name)}) FROM ${quoted(name)}), 0) + 1, false)`,
      [row.sequence],
    );
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
