import type { DataSource, QueryRunner } from 'typeorm';
import { UserError } from '../core/errors.js';

/** One table after the copy; `rows` were counted in both stores and their contents found equal. */
export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
}

interface Column {
  readonly name: string;
  /** As the server writes it, with its modifiers: `timestamp with time zone`. */
  readonly type: string;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
}

interface Sum {
  readonly rows: string;
  readonly digest: string;
}

/** Rows in one statement; where bytes are kept, a row may be ten megabytes long, and travels as text of twice its size. */
const ROWS_AT_ONCE = 500;
const LONG_ROWS_AT_ONCE = 16;
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
 * Copy every row of every table from one store to another with the same tables, in an order that the references between them allow. The source
 * is read as of one moment; the target gets all of it in one transaction, or nothing.
 * @param told before each table
 * @throws UserError STORE_NOT_EMPTY, STORES_DIFFER (other tables), COPY_DIFFERS (counts or contents, which must not happen)
 */
export async function copyTables(from: DataSource, to: DataSource, told: (table: string) => void = () => {}): Promise<CopiedTable[]> {
  return within(from, 'REPEATABLE READ', (source) =>
    within(to, 'READ COMMITTED', async (target) => {
      const tables = await tablesOf(source);
      if (JSON.stringify(tables) !== JSON.stringify(await tablesOf(target)))
        throw new UserError('STORES_DIFFER', 'the two stores have different tables: bring both up to date with the same version first');
      await refuseUnlessEmpty(target, tables);
      const copied: CopiedTable[] = [];
      for (const table of tables) {
        told(table.name);
        await copyTable(source, target, table);
        copied.push({ name: table.name, rows: await compare(source, target, table) });
        await advanceSequences(target, table);
      }
      return copied;
    }),
  );
}

async function within<T>(dataSource: DataSource, isolation: 'REPEATABLE READ' | 'READ COMMITTED', work: (runner: QueryRunner) => Promise<T>): Promise<T> {
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

/** Those that others refer to stand before them. */
async function tablesOf(runner: QueryRunner): Promise<Table[]> {
  const names = ((await runner.query(TABLES)) as Array<{ name: string }>).map(({ name }) => name);
  const references = (await runner.query(REFERENCES)) as Array<{ from: string; to: string }>;
  const ordered: string[] = [];
  while (ordered.length < names.length) {
    const next = names.find((name) => !ordered.includes(name) && references.every(({ from, to }) => from !== name || ordered.includes(to)));
    if (next === undefined) throw new Error('tables refer to each other in a circle');
    ordered.push(next);
  }
  const columns = async (name: string): Promise<Column[]> =>
    ((await runner.query(COLUMNS, [quoted(name)])) as Column[]).map((column) => ({ name: column.name, type: column.type }));
  const tables: Table[] = [];
  for (const name of ordered) tables.push({ name, columns: await columns(name) });
  return tables;
}

async function refuseUnlessEmpty(target: QueryRunner, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    // Nobody else may begin to work there between this look and the end of the copy.
    await target.query(`LOCK TABLE ${quoted(name)} IN EXCLUSIVE MODE NOWAIT`).catch(() => {
      throw new UserError('STORE_IN_USE', `somebody works with the target (table ${name} is locked): stop every process that uses it`);
    });
    const rows = (await target.query(`SELECT 1 FROM ${quoted(name)} LIMIT 1`)) as unknown[];
    if (rows.length > 0)
      throw new UserError('STORE_NOT_EMPTY', `the target is not empty (table ${name} has rows): copy into a new database, nothing is merged`);
  }
}

async function copyTable(source: QueryRunner, target: QueryRunner, { name, columns }: Table): Promise<void> {
  const atOnce = columns.some(({ type }) => type === 'bytea') ? LONG_ROWS_AT_ONCE : ROWS_AT_ONCE;
  const names = columns.map((column) => quoted(column.name));
  await source.query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${names.map((column) => `${column}::text AS ${column}`).join(', ')} FROM ${quoted(name)}`);
  const insert = `INSERT INTO ${quoted(name)} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${columns.map((column) => `${quoted(column.name)}::${column.type}`).join(', ')}
    FROM unnest(${columns.map((_, n) => `$${n + 1}::text[]`).join(', ')}) AS copied (${names.join(', ')})`;
  for (;;) {
    const rows = (await source.query(`FETCH ${atOnce} FROM copied`)) as Array<Record<string, string | null>>;
    if (rows.length === 0) break;
    await target.query(
      insert,
      columns.map((column) => rows.map((row) => row[column.name] ?? null)),
    );
  }
  await source.query('CLOSE copied');
}

/** @returns how many rows both have */
async function compare(source: QueryRunner, target: QueryRunner, table: Table): Promise<number> {
  const [here, there] = [await sumOf(source, table), await sumOf(target, table)];
  if (here.rows !== there.rows || here.digest !== there.digest)
    throw new UserError('COPY_DIFFERS', `table ${table.name} differs after the copy (${here.rows} rows there, ${there.rows} here): nothing was kept of it`);
  return Number(here.rows);
}

/** Of the contents, whatever the order of the rows. */
async function sumOf(runner: QueryRunner, { name, columns }: Table): Promise<Sum> {
  const row = columns.map((column) => `${quoted(column.name)}::text`).join(', ');
  const sql = `SELECT count(*)::text AS rows, coalesce(sum(('x' || left(md5(ROW(${row})::text), 15))::bit(60)::bigint::numeric), 0)::text AS digest FROM ${quoted(name)}`;
  const [sum] = (await runner.query(sql)) as Sum[];
  if (!sum) throw new Error('an aggregate gave no row');
  return sum;
}

/** Rows made later must come after those copied. */
async function advanceSequences(target: QueryRunner, { name, columns }: Table): Promise<void> {
  for (const column of columns) {
    const [found] = (await target.query('SELECT pg_get_serial_sequence($1, $2) AS sequence', [quoted(name), column.name])) as Array<{
      sequence: string | null;
    }>;
    if (!found?.sequence) continue;
    await target.query(`SELECT setval($1::regclass, coalesce((SELECT max(${quoted(column.name)}) FROM ${quoted(name)}), 0) + 1, false)`, [found.sequence]);
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
