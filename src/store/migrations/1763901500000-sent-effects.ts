import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An event of the bot's own is compared with the effects that were sent to its repository. */
export class SentEffects1763901500000 implements MigrationInterface {
  name = 'SentEffects1763901500000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX intents_sent ON intents (lane, action, seq) WHERE attempts > 0');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX intents_sent');
  }
}
