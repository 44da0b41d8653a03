import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why an arrival makes no event, or is quarantined, as a code beside the reason: programs read no sentences. */
export class ArrivalCodes1763900100000 implements MigrationInterface {
  name = 'ArrivalCodes1763900100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE arrivals ADD COLUMN code text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE arrivals DROP COLUMN code');
  }
}
