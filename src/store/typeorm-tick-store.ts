import { LessThanOrEqual } from 'typeorm';
import type { Tick, TickStore } from '../pipeline/tick-store.port.js';
import { execute, executePlanned, type Database } from './database.js';
import { TickEntity } from './entities/small.entities.js';

/** The occurrence is kept to the second: two schedulers name the same one alike. */
const CLAIM = `
INSERT INTO ticks (id, forge, org, schedule, occurrence, state) VALUES ($1, $2, $3, $4, date_trunc('second', $5::timestamptz), 'due')
ON CONFLICT (forge, org, schedule, occurrence) DO NOTHING`;

/** The one occurrence that a policy has for each revision (`policy:ID@HASH`) stays as long as its revision is active. */
const PRUNE = `
DELETE FROM ticks WHERE id IN (
  SELECT t.id FROM ticks t
  WHERE t.state = 'decided' AND t.occurrence < $1
    AND (
      EXISTS (
        SELECT 1 FROM ticks newer
        WHERE newer.forge = t.forge AND newer.org = t.org AND newer.schedule = t.schedule AND newer.occurrence > t.occurrence
        ORDER BY newer.occurrence OFFSET $2 - 1 LIMIT 1
      )
      OR (
        t.schedule LIKE 'policy:%@%' AND NOT EXISTS (
          SELECT 1 FROM revisions r WHERE r.org = t.org AND r.state = 'active' AND right(t.schedule, length(r.hash) + 1) = '@' || r.hash
        )
      )
    )
  LIMIT $3
)`;

const LAST_OF = `
SELECT (SELECT t.occurrence FROM ticks t WHERE t.forge = w.forge AND t.org = w.org AND t.schedule = w.schedule AND t.occurrence <= $4
        ORDER BY t.occurrence DESC LIMIT 1) AS last
FROM unnest(CAST($1 AS text[]), CAST($2 AS text[]), CAST($3 AS text[])) WITH ORDINALITY AS w (forge, org, schedule, n) ORDER BY w.n`;

export class TypeOrmTickStore implements TickStore {
  constructor(private readonly db: Database) {}

  async claim(tick: Omit<Tick, 'state'>): Promise<boolean> {
    const params = [tick.id, tick.forge, tick.org, tick.schedule, tick.occurrence];
    return this.db.run(async (manager) => (await execute(manager, CLAIM, params)).affected === 1);
  }

  async last(forge: string, org: string, schedule: string, upTo?: Date): Promise<Date | null> {
    const where = { forge, org, schedule, ...(upTo ? { occurrence: LessThanOrEqual(upTo) } : {}) };
    const row = await this.db.table(TickEntity, (ticks) => ticks.findOne({ where, order: { occurrence: 'DESC' } }));
    return row?.occurrence ?? null;
  }

  async lastOf(...[schedules, upTo]: Parameters<TickStore['lastOf']>): Promise<Array<Date | null>> {
    const columns = (['forge', 'org', 'schedule'] as const).map((name) => schedules.map((one) => one[name]));
    const { rows } = await this.db.run((manager) =>
      execute<{ last: Date | null }>(manager, LAST_OF, [...columns, upTo]),
    );
    return rows.map(({ last }) => last);
  }

  async due(limit: number): Promise<Tick[]> {
    const rows = await this.db.table(TickEntity, (ticks) =>
      // The state is said, not given: an index of those that are due is of use only so.
      ticks
        .createQueryBuilder('tick')
        .where(`tick.state = 'due'`)
        .orderBy({ 'tick.occurrence': 'ASC', 'tick.id': 'ASC' })
        .limit(limit)
        .getMany(),
    );
    return rows.map((row) => ({ ...row }));
  }

  async markDecided(id: string): Promise<void> {
    await this.db.table(TickEntity, (ticks) => ticks.update({ id }, { state: 'decided' }));
  }

  async prune(before: Date, keep: number, limit: number): Promise<number> {
    return (await this.db.run((manager) => executePlanned(manager, PRUNE, [before, keep, limit]))).affected;
  }
}
