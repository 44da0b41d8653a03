import { Not } from 'typeorm';
import type { RevisionStore, StoredRevision } from '../rules/revisions/revision-store.port.js';
import { stringifyJson, type Json } from '../core/json.js';
import { execute, type Database } from './database.js';
import { RevisionEntity } from './entities/small.entities.js';
import { lockKeyOf } from './columns.js';

const SAVE = `
INSERT INTO revisions (id, org, hash, files, state, problems, loaded_at, origin) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO UPDATE SET state = excluded.state, problems = excluded.problems, origin = coalesce(excluded.origin, revisions.origin),
  loaded_at = CASE WHEN revisions.state = excluded.state THEN revisions.loaded_at ELSE excluded.loaded_at END`;

const MISSING =
  'SELECT k.id FROM unnest($1::text[]) AS k (id) WHERE NOT EXISTS (SELECT 1 FROM revisions r WHERE r.id = k.id)';

const ACTIVE_IN = `
SELECT id, org, hash, loaded_at AS "loadedAt" FROM revisions WHERE org = ANY (CAST($1 AS text[])) AND state = 'active'`;

export class TypeOrmRevisionStore implements RevisionStore {
  constructor(private readonly db: Database) {}

  /** An active revision replaces the one that was active; a broken one replaces nothing. A second process with the same files keeps the time of the first. */
  async save(revision: StoredRevision): Promise<void> {
    const { id, org, hash, files, state, problems, loadedAt, origin } = revision;
    await this.db.transaction(
      async (manager) => {
        await execute(manager, 'SELECT pg_advisory_xact_lock($1)', [lockKeyOf('revision', org)]);
        if (state === 'active')
          await manager.update(RevisionEntity, { org, state: 'active', id: Not(id) }, { state: 'replaced' });
        await execute(manager, SAVE, [
          id,
          org,
          hash,
          stringifyJson(files),
          state,
          stringifyJson(problems),
          loadedAt,
          origin ? stringifyJson(origin as unknown as Json) : null,
        ]);
      },
      async () => undefined,
    );
  }

  async active(org: string): Promise<StoredRevision | null> {
    const row = await this.db.table(RevisionEntity, (revisions) => revisions.findOneBy({ org, state: 'active' }));
    return row ? toRevision(row) : null;
  }

  async activeIn(orgs: readonly string[]): ReturnType<RevisionStore['activeIn']> {
    type Row = Pick<StoredRevision, 'id' | 'org' | 'hash' | 'loadedAt'>;
    return (await this.db.run((manager) => execute<Row>(manager, ACTIVE_IN, [orgs]))).rows;
  }

  async byId(id: string): Promise<StoredRevision | null> {
    const row = await this.db.table(RevisionEntity, (revisions) => revisions.findOneBy({ id }));
    return row ? toRevision(row) : null;
  }

  async missing(ids: readonly string[]): Promise<string[]> {
    const { rows } = await this.db.run((manager) => execute<{ id: string }>(manager, MISSING, [ids]));
    return rows.map(({ id }) => id);
  }

  async list(org: string, limit: number): Promise<StoredRevision[]> {
    const rows = await this.db.table(RevisionEntity, (revisions) =>
      revisions.find({ where: { org }, order: { seq: 'DESC' }, take: limit }),
    );
    return rows.map(toRevision);
  }
}

function toRevision({ seq: _seq, origin, ...revision }: RevisionEntity): StoredRevision {
  return origin ? { ...revision, origin } : revision;
}
