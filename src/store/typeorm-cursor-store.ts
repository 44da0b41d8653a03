import type { EntrySource } from '../core/event.js';
import { parseJson, stringifyJson, type Json } from '../core/json.js';
import type { CursorStore } from '../polling/cursor-store.port.js';
import type { Database } from './database.js';
import { CursorEntity } from './entities/small.entities.js';

export class TypeOrmCursorStore implements CursorStore {
  constructor(private readonly db: Database) {}

  async read(forge: string, org: string, source: EntrySource): Promise<{ position: Json; advancedAt: Date } | null> {
    const row = await this.db.table(CursorEntity, (cursors) => cursors.findOneBy({ forge, org, source }));
    return row && { position: parseJson(row.position), advancedAt: row.advancedAt };
  }

  async write(forge: string, org: string, source: EntrySource, position: Json): Promise<void> {
    const row = { forge, org, source, position: stringifyJson(position), advancedAt: () => 'clock_timestamp()' };
    await this.db.table(CursorEntity, (cursors) => cursors.upsert(row, ['forge', 'org', 'source']));
  }
}
