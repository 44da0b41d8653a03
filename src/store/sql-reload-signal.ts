import type { ReloadSignal } from '../housekeeping/reload/reload-signal.port.js';
import { execute, type Database } from './database.js';

/** Beside the heartbeat of the receivers, where a receiver may read and write the time (`deploy/receiver.sql`). */
const GIVE = `
INSERT INTO heartbeats (name, at) VALUES ('reload', clock_timestamp())
ON CONFLICT (name) DO UPDATE SET at = clock_timestamp()
RETURNING at`;

const LAST = `SELECT at FROM heartbeats WHERE name = 'reload'`;

export class SqlReloadSignal implements ReloadSignal {
  constructor(private readonly db: Database) {}

  async give(): Promise<Date> {
    const { rows } = await this.db.run((manager) => execute<{ at: Date }>(manager, GIVE));
    return (rows as [{ at: Date }])[0].at;
  }

  async last(): Promise<Date | null> {
    const { rows } = await this.db.run((manager) => execute<{ at: Date }>(manager, LAST));
    return rows[0]?.at ?? null;
  }
}
