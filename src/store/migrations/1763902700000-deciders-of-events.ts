import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE deciders (
  id           text COLLATE "C" PRIMARY KEY,
  revision_id  text NOT NULL,
  bot          text NOT NULL
);
ALTER TABLE events ADD COLUMN decided_by text;
`;

/** By which rules an event was decided, also where none of them wanted it. Of events of before it is not known. */
export class DecidersOfEvents1763902700000 implements MigrationInterface {
  name = 'DecidersOfEvents1763902700000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE events DROP COLUMN decided_by; DROP TABLE deciders');
  }
}
