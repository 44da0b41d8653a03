import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was learned of a forge or of a repository of rules: shown and compared after a restart too. */
export class KnownFacts1763865000000 implements MigrationInterface {
  name = 'KnownFacts1763865000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE known_facts (
        forge text NOT NULL,
        subject text NOT NULL,
        kind text NOT NULL,
        fact text NOT NULL,
        learned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (forge, subject, kind)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE known_facts');
  }
}
