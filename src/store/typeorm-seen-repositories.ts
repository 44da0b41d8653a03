import { Any } from 'typeorm';
import type { EventRepository } from '../core/event.js';
import { isJsonObject, parseJson } from '../core/json.js';
import type { FeedRepositories, FeedRepository, SeenRepositories } from '../forge/seen-repositories.port.js';
import { execute, type Database } from './database.js';
import { FeedRepositoryEntity } from './entities/intake.entities.js';

const NEWEST_TELLING = `
SELECT repo FROM (
  SELECT DISTINCT ON (repo_id) repo_id, repo, kind FROM events
  WHERE forge = $1 AND org = $2 AND repo_id IS NOT NULL
  ORDER BY repo_id, seq DESC
) AS newest
WHERE kind NOT IN ('repository.deleted', 'repository.transferred')
ORDER BY repo_id`;

/** Rows are written in one order, so that two pollers of one feed do not wait for each other in a ring. */
const KEEP_NAMED = `
INSERT INTO feed_repositories (forge, org, repo_id, name)
SELECT $1, $2, n.id, n.name FROM unnest($3::text[], $4::text[]) AS n (id, name) ORDER BY n.id
ON CONFLICT (forge, org, repo_id) DO UPDATE SET name = excluded.name, seen_at = clock_timestamp() WHERE feed_repositories.name <> excluded.name`;

export class TypeOrmSeenRepositories implements SeenRepositories {
  constructor(private readonly db: Database) {}

  async list(forge: string, org: string): Promise<EventRepository[]> {
    const { rows } = await this.db.run((manager) => execute<{ repo: string }>(manager, NEWEST_TELLING, [forge, org]));
    return rows.map(({ repo }) => parseJson(repo)).filter(isJsonObject) as unknown as EventRepository[];
  }

  async named(forge: string, org: string): Promise<FeedRepository[]> {
    const asked = { where: { forge, org }, order: { repoId: 'ASC' } } as const;
    const rows = await this.db.table(FeedRepositoryEntity, (repositories) => repositories.find(asked));
    return rows.map(({ repoId, name }) => ({ id: repoId, name }));
  }

  async keepNamed(forge: string, org: string, { own, movedAway }: FeedRepositories): Promise<void> {
    await this.db.transaction(async (manager) => {
      if (movedAway.length > 0) await manager.delete(FeedRepositoryEntity, { forge, org, repoId: Any(movedAway) });
      if (own.length > 0)
        await execute(manager, KEEP_NAMED, [forge, org, own.map(({ id }) => id), own.map(({ name }) => name)]);
    });
  }
}
