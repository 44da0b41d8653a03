import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The commit of rules from a repository, its author and who approved it, kept with the revision. */
export class OriginsOfRevisions1763900800000 implements MigrationInterface {
  name = 'OriginsOfRevisions1763900800000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE revisions ADD COLUMN origin text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE revisions DROP COLUMN origin');
  }
}
