import { stringifyJson } from '../core/json.js';
import {
  openAlert,
  type OpenAlert,
  type OpenAlertStore,
  type ResolvedAlert,
} from '../housekeeping/open-alert-store.port.js';
import { execute, type Database } from './database.js';

/** A receiver may write here by a database user of its own (`deploy/receiver.sql`): what is larger than any process publishes is not read. */
const LONGEST = 1_000_000;
const PROCESSES = 100;

/** Without `excluded`, which asks for the right to read what others published. */
const PUBLISH = `
INSERT INTO open_alerts (process, alerts, at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (process) DO UPDATE SET alerts = $2, at = clock_timestamp()`;

const PUBLISHED_WITHIN = `
SELECT alerts FROM open_alerts
WHERE at > clock_timestamp() - $1 * interval '1 millisecond' AND octet_length(alerts) <= ${LONGEST}
ORDER BY at DESC, process LIMIT ${PROCESSES}`;

/** In the order of the keys: two processes may resolve the same at the same time. */
const RESOLVE = `
INSERT INTO resolved_alerts (key, at) SELECT * FROM unnest($1::text[], $2::timestamptz[]) AS r (key, at) ORDER BY key
ON CONFLICT (key) DO UPDATE SET at = GREATEST(resolved_alerts.at, excluded.at)`;

const RESOLVED = `SELECT key, at FROM resolved_alerts WHERE key = ANY ($1) ORDER BY key`;

const FORGET = ['open_alerts', 'resolved_alerts'].map(
  (table) => `DELETE FROM ${table} WHERE at <= clock_timestamp() - $1 * interval '1 millisecond'`,
);

/** One row a process. The times are the store's, so that processes with different clocks agree on who is gone. */
export class SqlOpenAlertStore implements OpenAlertStore {
  constructor(private readonly db: Database) {}

  async publish(process: string, alerts: readonly OpenAlert[]): Promise<void> {
    await this.db.run((manager) => execute(manager, PUBLISH, [process, stringifyJson(alerts)]));
  }

  async publishedWithin(ms: number): Promise<OpenAlert[]> {
    const { rows } = await this.db.run((manager) => execute<{ alerts: string }>(manager, PUBLISHED_WITHIN, [ms]));
    return rows.flatMap(({ alerts }) => readAlerts(alerts));
  }

  async resolve(resolved: readonly ResolvedAlert[]): Promise<void> {
    if (resolved.length === 0) return;
    const columns = [resolved.map(({ key }) => key), resolved.map(({ at }) => at)];
    await this.db.run((manager) => execute(manager, RESOLVE, columns));
  }

  async resolved(keys: readonly string[]): Promise<ResolvedAlert[]> {
    if (keys.length === 0) return [];
    const { rows } = await this.db.run((manager) => execute<ResolvedAlert>(manager, RESOLVED, [keys]));
    return rows;
  }

  async forget(ms: number): Promise<void> {
    for (const statement of FORGET) await this.db.run((manager) => execute(manager, statement, [ms]));
  }
}

/** Another version may have written another form, and a receiver anything: that is nothing to show. */
function readAlerts(text: string): OpenAlert[] {
  try {
    return openAlert.array().parse(JSON.parse(text));
  } catch {
    return [];
  }
}
