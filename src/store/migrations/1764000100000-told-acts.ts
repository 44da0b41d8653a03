import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE told_acts (
  forge     text NOT NULL,
  org       text NOT NULL,
  rule      text NOT NULL,
  act       text COLLATE "C" NOT NULL,
  event_id  text NOT NULL,
  told_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (forge, org, rule, act)
)`;

/** Entries of the forge upon which rules acted, each for the first event that told of it: whoever tells the act again starts nothing. */
export class ToldActs1764000100000 implements MigrationInterface {
  name = 'ToldActs1764000100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE told_acts');
  }
}
