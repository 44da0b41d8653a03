import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a migration would do. Migrations say what to do and ask nothing. */
export async function statementsOf(migration: MigrationInterface): Promise<string[]> {
  const statements: string[] = [];
  await migration.up({ query: async (statement: string) => void statements.push(statement) } as unknown as QueryRunner);
  return statements;
}
