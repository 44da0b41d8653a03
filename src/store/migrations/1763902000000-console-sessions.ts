import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE console_sessions (
  id          text COLLATE "C" PRIMARY KEY,
  token_hash  text COLLATE "C" NOT NULL UNIQUE,
  kind        text NOT NULL,
  name        text NOT NULL,
  grant_id    text COLLATE "C",
  agent       text NOT NULL,
  made_at     timestamptz NOT NULL,
  seen_at     timestamptz NOT NULL,
  ends_at     timestamptz NOT NULL,
  ended_at    timestamptz
);
CREATE INDEX console_sessions_grant ON console_sessions (grant_id) WHERE grant_id IS NOT NULL;
CREATE TABLE console_tickets (
  hash     text COLLATE "C" PRIMARY KEY,
  kind     text NOT NULL,
  content  text NOT NULL,
  ends_at  timestamptz NOT NULL
);
`;

const DOWN = `
DROP TABLE console_tickets;
DROP TABLE console_sessions;
`;

/** Browsers that are logged in to the Console, and what begins a session: each known by the hash of a secret. */
export class ConsoleSessions1763902000000 implements MigrationInterface {
  name = 'ConsoleSessions1763902000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
