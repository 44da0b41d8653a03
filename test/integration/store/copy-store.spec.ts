import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { StoreConfig } from '../../../src/config/app-config.js';
import { Secret } from '../../../src/core/secret.js';
import { copyStore } from '../../../src/store/copy-store.js';
import { aRun, anIntent } from '../../builders/journal.js';
import type { TestDatabase } from '../../services/test-stores.js';
import { createTestDatabase, describeOnPostgres, ensureEmbeddedTemplate } from '../../services/test-stores.js';
import { contents, DELIVERIES, fill, FILLED, using } from '../support/filled-store.js';

let dir: string;
let database: TestDatabase;
let embedded: StoreConfig;
let postgres: StoreConfig;

describeOnPostgres('copy-store', () => {
  beforeEach(async () => {
    await ensureEmbeddedTemplate();
    dir = mkdtempSync(join(tmpdir(), 'fh-copy-'));
    database = await createTestDatabase();
    embedded = { kind: 'embedded', dir };
    postgres = { kind: 'postgres', url: new Secret(database.url) };
  });

  afterEach(async () => {
    await database.drop();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each(['up', 'down'] as const)('copies every row of every table: %s', async (way) => {
    const [from, to] = way === 'up' ? [embedded, postgres] : [postgres, embedded];
    await using(from, fill);

    const tables = await copyStore(from, to);

    const [before, after] = [await using(from, contents), await using(to, contents)];
    expect(after).toEqual(before);
    expect(Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))).toEqual(
      Object.fromEntries(Object.entries(before).map(([name, rows]) => [name, rows.length])),
    );
    // The form came again: a row of its own until a worker looks at it.
    expect(before['arrivals']).toHaveLength(DELIVERIES + 4);
    for (const name of FILLED) expect([name, before[name]?.length]).not.toEqual([name, 0]);
    // The copy is a store to go on with: order and uniqueness hold.
    await using(to, async ({ inbox, journal }) => {
      const late = aRun({ id: 'late' });
      await journal.recordDecision({}, [{ run: late, intents: [anIntent({ id: 'k', runId: 'late' })] }]);
      expect((await journal.runs({ limit: 9 })).map(({ id }) => id)).toEqual(['late', 'r']);
      expect((await inbox.dueArrivals(999)).length).toBe(DELIVERIES + 3);
    });
  });

  it('writes nothing into a target that has rows, that a bot holds, or that is not there', async () => {
    await using(embedded, fill);
    await using(postgres, ({ cursors }) => cursors.write('main', 'acme', 'tasks', 1));

    await expect(copyStore(embedded, postgres)).rejects.toThrow(/the target is not empty \(table cursors has rows\)/);
    await expect(copyStore({ kind: 'embedded', dir: join(dir, 'nowhere') }, postgres)).rejects.toThrow(
      /there is no embedded store/,
    );
    const bot = createServer();
    await new Promise<void>((resolve) => bot.listen(join(dir, 'run', 'control.sock'), resolve));
    await expect(copyStore(embedded, postgres)).rejects.toThrow(/a bot already runs on this data/);
    await new Promise((resolve) => bot.close(resolve));

    expect((await using(postgres, contents))['arrivals']).toEqual([]);
  });
});
