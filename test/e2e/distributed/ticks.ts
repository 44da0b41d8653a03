import { randomUUID } from 'node:crypto';
import type { Stores } from '../../../src/store/open-stores.js';

/** As if the schedule had last been fired ten minutes ago: every scheduler that starts finds an occurrence to make up for, at once. */
export async function rememberAnOldTick({ dataSource }: Stores, schedule: string): Promise<void> {
  const occurrence = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 600_000);
  await dataSource.query(
    `INSERT INTO ticks (id, forge, org, schedule, occurrence, state) VALUES ($1, 'main', 'acme', $2, $3, 'decided')`,
    [`old-${randomUUID()}`, schedule, occurrence],
  );
}

export interface Fired {
  readonly schedule: string;
  readonly occurrence: Date;
  readonly runs: number;
}

/** Ticks of a schedule (or of all that begin so) since the remembered one, with the runs that each made. */
export async function ticksOf({ dataSource }: Stores, schedule: string): Promise<Fired[]> {
  return dataSource.query(
    `SELECT t.schedule, t.occurrence, (SELECT count(*)::int FROM runs r WHERE r.cause::json ->> 'tickId' = t.id) AS runs
     FROM ticks t WHERE t.schedule LIKE $1 AND t.id NOT LIKE 'old-%' AND t.state = 'decided' ORDER BY t.occurrence`,
    [`${schedule}%`],
  );
}
