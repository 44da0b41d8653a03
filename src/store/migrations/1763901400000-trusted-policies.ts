import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Policies that were applied before; `policy` '' = every policy of the organization, in a store that is older than this table. */
const TABLE = `
CREATE TABLE trusted_policies (
  org    text COLLATE "C" NOT NULL,
  policy text COLLATE "C" NOT NULL,
  by     text NOT NULL,
  at     timestamptz NOT NULL,
  PRIMARY KEY (org, policy)
)`;

const OLDER_STORE = `
INSERT INTO trusted_policies (org, policy, by, at) SELECT DISTINCT org, '', 'upgrade', clock_timestamp() FROM revisions`;

/** A policy that is new to a store waits for an approval. What an older store has worked with goes on. */
export class TrustedPolicies1763901400000 implements MigrationInterface {
  name = 'TrustedPolicies1763901400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(TABLE);
    await queryRunner.query(OLDER_STORE);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE trusted_policies');
  }
}
