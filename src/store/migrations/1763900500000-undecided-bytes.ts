import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A view reads with the rights of its owner: a receiver may ask it, and still reads no delivery. The lengths are those of the bytes as they came;
 * the rows are found by the index of what is due, and no body is read.
 */
const UP = `
CREATE VIEW undecided_bytes AS
SELECT hook, sum(octet_length(body))::float8 AS bytes FROM arrivals WHERE state = 'stored' AND kind = 'delivery' GROUP BY hook;
CREATE TABLE untrusted_proxies (
  address text PRIMARY KEY,
  seen_at timestamptz NOT NULL
);
`;

/** Receivers bound what waits to be decided, and tell which proxy is not trusted. */
export class UndecidedBytes1763900500000 implements MigrationInterface {
  name = 'UndecidedBytes1763900500000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE untrusted_proxies');
    await queryRunner.query('DROP VIEW undecided_bytes');
  }
}
