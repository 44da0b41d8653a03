import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A delivery can name any number: what one organization tells about an object must not change what another one knows of it. */
export class StatesByOrganization1763900210000 implements MigrationInterface {
  name = 'StatesByOrganization1763900210000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE object_states ADD COLUMN org text');
    await queryRunner.query(`
      UPDATE object_states s SET org = n.org
      FROM (SELECT DISTINCT ON (forge, repo_id) forge, repo_id, org FROM events WHERE repo_id IS NOT NULL ORDER BY forge, repo_id, seq DESC) AS n
      WHERE n.forge = s.forge AND n.repo_id = s.repo_id`);
    await queryRunner.query('DELETE FROM object_states WHERE org IS NULL');
    await queryRunner.query('ALTER TABLE object_states ALTER COLUMN org SET NOT NULL');
    await queryRunner.query('ALTER TABLE object_states DROP CONSTRAINT object_states_pkey');
    await queryRunner.query('ALTER TABLE object_states ADD PRIMARY KEY (forge, org, repo_id, kind, object_id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE object_states DROP CONSTRAINT object_states_pkey');
    await queryRunner.query(`
      DELETE FROM object_states a USING object_states b
      WHERE a.forge = b.forge AND a.repo_id = b.repo_id AND a.kind = b.kind AND a.object_id = b.object_id AND a.ctid < b.ctid`);
    await queryRunner.query('ALTER TABLE object_states DROP COLUMN org');
    await queryRunner.query('ALTER TABLE object_states ADD PRIMARY KEY (forge, repo_id, kind, object_id)');
  }
}
