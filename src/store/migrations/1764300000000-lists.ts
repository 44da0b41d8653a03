import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes that lead with what a list is filtered by. The one by state also finds what is open. */
const LISTS = `
CREATE INDEX runs_of_state ON runs (state, seq);
DROP INDEX runs_open;
CREATE INDEX runs_changed ON runs (seq) WHERE state NOT IN ('not-fired', 'coalesced');
CREATE INDEX runs_changed_of_org ON runs (org, seq) WHERE state NOT IN ('not-fired', 'coalesced');
CREATE INDEX arrivals_of_org ON arrivals (lower(org), id);
CREATE INDEX gaps_unreported ON gaps (org, found_at) WHERE class = 'unknown' AND outcome <> 'late';
CREATE INDEX runs_sealed ON runs (org, sealed_n) WHERE sealed_n IS NOT NULL;
CREATE INDEX acts_sealed ON acts (org, sealed_n) WHERE sealed_n IS NOT NULL;
`;

export class Lists1764300000000 implements MigrationInterface {
  name = 'Lists1764300000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(LISTS);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query("CREATE INDEX runs_open ON runs (seq) WHERE state = 'open'");
    await queryRunner.query(
      'DROP INDEX acts_sealed, runs_sealed, gaps_unreported, arrivals_of_org, runs_changed_of_org, runs_changed, runs_of_state',
    );
  }
}
