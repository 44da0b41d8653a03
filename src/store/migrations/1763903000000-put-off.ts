import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE put_off (
  kind           text NOT NULL,
  id             text COLLATE "C" NOT NULL,
  org            text NOT NULL,
  reason_code    text NOT NULL,
  reason_params  text NOT NULL,
  since          timestamptz NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX runs_held ON runs (seq) WHERE starts_with(reason_code, 'run.held.');
`;

/** Why events, runs and occurrences of schedules are not decided yet. */
export class PutOff1763903000000 implements MigrationInterface {
  name = 'PutOff1763903000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX runs_held; DROP TABLE put_off');
  }
}
