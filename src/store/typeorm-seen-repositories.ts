import { Any } from 'typeorm';
import type { EventRepository } from '../core/event.js';
import { isJsonObject, parseJson } from '../core/json.js';
import type { FeedRepositories, FeedRepository, SeenRepositories } from '../forge/seen-repositories.port.js';
import { execute, type Database } from './database.js';
import { FeedRepositoryEntity } from './entities/intake.entities.js';

/** One look into the index for each repository, however many events it has: the newest event of the first one behind this. */
const nextNewest = (behind: string): string => `
  SELECT n.repo_id, n.repo, n.kind FROM events n WHERE n.forge = $1 AND n.org = $2 AND n.repo_id IS NOT NULL ${behind} ORDER BY n.repo_id, n.seq DESC LIMIT 1`;

const NEWEST_TELLING = `
WITH RECURSIVE newest AS (
  (${nextNewest('')})
  UNION ALL
  SELECT f.* FROM newest CROSS JOIN LATERAL (${nextNewest('AND n.repo_id > newest.repo_id')}) AS f
)
SELECT repo FROM newest WHERE kind NOT IN ('repository.deleted', 'repository.transferred') ORDER BY repo_id`;

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
    const options = { where: { forge, org }, order: { repoId: 'ASC' } } as const;
    const rows = await this.db.table(FeedRepositoryEntity, (repositories) => repositories.find(options));
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
