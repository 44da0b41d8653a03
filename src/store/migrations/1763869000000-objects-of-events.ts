import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which object an event is about: events of one object are decided in their order, and a step may ask whether that order is in doubt. */
export class ObjectsOfEvents1763869000000 implements MigrationInterface {
  name = 'ObjectsOfEvents1763869000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Events of before stay without: they are decided, or were in the order in which they came.
    await queryRunner.query('ALTER TABLE events ADD COLUMN object_hash bytea');
    await queryRunner.query('CREATE INDEX events_of_object ON events (object_hash, seq) WHERE object_hash IS NOT NULL');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX events_of_object');
    await queryRunner.query('ALTER TABLE events DROP COLUMN object_hash');
  }
}
