import type { Stores } from '../../src/store/open-stores.js';

/** Rows that one statement makes. */
const STEP = 20_000;

/**
 * Copies what the bot decided until the store holds so many runs: each copy is an event of its own with the runs about it, a minute before the other.
 * @throws Error when nothing was decided
 */
export async function copyHistory({ dataSource }: Stores, runs: number): Promise<void> {
  const [{ count }] = (await dataSource.query('SELECT count(*)::int AS count FROM runs')) as [{ count: number }];
  if (count === 0) throw new Error('the bot decided nothing that could be copied');
  const copies = Math.ceil(runs / count) - 1;
  const each = Math.max(1, Math.floor(STEP / count));
  for (let from = 1; from <= copies; from += each) {
    const range = [from, Math.min(copies, from + each - 1)];
    for (const statement of STATEMENTS) await dataSource.query(statement, range);
  }
  await dataSource.query('ANALYZE');
}

const hash = (text: string): string => `'\\\\x' || encode(sha256((${text} || '-' || n)::bytea), 'hex')`;

/** Copies of rows that were there at first: their ids are as long as the bot makes them. */
const copyOf = (table: string, over: string, id: string): string => `
INSERT INTO ${table} SELECT (jsonb_populate_record(t, jsonb_build_object(${over}))).*
FROM ${table} t, generate_series($1::int, $2::int) AS n WHERE length(t.${id}) = 36`;

const STATEMENTS = [
  copyOf(
    'events',
    `'seq', nextval(pg_get_serial_sequence('events', 'seq')), 'stored_at', t.stored_at - n * interval '1 minute', 'id', t.id || '-' || n, 'fact_key', t.fact_key || '-' || n, 'fact_hash', ${hash('t.id')}, 'object_hash', ${hash("'o' || t.id")}`,
    'id',
  ),
  copyOf('arrivals', `'id', t.id || '-' || n, 'once_key', ${hash('t.id')}, 'event_id', t.event_id || '-' || n`, 'id'),
  copyOf(
    'arrival_events',
    `'seq', nextval(pg_get_serial_sequence('arrival_events', 'seq')), 'arrival_id', t.arrival_id || '-' || n, 'event_id', t.event_id || '-' || n`,
    'arrival_id',
  ),
  copyOf(
    'runs',
    `'seq', nextval(pg_get_serial_sequence('runs', 'seq')), 'id', t.id || '-' || n, 'run_key', t.run_key || '-' || n, 'event_id', t.event_id || '-' || n,
     'cause', jsonb_build_object('kind', 'event', 'eventId', t.event_id || '-' || n)::text`,
    'id',
  ),
];
