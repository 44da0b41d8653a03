import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Repositories that rows of an organization's feed named. On a forge that finds no repository by its number they are the ones that belong to
 * the organization. What earlier rows told is taken over from the events.
 */
export class FeedRepositories1763900200000 implements MigrationInterface {
  name = 'FeedRepositories1763900200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE feed_repositories (
        forge text NOT NULL,
        org text NOT NULL,
        repo_id text NOT NULL,
        name text NOT NULL,
        seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (forge, org, repo_id)
      )`);
    await queryRunner.query(`
      INSERT INTO feed_repositories (forge, org, repo_id, name)
      SELECT DISTINCT ON (e.forge, e.org, e.repo_id) e.forge, e.org, e.repo_id, e.repo::json ->> 'name'
      FROM events e JOIN arrival_events t ON t.event_id = e.id AND t.source = 'feed'
      WHERE e.repo_id IS NOT NULL AND e.repo::json ->> 'name' IS NOT NULL AND lower(split_part(e.repo::json ->> 'full_name', '/', 1)) = lower(e.org)
      ORDER BY e.forge, e.org, e.repo_id, e.seq DESC`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE feed_repositories');
  }
}
