import type { EntrySource } from '../core/event.js';
import { parseJson, stringifyJson, type Json } from '../core/json.js';
import { Raw } from 'typeorm';
import type { CursorStore, KeptPosition, PositionOfOrg } from '../polling/cursor-store.port.js';
import type { Database } from './database.js';
import { CursorEntity } from './entities/small.entities.js';

export class TypeOrmCursorStore implements CursorStore {
  constructor(private readonly db: Database) {}

  async read(forge: string, org: string, source: EntrySource): Promise<KeptPosition | null> {
    const row = await this.db.table(CursorEntity, (cursors) => cursors.findOneBy({ forge, org, source }));
    return row && { position: parseJson(row.position), advancedAt: row.advancedAt };
  }

  async of(orgs: readonly string[]): Promise<PositionOfOrg[]> {
    const isAsked = Raw((column) => `${column} = ANY (CAST(:orgs AS text[]))`, { orgs });
    const rows = await this.db.table(CursorEntity, (cursors) => cursors.findBy({ org: isAsked }));
    return rows.map(({ position, ...row }) => ({ ...row, position: parseJson(position) }));
  }

  async begin(forge: string, org: string, source: EntrySource, position: Json): Promise<void> {
    const row = { forge, org, source, ...advancedTo(position) };
    await this.db.table(CursorEntity, (cursors) =>
      cursors.createQueryBuilder().insert().values(row).orIgnore().execute(),
    );
  }

  async replace(forge: string, org: string, source: EntrySource, before: Json, position: Json): Promise<boolean> {
    const isKnown = Raw((column) => `${column}::jsonb = CAST(:known AS jsonb)`, { known: stringifyJson(before) });
    const { affected } = await this.db.table(CursorEntity, (cursors) =>
      cursors.update({ forge, org, source, position: isKnown }, advancedTo(position)),
    );
    return affected === 1;
  }

  async write(forge: string, org: string, source: EntrySource, position: Json): Promise<void> {
    const row = { forge, org, source, ...advancedTo(position) };
    await this.db.table(CursorEntity, (cursors) => cursors.upsert(row, ['forge', 'org', 'source']));
  }
}

function advancedTo(position: Json): { position: string; advancedAt: () => string } {
  return { position: stringifyJson(position), advancedAt: () => 'clock_timestamp()' };
}
