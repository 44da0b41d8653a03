import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CONSOLE } from './baseline/console.js';
import { GOVERNANCE } from './baseline/governance.js';
import { INTAKE } from './baseline/intake.js';
import { JOURNAL } from './baseline/journal.js';

/** lz4 packs a body several times faster than the default; servers built without it keep the default. */
const PACK = `
DO $$ BEGIN
  EXECUTE 'ALTER TABLE arrivals ALTER COLUMN body SET COMPRESSION lz4';
  EXECUTE 'ALTER TABLE events ALTER COLUMN data SET COMPRESSION lz4, ALTER COLUMN repo SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$`;

/**
 * The tables of 0.1.0. Names and ids are compared byte by byte (`COLLATE "C"`): cheaper than a language's order, and the same on every server. JSON lies
 * in `text` (see `jsonText`), and a reason is a code and its parameters.
 */
export class Baseline1764000000000 implements MigrationInterface {
  name = 'Baseline1764000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const tables of [INTAKE, JOURNAL, GOVERNANCE, CONSOLE, PACK]) await queryRunner.query(tables);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('there was nothing before the first tables: restore a backup'));
  }
}
