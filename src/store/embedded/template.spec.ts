import { describe, expect, it } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { templateFile } from './template.js';

function saying(statement: string): new () => MigrationInterface {
  return class First implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      await runner.query(statement);
    }
    async down(): Promise<void> {}
  };
}

class Second extends saying('CREATE TABLE a ()') {}

describe('store/embedded/template', () => {
  it('has one name for the same tables', async () => {
    expect(await templateFile([saying('CREATE TABLE a ()')])).toBe(await templateFile([saying('CREATE TABLE a ()')]));
  });

  it('has another name for other statements, for a renamed migration, and for a further one', async () => {
    const first = await templateFile([saying('CREATE TABLE a ()')]);

    const others = await Promise.all(
      [[saying('CREATE TABLE b ()')], [Second], [saying('CREATE TABLE a ()'), Second], []].map((all) =>
        templateFile(all),
      ),
    );

    expect(new Set([first, ...others]).size).toBe(5);
  });
});
