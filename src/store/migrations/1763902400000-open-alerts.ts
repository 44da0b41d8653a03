import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE open_alerts (
  process  text COLLATE "C" PRIMARY KEY,
  alerts   text NOT NULL,
  at       timestamptz NOT NULL
);
`;

/** What each process has raised and not resolved, so that the others can show it. */
export class OpenAlerts1763902400000 implements MigrationInterface {
  name = 'OpenAlerts1763902400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE open_alerts');
  }
}
