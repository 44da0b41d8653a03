import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
ALTER TABLE intents ADD COLUMN upkeep boolean NOT NULL DEFAULT false;
UPDATE intents SET upkeep = true FROM runs WHERE runs.id = intents.run_id AND intents.state IN ('planned', 'claimed', 'sent', 'unknown', 'waiting') AND runs.event_id IS NULL;
DROP INDEX intents_planned;
CREATE INDEX intents_planned ON intents (lane, upkeep, seq) WHERE state = 'planned';
`;

const DOWN = `
DROP INDEX intents_planned;
CREATE INDEX intents_planned ON intents (lane, seq) WHERE state = 'planned';
ALTER TABLE intents DROP COLUMN upkeep;
`;

/** What an event caused goes before what a schedule or a plan caused. */
export class Upkeep1763870000000 implements MigrationInterface {
  name = 'Upkeep1763870000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
