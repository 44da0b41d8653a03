import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE resolved_alerts (
  key  text COLLATE "C" PRIMARY KEY,
  at   timestamptz NOT NULL
);
`;

/** Which alerts a process has resolved, so that the process that raised one closes it. */
export class ResolvedAlerts1763902510000 implements MigrationInterface {
  name = 'ResolvedAlerts1763902510000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE resolved_alerts');
  }
}
