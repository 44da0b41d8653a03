import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Intents that wait for a person's consent, told apart from those whose outcome is unknown: nothing of them can have happened, so they
 * hold no effect key. And runs that wait for the end of a window in which runs of one key become one.
 */
const UP = `
ALTER TABLE intents ADD COLUMN approval text CHECK (approval IN ('wanted', 'given', 'denied'));
ALTER TABLE intents ADD COLUMN approval_by text;
ALTER TABLE intents ADD COLUMN approval_at timestamptz;
DROP INDEX intents_one_holder;
CREATE UNIQUE INDEX intents_one_holder ON intents (effect_hash)
  WHERE state IN ('claimed', 'sent', 'unknown', 'waiting') AND (state <> 'waiting' OR approval IS DISTINCT FROM 'wanted');
CREATE INDEX intents_to_approve ON intents (seq) WHERE state = 'waiting' AND approval = 'wanted';

ALTER TABLE runs DROP CONSTRAINT runs_state_check;
ALTER TABLE runs ADD CONSTRAINT runs_state_check
  CHECK (state IN ('open', 'done', 'failed', 'cancelled', 'not-fired', 'error', 'gathering', 'coalesced'));
ALTER TABLE runs ADD COLUMN due_at timestamptz;
ALTER TABLE runs ADD COLUMN coalesce_hash bytea;
ALTER TABLE runs ADD COLUMN coalesced_into text COLLATE "C";
CREATE INDEX runs_gathering ON runs (coalesce_hash) WHERE state = 'gathering';
CREATE INDEX runs_due ON runs (due_at) WHERE state = 'gathering';
CREATE INDEX runs_coalesced ON runs (coalesced_into) WHERE coalesced_into IS NOT NULL;
CREATE INDEX runs_fired ON runs (org, rule, decided_at) WHERE state NOT IN ('not-fired', 'error', 'gathering', 'coalesced');
`;

const DOWN = `
DROP INDEX runs_fired;
ALTER TABLE runs DROP COLUMN coalesced_into, DROP COLUMN coalesce_hash, DROP COLUMN due_at;
ALTER TABLE runs DROP CONSTRAINT runs_state_check;
ALTER TABLE runs ADD CONSTRAINT runs_state_check CHECK (state IN ('open', 'done', 'failed', 'cancelled', 'not-fired', 'error'));
DROP INDEX intents_one_holder;
CREATE UNIQUE INDEX intents_one_holder ON intents (effect_hash) WHERE state IN ('claimed', 'sent', 'unknown', 'waiting');
ALTER TABLE intents DROP COLUMN approval, DROP COLUMN approval_by, DROP COLUMN approval_at;
`;

export class ApprovalsAndWindows1763820000000 implements MigrationInterface {
  name = 'ApprovalsAndWindows1763820000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
