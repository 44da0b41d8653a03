import type { EntrySource } from '../core/event.js';
import { parseJson, stringifyJson, type Json } from '../core/json.js';
import type { CursorStore } from '../polling/cursor-store.port.js';
import { execute, type Database } from './database.js';

const WRITE = `
INSERT INTO cursors (forge, org, source, position, advanced_at) VALUES ($1, $2, $3, $4, clock_timestamp())
ON CONFLICT (forge, org, source) DO UPDATE SET position = excluded.position, advanced_at = excluded.advanced_at`;

export class TypeOrmCursorStore implements CursorStore {
  constructor(private readonly db: Database) {}

  async read(forge: string, org: string, source: EntrySource): Promise<{ position: Json; advancedAt: Date } | null> {
    const sql =
      'SELECT position, advanced_at AS "advancedAt" FROM cursors WHERE forge = $1 AND org = $2 AND source = $3';
    const { rows } = await this.db.run((manager) =>
      execute<{ position: string; advancedAt: Date }>(manager, sql, [forge, org, source]),
    );
    return rows[0] ? { position: parseJson(rows[0].position), advancedAt: rows[0].advancedAt } : null;
  }

  async write(forge: string, org: string, source: EntrySource, position: Json): Promise<void> {
    await this.db.run((manager) => execute(manager, WRITE, [forge, org, source, stringifyJson(position)]));
  }
}
