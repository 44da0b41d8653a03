import type { Act, ActStore } from '../api/act-store.port.js';
import { stringifyJson } from '../core/json.js';
import { asJson, RowDecoder } from './columns.js';
import { execute, executePlanned, type Database } from './database.js';

const NO_ORG = '';

const BEGIN = `
INSERT INTO acts (id, org, by, by_kind, operation, about, reason) VALUES ($1, $2, $3, $4, $5, $6, $7)`;
const END = `
UPDATE acts SET outcome = $2, ended_at = clock_timestamp() WHERE id = $1 AND ended_at IS NULL AND sealed_n IS NULL`;

const ROWS = new RowDecoder<Act>('id at by byKind operation org about reason outcome endedAt', {
  org: (org) => (org === NO_ORG ? null : org),
  about: asJson,
});
/** Planned for its values: without a bound that is known, a page far back would read all that is newer. */
const OLDER = `($1::text IS NULL OR a.seq < (SELECT seq FROM acts WHERE id = $1))`;
const OF_ALL = `SELECT ${ROWS.list('a')} FROM acts a WHERE ${OLDER} ORDER BY a.seq DESC LIMIT $2`;
const OF_ORG = `SELECT ${ROWS.list('a')} FROM acts a WHERE a.org = $3 AND ${OLDER} ORDER BY a.seq DESC LIMIT $2`;

const ORG_OF = `
SELECT org FROM intents WHERE id = $1 UNION ALL SELECT org FROM runs WHERE id = $1 UNION ALL SELECT org FROM events WHERE id = $1
UNION ALL SELECT org FROM arrivals WHERE id = $1 UNION ALL SELECT org FROM plans WHERE hash = $1 LIMIT 1`;

/** Acts in PostgreSQL, which has the times as well: those of all processes are in one order. */
export class SqlActStore implements ActStore {
  constructor(private readonly db: Database) {}

  async begin({ id, org, by, byKind, operation, about, reason }: Parameters<ActStore['begin']>[0]): Promise<void> {
    const values = [id, org ?? NO_ORG, by, byKind, operation, stringifyJson(about), reason];
    await this.db.run((manager) => execute(manager, BEGIN, values));
  }

  async end(id: string, outcome: string): Promise<void> {
    await this.db.run((manager) => execute(manager, END, [id, outcome]));
  }

  async list({ org, before, limit }: Parameters<ActStore['list']>[0]): Promise<Act[]> {
    const page = [before ?? null, limit];
    const [sql, values] = org === undefined ? [OF_ALL, page] : [OF_ORG, [...page, org]];
    const { rows } = await this.db.run((manager) => executePlanned<Record<string, unknown>>(manager, sql, values));
    return rows.map((row) => ROWS.decode(row));
  }

  async orgOf(id: string): Promise<string | null> {
    const { rows } = await this.db.run((manager) => execute<{ org: string | null }>(manager, ORG_OF, [id]));
    return rows[0]?.org ?? null;
  }
}
