import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A receiver stores the bytes of a delivery and what its headers say, and nothing else: it finds no duplicates, so it needs no right to read. Hash
 * and key are written when a worker has looked at the body, and the index holds no row before. The JSON text of a form is read from its body.
 */
export class UndecidedDeliveries1763902300000 implements MigrationInterface {
  name = 'UndecidedDeliveries1763902300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX arrivals_once');
    await queryRunner.query(
      'ALTER TABLE arrivals ALTER COLUMN once_key DROP NOT NULL, ALTER COLUMN text_hash DROP NOT NULL, DROP COLUMN json_text',
    );
    await queryRunner.query('CREATE UNIQUE INDEX arrivals_once ON arrivals (once_key) WHERE once_key IS NOT NULL');
  }

  /** What nobody has decided yet has no key, and the old program would not find it again: it keeps one of its own. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX arrivals_once');
    await queryRunner.query('ALTER TABLE arrivals ADD COLUMN json_text bytea');
    await queryRunner.query(
      'UPDATE arrivals SET once_key = coalesce(once_key, sha256(id::bytea)), text_hash = coalesce(text_hash, sha256(body)) WHERE once_key IS NULL OR text_hash IS NULL',
    );
    await queryRunner.query(
      'ALTER TABLE arrivals ALTER COLUMN once_key SET NOT NULL, ALTER COLUMN text_hash SET NOT NULL',
    );
    await queryRunner.query('CREATE UNIQUE INDEX arrivals_once ON arrivals (once_key)');
  }
}
