import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What ended long ago is found by its time; plans by their state, and rules in shadow without all others. */
const ENDED = `
CREATE INDEX plans_of_state ON plans (state, seq);
CREATE INDEX runs_in_shadow ON runs (seq) WHERE rule LIKE 'shadow/%';
CREATE INDEX findings_ended ON findings (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX gaps_found ON gaps (found_at);
`;

export class Ended1764310000000 implements MigrationInterface {
  name = 'Ended1764310000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(ENDED);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX gaps_found, findings_ended, runs_in_shadow, plans_of_state');
  }
}
