import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why a person paused. */
export class PauseReasons1763901450000 implements MigrationInterface {
  name = 'PauseReasons1763901450000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE pauses ADD COLUMN reason text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE pauses DROP COLUMN reason');
  }
}
