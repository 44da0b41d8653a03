import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the way out of unknown outcomes keeps: the snapshot of each call, how often an intent was read about, when it is looked at once more,
 * what people undid, and which events are echoes of our own effects.
 */
export class Recovery1763810000000 implements MigrationInterface {
  name = 'Recovery1763810000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE attempts ADD COLUMN snapshot text');
    await queryRunner.query(`ALTER TABLE intents ADD COLUMN reads integer NOT NULL DEFAULT 0, ADD COLUMN sightings integer NOT NULL DEFAULT 0,
      ADD COLUMN look_again_at timestamptz`);
    await queryRunner.query(`CREATE INDEX intents_unknown ON intents (due_at, seq) WHERE state = 'unknown'`);
    await queryRunner.query(
      'CREATE INDEX intents_look_again ON intents (look_again_at) WHERE look_again_at IS NOT NULL',
    );
    await queryRunner.query('CREATE INDEX intents_effect ON intents (effect_hash, seq)');
    await queryRunner.query(`CREATE TABLE undone (
      effect_hash bytea PRIMARY KEY,
      effect_key  text NOT NULL,
      event_id    text COLLATE "C" NOT NULL,
      by          text NOT NULL,
      told        text NOT NULL,
      at          timestamptz NOT NULL
    )`);
    await queryRunner.query(`CREATE TABLE echoes (
      event_id  text COLLATE "C" PRIMARY KEY REFERENCES events (id) ON DELETE CASCADE,
      intent_id text COLLATE "C" NOT NULL,
      depth     integer NOT NULL
    )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE undone, echoes');
    await queryRunner.query('DROP INDEX intents_effect');
    await queryRunner.query('ALTER TABLE intents DROP COLUMN reads, DROP COLUMN sightings, DROP COLUMN look_again_at');
    await queryRunner.query('ALTER TABLE attempts DROP COLUMN snapshot');
  }
}
