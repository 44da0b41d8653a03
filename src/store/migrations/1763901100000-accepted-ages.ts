import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a person released an arrival whose act was too old: it is decided whatever its age. */
export class AcceptedAges1763901100000 implements MigrationInterface {
  name = 'AcceptedAges1763901100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE arrivals ADD COLUMN age_accepted_at timestamptz');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE arrivals DROP COLUMN age_accepted_at');
  }
}
