import type { EventRepository } from '../core/event.js';
import { isJsonObject, parseJson } from '../core/json.js';
import type { SeenRepositories } from '../housekeeping/seen-repositories.js';
import { execute, type Database } from './database.js';

const NEWEST_TELLING = `
SELECT repo FROM (
  SELECT DISTINCT ON (repo_id) repo_id, repo, kind FROM events
  WHERE forge = $1 AND org = $2 AND repo_id IS NOT NULL
  ORDER BY repo_id, seq DESC
) AS newest
WHERE kind NOT IN ('repository.deleted', 'repository.transferred')
ORDER BY repo_id`;

export class TypeOrmSeenRepositories implements SeenRepositories {
  constructor(private readonly db: Database) {}

  async list(forge: string, org: string): Promise<EventRepository[]> {
    const { rows } = await this.db.run((manager) => execute<{ repo: string }>(manager, NEWEST_TELLING, [forge, org]));
    return rows.map(({ repo }) => parseJson(repo)).filter(isJsonObject) as unknown as EventRepository[];
  }
}
