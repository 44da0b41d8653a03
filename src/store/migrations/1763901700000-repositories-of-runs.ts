import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who may see some repositories of an organization asks for the newest runs about them; who may see all of it, for the newest of it. */
export class RepositoriesOfRuns1763901700000 implements MigrationInterface {
  name = 'RepositoriesOfRuns1763901700000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE runs ADD COLUMN repo_id text');
    await queryRunner.query(
      'UPDATE runs r SET repo_id = e.repo_id FROM events e WHERE e.id = r.event_id AND e.repo_id IS NOT NULL',
    );
    await queryRunner.query(
      `UPDATE runs SET repo_id = nullif(cause::json ->> 'subject', '') WHERE event_id IS NULL AND nullif(cause::json ->> 'subject', '') IS NOT NULL`,
    );
    await queryRunner.query('CREATE INDEX runs_of_org ON runs (org, seq)');
    await queryRunner.query('CREATE INDEX runs_of_repository ON runs (org, repo_id, seq) WHERE repo_id IS NOT NULL');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX runs_of_repository');
    await queryRunner.query('DROP INDEX runs_of_org');
    await queryRunner.query('ALTER TABLE runs DROP COLUMN repo_id');
  }
}
