import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE budget_uses (
  budget     text COLLATE "C" NOT NULL,
  attempt_id text COLLATE "C" NOT NULL,
  at         timestamptz NOT NULL,
  PRIMARY KEY (budget, attempt_id)
);
CREATE INDEX budget_uses_recent ON budget_uses (budget, at);
ALTER TABLE intents ADD COLUMN held boolean NOT NULL DEFAULT false;
ALTER TABLE intents ADD COLUMN counts_for text;
DROP INDEX attempts_done;
`;

const DOWN = `
CREATE INDEX attempts_done ON attempts (org, sent_at) WHERE outcome = 'done';
ALTER TABLE intents DROP COLUMN counts_for, DROP COLUMN held;
DROP TABLE budget_uses;
`;

/** Which calls of the last hour each budget counts, and what waits for room in one. */
export class Budgets1763855000000 implements MigrationInterface {
  name = 'Budgets1763855000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
