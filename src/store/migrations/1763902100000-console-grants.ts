import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE console_grants (
  id              text COLLATE "C" PRIMARY KEY,
  forge           text NOT NULL,
  user_id         text NOT NULL,
  login           text NOT NULL,
  sealed          text NOT NULL,
  access_ends_at  timestamptz NOT NULL,
  renewed_at      timestamptz NOT NULL,
  UNIQUE (forge, user_id)
);
`;

const DOWN = `
DROP TABLE console_grants;
`;

/** Tokens of people who log in to the Console through a forge, sealed: one grant a person. */
export class ConsoleGrants1763902100000 implements MigrationInterface {
  name = 'ConsoleGrants1763902100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
