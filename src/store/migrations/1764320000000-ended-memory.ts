import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An act that counts for a rule says, when its event is deleted, which issue or pull request it was of, and goes when that is over. States of jobs that run no more are found
 * by their age.
 */
const MEMORY = `
ALTER TABLE told_acts ADD COLUMN repo_id text, ADD COLUMN number text;
CREATE INDEX told_acts_event ON told_acts (event_id) WHERE repo_id IS NULL;
CREATE INDEX told_acts_object ON told_acts (forge, org, repo_id, number) WHERE repo_id IS NOT NULL;
CREATE INDEX object_states_job ON object_states (kept_at) WHERE kind = 'job';
`;

const BACK = `
DROP INDEX object_states_job, told_acts_object, told_acts_event;
ALTER TABLE told_acts DROP COLUMN number, DROP COLUMN repo_id;
`;

export class EndedMemory1764320000000 implements MigrationInterface {
  name = 'EndedMemory1764320000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(MEMORY);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(BACK);
  }
}
