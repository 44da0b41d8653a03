import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE budget_holds (
  budget     text COLLATE "C" PRIMARY KEY,
  org        text NOT NULL,
  kind       text NOT NULL,
  whose      text NOT NULL,
  per_hour   integer NOT NULL,
  since      timestamptz NOT NULL,
  until      timestamptz NOT NULL,
  places     integer NOT NULL
);
CREATE INDEX budget_holds_until ON budget_holds (until);
ALTER TABLE intents ADD COLUMN held_by text COLLATE "C", ADD COLUMN held_since timestamptz;
UPDATE intents l SET held = true, due_at = greatest(l.due_at, h.due_at) FROM intents h
WHERE h.state = 'planned' AND h.held AND l.run_id = h.run_id AND l.step_no > h.step_no AND l.state = 'planned' AND NOT l.held;
DROP INDEX intents_planned;
CREATE INDEX intents_planned ON intents (lane, upkeep, seq) WHERE state = 'planned' AND NOT held;
CREATE INDEX intents_held ON intents (lane, due_at) WHERE state = 'planned' AND held;
`;

const DOWN = `
DROP INDEX intents_held;
DROP INDEX intents_planned;
CREATE INDEX intents_planned ON intents (lane, upkeep, seq) WHERE state = 'planned';
ALTER TABLE intents DROP COLUMN held_since, DROP COLUMN held_by;
DROP TABLE budget_holds;
`;

/** What a spent budget holds is out of the lanes, until its turn in the budget comes. */
export class HeldByBudgets1763900400000 implements MigrationInterface {
  name = 'HeldByBudgets1763900400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
