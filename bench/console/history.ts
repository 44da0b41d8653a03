import type { Stores } from '../../src/store/open-stores.js';

/** Rows that one statement makes. */
const STEP = 50_000;
const DAYS = 30;

/** Filled in this order: each row refers to rows of a table above. */
const TABLES = ['events', 'arrivals', 'arrival_events', 'runs'] as const;

/** The id with the time that it begins with (UUID, version 7) so many milliseconds before. */
const movedId = (id: string): string =>
  `overlay(lpad(to_hex(('x' || lpad(substr(${id}, 1, 8) || substr(${id}, 10, 4), 16, '0'))::bit(64)::bigint - c.copy * $3::bigint), 12, '0') placing '-' from 9 for 0) || substr(${id}, 14)`;

/** Columns of a copy that are not those of its original; all other ids and times are moved as far as the copy is. */
const OTHER: Readonly<Record<string, string>> = {
  fact_key: `t.fact_key || '-' || c.copy`,
  run_key: `t.run_key || '-' || c.copy`,
  fact_hash: `sha256(t.fact_hash || int4send(c.copy))`,
  object_hash: `sha256(t.object_hash || int4send(c.copy))`,
  cause: `replace(t.cause, t.event_id, ${movedId('t.event_id')})`,
  /** The lists of the newest go by it: a copy is older than its original. */
  seq: `t.seq - c.copy * $4::bigint`,
  // As if it were in the audit chain: else housekeeping would seal all of it meanwhile.
  sealed_n: '0',
};

interface Column {
  readonly name: string;
  readonly type: string;
}

/**
 * Copies what the bot did until the store holds so many runs, evenly over the last 30 days: each copy is a set of deliveries with their events and runs,
 * as the bot would have stored them earlier.
 * @throws Error when nothing was decided
 */
export async function copyHistory({ dataSource }: Stores, runs: number): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.connect();
    await runner.query('SET synchronous_commit TO off');
    const [{ count }] = (await runner.query('SELECT count(*)::int AS count FROM runs')) as [{ count: number }];
    if (count === 0) throw new Error('the bot decided nothing that could be copied');
    const copies = Math.ceil(runs / count) - 1;
    if (copies < 1) return;
    const stepMs = Math.floor((DAYS * 86_400_000) / (copies + 1));
    for (const table of TABLES) {
      await runner.query(`CREATE TEMP TABLE first_${table} AS SELECT * FROM ${table}`);
      const copy = await copyOf((sql) => runner.query(sql) as Promise<Column[]>, table);
      const [own] = (await runner.query(`SELECT count(*)::int AS count FROM first_${table}`)) as [{ count: number }];
      const each = Math.max(1, Math.floor(STEP / Math.max(own.count, 1)));
      for (let from = 1; from <= copies; from += each)
        await runner.query(copy, [from, Math.min(copies, from + each - 1), stepMs, own.count]);
    }
    await runner.query('ANALYZE');
  } finally {
    await runner.release();
  }
}

/** Parameters, all of them taken by each table: the first and the last copy, how many milliseconds lie between two, and how many rows one has. */
async function copyOf(ask: (sql: string) => Promise<Column[]>, table: string): Promise<string> {
  const columns = await ask(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
     WHERE attrelid = '${table}'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
  );
  const valueOf = ({ name, type }: Column): string => {
    const other = OTHER[name];
    if (other) return other;
    if (type === 'timestamp with time zone') return `t.${name} - c.copy * $3::bigint * interval '1 millisecond'`;
    return /^(.*_)?id$/.test(name) && !['repo_id', 'revision_id', 'step_id', 'delivery_id', 'object_id'].includes(name)
      ? movedId(`t.${name}`)
      : `t.${name}`;
  };
  return `INSERT INTO ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')})
    SELECT ${columns.map(valueOf).join(', ')} FROM first_${table} t, generate_series($1::int, $2::int) AS c (copy) WHERE ($3::bigint, $4::bigint) IS NOT NULL`;
}
