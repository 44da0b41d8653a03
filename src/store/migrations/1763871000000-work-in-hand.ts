import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Work that may end its process, written down before it begins; and what is left alone since it did. */
export class WorkInHand1763871000000 implements MigrationInterface {
  name = 'WorkInHand1763871000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE work_in_hand (
        topic text NOT NULL CHECK (topic IN ('arrival', 'event')),
        id text COLLATE "C" NOT NULL,
        owner text NOT NULL,
        lease_until timestamptz NOT NULL,
        deaths integer NOT NULL,
        quarantined boolean NOT NULL DEFAULT false,
        began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (topic, id)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE work_in_hand');
  }
}
