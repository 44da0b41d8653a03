import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Rows of before keep their text and are `legacy`. What programs read of such texts until now gets its code here, for the last time: runs that
 * were held, and steps that were cancelled because of an earlier one.
 */
const UP = `
ALTER TABLE runs ADD COLUMN reason_code text NOT NULL DEFAULT 'legacy', ADD COLUMN reason_params text, ALTER COLUMN reason DROP NOT NULL;
ALTER TABLE runs ALTER COLUMN reason_code DROP DEFAULT;
UPDATE runs SET reason_code = 'run.held.legacy', reason_params = json_build_object('text', reason)::text WHERE reason LIKE 'held: %';
ALTER TABLE intents ADD COLUMN reason_code text DEFAULT 'legacy', ADD COLUMN reason_params text;
ALTER TABLE intents ALTER COLUMN reason_code DROP DEFAULT;
UPDATE intents SET reason_code = 'intent.earlier-step', reason_params = '{}' WHERE state = 'cancelled' AND reason = 'an earlier step of the run did not end well';
`;

const DOWN = `
ALTER TABLE intents DROP COLUMN reason_params, DROP COLUMN reason_code;
UPDATE runs SET reason = reason_code || ' ' || reason_params WHERE reason IS NULL;
ALTER TABLE runs ALTER COLUMN reason SET NOT NULL, DROP COLUMN reason_params, DROP COLUMN reason_code;
`;

/** A reason is stored as a code and its parameters; the sentence is made where it is shown. */
export class ReasonCodes1763901200000 implements MigrationInterface {
  name = 'ReasonCodes1763901200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
