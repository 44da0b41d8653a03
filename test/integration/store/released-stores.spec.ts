import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StoreConfig } from '../../../src/config/app-config.js';
import { Secret } from '../../../src/core/secret.js';
import { appliedMigrations } from '../../../src/store/migrate.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { MIGRATIONS } from '../../../src/store/migrations/index.js';
import { aDelivery } from '../../builders/arrivals.js';
import { createTestDatabase, ensureEmbeddedTemplate, POSTGRES_URL } from '../../services/test-stores.js';

const FOLDER = 'test/fixtures/stores';
const KEEP = 'node test/services/run-with.mjs node --import ./test/register-swc.mjs test/tools/keep-store.ts';
const KEPT = readdirSync(FOLDER).map((name) => name.replace(/\.sql$/, ''));
/** Sections of the changelog, but for one that is not released yet. */
const RELEASED = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## \[?(\d[^\s\]]*)\]?( - unreleased)?$/gm)]
  .filter(([, , isUnreleased]) => !isUnreleased)
  .map(([, version = '']) => version);

let dir: string;
let closing: Array<() => Promise<void>>;

beforeEach(async () => {
  await ensureEmbeddedTemplate();
  dir = mkdtempSync(join(tmpdir(), 'fh-released-'));
  closing = [];
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  rmSync(dir, { recursive: true, force: true });
});

/** The store of an earlier version, as this program finds it. */
async function openKept(version: string, kind: StoreConfig['kind']): Promise<Stores> {
  const config: StoreConfig = kind === 'embedded' ? { kind, dir } : { kind, url: new Secret(await aDatabase()) };
  const stores = await openStores(config);
  closing.push(() => stores.close());
  const kept = readFileSync(`${FOLDER}/${version}.sql`, 'utf8');
  await stores.dataSource.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  // The embedded engine has no lz4, and no version asked it for any.
  await stores.dataSource.query(kind === 'embedded' ? kept.replaceAll(/^.* SET COMPRESSION lz4;$/gm, '') : kept);
  return stores;
}

async function aDatabase(): Promise<string> {
  const database = await createTestDatabase();
  closing.push(() => database.drop());
  return database.url;
}

async function countRows({ dataSource }: Stores): Promise<Record<string, number>> {
  const tables = await dataSource.query<Array<{ name: string }>>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_name <> 'migrations' ORDER BY 1`,
  );
  const counts = tables.map(async ({ name }) => {
    const [row] = await dataSource.query<Array<{ n: string }>>(`SELECT count(*) AS n FROM ${name}`);
    return [name, Number(row?.n)] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

describe('database/released stores', () => {
  it(`of each released version one is kept (${KEEP})`, () => {
    expect(RELEASED.filter((version) => !KEPT.includes(version))).toEqual([]);
  });

  describe.each(KEPT)('of %s', (version) => {
    it.each(['embedded', ...(POSTGRES_URL ? (['postgres'] as const) : [])] as const)(
      'is brought up to date and goes on: %s',
      async (kind) => {
        const stores = await openKept(version, kind);
        const before = await countRows(stores);

        await stores.migrate();

        expect(await appliedMigrations(stores.dataSource)).toHaveLength(MIGRATIONS.length);
        expect(await countRows(stores)).toMatchObject(before);
        expect([before['intents'], before['runs'], before['events']]).toEqual([2, 1, 2]);
        expect((await stores.journal.intentsInState('planned', 10)).map(({ id }) => id)).toContain('j');
        const waiting = (await stores.inbox.dueArrivals(999)).length;
        await stores.inbox.storeDeliveries([aDelivery()]);
        expect(waiting).toBeGreaterThan(0);
        expect((await stores.inbox.dueArrivals(999)).length).toBe(waiting + 1);
      },
    );
  });
});
