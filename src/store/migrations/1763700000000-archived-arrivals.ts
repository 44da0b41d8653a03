import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Bodies of old arrivals are given up, their keys stay. The index holds what still has a body, by the time of arrival. */
export class ArchivedArrivals1763700000000 implements MigrationInterface {
  name = 'ArchivedArrivals1763700000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE arrivals ADD COLUMN archived_at timestamptz');
    await queryRunner.query(
      `CREATE INDEX arrivals_with_body ON arrivals (arrived_at) WHERE archived_at IS NULL AND state <> 'stored'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE arrivals DROP COLUMN archived_at');
  }
}
