import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the last fact about an object told, for what the forge does not say: which label came, that a draft became public. */
export class ObjectStates1763845000000 implements MigrationInterface {
  name = 'ObjectStates1763845000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE object_states (
        forge text NOT NULL,
        repo_id text NOT NULL,
        kind text NOT NULL,
        object_id text NOT NULL,
        state text NOT NULL,
        kept_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (forge, repo_id, kind, object_id)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE object_states');
  }
}
