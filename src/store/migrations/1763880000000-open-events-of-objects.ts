import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which undecided event stands before or behind another of its object: found without a look at the backlog or at what the object went through. */
export class OpenEventsOfObjects1763880000000 implements MigrationInterface {
  name = 'OpenEventsOfObjects1763880000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'CREATE INDEX events_of_object_due ON events (object_hash, seq) WHERE decided_at IS NULL AND object_hash IS NOT NULL',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX events_of_object_due');
  }
}
