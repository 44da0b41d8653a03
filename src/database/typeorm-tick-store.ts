import { LessThanOrEqual } from 'typeorm';
import type { Tick, TickStore } from '../housekeeping/tick-store.js';
import { execute, type Database } from './database.js';
import { TickEntity } from './entities/small.entities.js';

/** The occurrence is kept to the second: two schedulers name the same one alike. */
const CLAIM = `
INSERT INTO ticks (id, forge, org, schedule, occurrence, state) VALUES ($1, $2, $3, $4, date_trunc('second', $5::timestamptz), 'due')
ON CONFLICT (forge, org, schedule, occurrence) DO NOTHING`;

export class TypeOrmTickStore implements TickStore {
  constructor(private readonly db: Database) {}

  async claim(tick: Omit<Tick, 'state'>): Promise<boolean> {
    const params = [tick.id, tick.forge, tick.org, tick.schedule, tick.occurrence];
    return this.db.run(async (manager) => (await execute(manager, CLAIM, params)).affected === 1);
  }

  async last(forge: string, org: string, schedule: string, upTo?: Date): Promise<Date | null> {
    const where = { forge, org, schedule, ...(upTo ? { occurrence: LessThanOrEqual(upTo) } : {}) };
    const row = await this.db.run((manager) => manager.findOne(TickEntity, { where, order: { occurrence: 'DESC' } }));
    return row?.occurrence ?? null;
  }

  async due(limit: number): Promise<Tick[]> {
    const rows = await this.db.run((manager) => manager.find(TickEntity, { where: { state: 'due' }, order: { occurrence: 'ASC', id: 'ASC' }, take: limit }));
    return rows.map((row) => ({ ...row }));
  }

  async markDecided(id: string): Promise<void> {
    await this.db.run((manager) => execute(manager, `UPDATE ticks SET state = 'decided' WHERE id = $1`, [id]));
  }
}
