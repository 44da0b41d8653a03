import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Entries may also come from the lists of issues and releases. Old rows need no look: their sources are a part of the new ones. */
export class ListedEntries1763872000000 implements MigrationInterface {
  name = 'ListedEntries1763872000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE arrivals DROP CONSTRAINT arrivals_source_check');
    await queryRunner.query(
      "ALTER TABLE arrivals ADD CONSTRAINT arrivals_source_check CHECK (source IN ('webhook', 'feed', 'tasks', 'lists')) NOT VALID",
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE arrivals DROP CONSTRAINT arrivals_source_check');
    await queryRunner.query(
      "ALTER TABLE arrivals ADD CONSTRAINT arrivals_source_check CHECK (source IN ('webhook', 'feed', 'tasks')) NOT VALID",
    );
  }
}
