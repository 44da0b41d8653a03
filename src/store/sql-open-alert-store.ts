import { stringifyJson } from '../core/json.js';
import { openAlert, type OpenAlert, type OpenAlertStore } from '../housekeeping/open-alert-store.port.js';
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

const FORGET = `DELETE FROM open_alerts WHERE at <= clock_timestamp() - $1 * interval '1 millisecond'`;

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

  async forget(ms: number): Promise<void> {
    await this.db.run((manager) => execute(manager, FORGET, [ms]));
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
