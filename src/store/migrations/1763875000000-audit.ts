import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
CREATE TABLE audit_links (
  org    text COLLATE "C" NOT NULL,
  n      bigint NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  as_of  timestamptz NOT NULL,
  key_id text NOT NULL,
  record text NOT NULL,
  link   text NOT NULL,
  PRIMARY KEY (org, n)
);
ALTER TABLE runs ADD COLUMN sealed_n bigint;
CREATE INDEX runs_unsealed ON runs (org, ended_at, id) WHERE ended_at IS NOT NULL AND sealed_n IS NULL;
`;

const DOWN = `
DROP INDEX runs_unsealed;
ALTER TABLE runs DROP COLUMN sealed_n;
DROP TABLE audit_links;
`;

/** Records of finished runs are chained, for each organization; a run that is taken up again is sealed once more at its next end. */
export class Audit1763875000000 implements MigrationInterface {
  name = 'Audit1763875000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}
