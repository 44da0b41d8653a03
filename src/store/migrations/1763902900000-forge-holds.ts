import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE forge_holds (
  credential     text COLLATE "C" PRIMARY KEY,
  forge          text NOT NULL,
  orgs           text NOT NULL,
  reason_code    text NOT NULL,
  reason_params  text NOT NULL,
  since          timestamptz NOT NULL,
  until          timestamptz NOT NULL
);
`;

/** Credentials of which nothing is claimed now: the forge asked to wait, does not answer, or refuses them. */
export class ForgeHolds1763902900000 implements MigrationInterface {
  name = 'ForgeHolds1763902900000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE forge_holds');
  }
}
