import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
ALTER TABLE intents ADD COLUMN object text COLLATE "C", ADD COLUMN names text COLLATE "C", ADD COLUMN aside boolean NOT NULL DEFAULT false;
UPDATE intents SET aside = true WHERE state = 'unknown' OR (state = 'waiting' AND approval IS DISTINCT FROM 'wanted');
CREATE INDEX intents_aside ON intents (lane, seq) WHERE aside;
`;

const DOWN = `
DROP INDEX intents_aside;
ALTER TABLE intents DROP COLUMN aside, DROP COLUMN names, DROP COLUMN object;
`;

/** Which object an intent writes and which it names, and whether it stepped aside. Intents of before say no object. */
export class ObjectsOfIntents1763902800000 implements MigrationInterface {
  name = 'ObjectsOfIntents1763902800000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
