import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Reviews and comments of one person about one pull request find each other: the feed tells a review's lines as comments. */
export class Talks1763800100000 implements MigrationInterface {
  name = 'Talks1763800100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE events ADD COLUMN talk_hash bytea');
    await queryRunner.query('CREATE INDEX events_talk ON events (talk_hash, seq) WHERE talk_hash IS NOT NULL');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE events DROP COLUMN talk_hash');
  }
}
