import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { MIGRATIONS } from '../../src/store/migrations/index.js';
import { statementsOf } from '../../src/store/migrations/statements.js';

const CLASSES = ['bodies', 'history', 'memory', 'chain', 'people', 'work'];

/** Tables that the migrations leave. */
async function tables(): Promise<string[]> {
  const made = new Set<string>();
  for (const migration of MIGRATIONS)
    for (const statement of await statementsOf(new migration()))
      for (const [, act, name = ''] of statement.matchAll(/^\s*(CREATE|DROP) TABLE (?:IF (?:NOT )?EXISTS )?(\w+)/gm))
        if (act === 'CREATE') made.add(name);
        else made.delete(name);
  return [...made].sort();
}

/** The rows of the table in the page: tables, class, when a row goes. */
function listed(): Array<readonly [table: string, of: string, goes: string]> {
  const page = readFileSync('docs/housekeeping.md', 'utf8');
  const section = /^## What the store keeps, and how long$([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
  return [...section.matchAll(/^\| (`[^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].flatMap(
    ([, names = '', of = '', goes = '']) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, of.trim(), goes.trim()] as const),
  );
}

describe('architecture/table-classes', () => {
  it('each table of the store has one class in docs/housekeeping.md, and says when its rows go', async () => {
    const names = listed().map(([name]) => name);

    expect(names.sort()).toEqual(await tables());
    for (const [name, of, goes] of listed()) {
      expect([name, CLASSES]).toEqual([name, expect.arrayContaining([of])]);
      expect([name, goes]).toEqual([name, expect.stringMatching(/^(never|.{10,})/)]);
    }
  });
});
