import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which classes of source have told an event (1 the webhook, 2 the polls), beside the fact's hash in the index: an arrival looks for events
 * that are open to it, and a forge that tells one fact thousands of times must not make each telling read all the ones before.
 */
export class ToldBy1763867000000 implements MigrationInterface {
  name = 'ToldBy1763867000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE events ADD COLUMN told_by smallint NOT NULL DEFAULT 0');
    await queryRunner.query(`
      UPDATE events SET told_by = told.told_by
      FROM (SELECT event_id, bit_or(CASE WHEN source = 'webhook' THEN 1 ELSE 2 END) AS told_by FROM arrival_events GROUP BY event_id) told
      WHERE told.event_id = events.id`);
    await queryRunner.query('CREATE INDEX events_open ON events (fact_hash, told_by, seq)');
    await queryRunner.query('DROP INDEX events_fact');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX events_fact ON events (fact_hash, seq)');
    await queryRunner.query('ALTER TABLE events DROP COLUMN told_by');
  }
}
