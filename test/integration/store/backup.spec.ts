import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  backUpStore,
  restoreStore,
  verifyBackup,
  type RestoreReport,
  backUpTables,
} from '../../../src/store/backup.js';
import type { AppConfig, StoreConfig } from '../../../src/config/app-config.js';
import { Secret } from '../../../src/core/secret.js';
import { MIGRATIONS } from '../../../src/store/migrations/index.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { openWhole } from '../../../src/store/whole-store.js';
import { rowsOf, tablesOf, within } from '../../../src/store/whole-tables.js';
import { usingCopy } from '../../../src/store/embedded/copy-files.js';
import { keyBesideData } from '../../../src/config/data-key.js';
import { aDelivery } from '../../builders/arrivals.js';
import {
  createTestDatabase,
  describeOnPostgres,
  ensureEmbeddedTemplate,
  type TestDatabase,
} from '../../services/test-stores.js';
import { contents, DELIVERIES, fill, FILLED, using } from '../support/filled-store.js';

const TOLD = { progress: (): void => undefined };

let dir: string;
let file: string;
let databases: TestDatabase[];

beforeEach(async () => {
  await ensureEmbeddedTemplate();
  dir = mkdtempSync(join(tmpdir(), 'fh-backup-'));
  file = join(dir, 'store.backup');
  databases = [];
});

afterEach(async () => {
  await Promise.all(databases.map((database) => database.drop()));
  rmSync(dir, { recursive: true, force: true });
});

const embedded = (name: string): StoreConfig => ({ kind: 'embedded', dir: join(dir, name) });

async function aStore(kind: StoreConfig['kind'], name: string): Promise<StoreConfig> {
  if (kind === 'embedded') return embedded(name);
  const database = await createTestDatabase();
  databases.push(database);
  return { kind, url: new Secret(database.url) };
}

const backUp = (store: StoreConfig, copy?: string): ReturnType<typeof backUpStore> =>
  backUpStore({ store, keys: { data: null }, control: { socket: null } } as unknown as AppConfig, file, {
    ...TOLD,
    copy,
  });
const restore = (to: StoreConfig): Promise<RestoreReport> => restoreStore(file, to, { ...TOLD, dataKey: null });

/** What the next version will do. */
const after = (up: string): new () => MigrationInterface =>
  class implements MigrationInterface {
    up = (runner: QueryRunner): Promise<void> => runner.query(up);
    down = async (): Promise<void> => undefined;
  };
class Notes9999999999001 extends after(`ALTER TABLE pauses ADD COLUMN note text NOT NULL DEFAULT ''`) {}
class Index9999999999002 extends after('CREATE INDEX pauses_by ON pauses (by)') {}

/** Something with a migration that no version has yet. */
async function fromTheFuture(store: StoreConfig): Promise<void> {
  await using(
    store,
    async ({ dataSource }) =>
      void (await dataSource.query(`INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'FromTheFuture')`)),
  );
}

function backsUp(from: StoreConfig['kind'], to: StoreConfig['kind']): void {
  it(`brings every row of every table back: ${from} to ${to}`, async () => {
    const [source, target] = [await aStore(from, 'from'), await aStore(to, 'to')];
    await using(source, fill);

    const report = await backUp(source);
    const checked = await verifyBackup(file);
    const restored = await restore(target);

    const [before, after] = [await using(source, contents), await using(target, contents)];
    expect(after).toEqual(before);
    for (const { tables } of [report, checked, restored])
      expect(Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))).toEqual(
        Object.fromEntries(Object.entries(before).map(([name, rows]) => [name, rows.length])),
      );
    expect(before['arrivals']).toHaveLength(DELIVERIES + 4);
    for (const name of FILLED) expect([name, before[name]?.length]).not.toEqual([name, 0]);
    // It is a store to go on with: what is made later comes later.
    await using(target, async ({ inbox }) => {
      const late = aDelivery();
      await inbox.storeDeliveries([late]);
      expect((await inbox.dueArrivals(999)).length).toBe(DELIVERIES + 4);
    });
  });
}

function backsUpWhileDeliveriesGoIn(kind: StoreConfig['kind']): void {
  it(`is of one moment while deliveries go into ${kind}: none acknowledged before is missing, and no transaction is there in part`, async () => {
    const store = await aStore(kind, 'from');
    const stores = await openStores(store);
    await stores.migrate();
    const three = async (): Promise<string[]> => {
      const deliveries = [aDelivery(), aDelivery(), aDelivery()];
      await stores.inbox.storeDeliveries(deliveries);
      return deliveries.map(({ id }) => id);
    };
    const before: string[] = [];
    while (before.length < 300) before.push(...(await three()));
    let isOver = false;
    let during = 0;
    const storing = (async () => {
      for (; !isOver; during += 3) {
        await three();
        // From sources the store works in this thread, and would leave no turn to the backup.
        await wait(1);
      }
    })();

    try {
      const copy = kind === 'embedded' ? await stores.copyFiles() : null;
      await backUp(store, copy?.dir);
    } finally {
      isOver = true;
      await storing;
      await stores.close();
    }
    const restored = await restore(embedded('to'));

    const rows = restored.tables.find(({ name }) => name === 'arrivals')?.rows ?? 0;
    expect(during).toBeGreaterThan(0);
    expect([rows % 3, rows >= before.length, rows <= before.length + during]).toEqual([0, true, true]);
    await using(embedded('to'), async ({ inbox }) => {
      const kept = new Set(await inbox.dueArrivals(1_000_000));
      expect(before.filter((id) => !kept.has(id))).toEqual([]);
    });
  });
}

describe('database/backup: embedded', () => {
  backsUp('embedded', 'embedded');
  backsUpWhileDeliveriesGoIn('embedded');

  it('says whether the data key is there that sealed what the backup holds', async () => {
    keyBesideData(join(dir, 'from'));
    await using(embedded('from'), async () => undefined);
    await backUp(embedded('from'));
    const key = readFileSync(join(dir, 'from', 'data.key'), 'utf8');

    keyBesideData(join(dir, 'other'));
    expect((await restore(embedded('other'))).dataKey).toBe('other');
    expect((await restoreStore(file, embedded('named'), { ...TOLD, dataKey: new Secret(key) })).dataKey).toBe('same');
    expect(readFileSync(file, 'latin1')).not.toContain(key);
  });

  it('restores what an older version made, and brings its tables up to date', async () => {
    await using(embedded('from'), ({ dataSource }) =>
      dataSource.query(`INSERT INTO pauses (org, rule, by, at) VALUES ('acme', '', 'ann', now())`),
    );
    await backUp(embedded('from'));
    const next = { ...TOLD, dataKey: null, migrations: [...MIGRATIONS, Notes9999999999001, Index9999999999002] };

    const { migrated } = await restoreStore(file, embedded('to'), next);

    expect(migrated).toBe(2);
    const to = await openWhole(embedded('to'), next);
    expect(await to.dataSource.showMigrations()).toBe(false);
    expect(await to.dataSource.query('SELECT org, by, note FROM pauses')).toEqual([
      { org: 'acme', by: 'ann', note: '' },
    ]);
    await to.close();
    // Tables that are there already are of a later version; nothing is taken back.
    const empty = await openWhole(embedded('new'), next);
    await empty.migrate();
    await empty.close();
    await expect(restoreStore(file, embedded('new'), next)).rejects.toMatchObject({ code: 'TARGET_IS_NEWER' });
  });

  it('refuses a target that has rows or a bot, a damaged file and one of a newer version, and writes nothing', async () => {
    await using(embedded('from'), fill);
    await backUp(embedded('from'));
    await using(embedded('full'), ({ cursors }) => cursors.write('main', 'acme', 'tasks', 1));
    const bot = createServer();

    await expect(restore(embedded('full'))).rejects.toMatchObject({
      code: 'STORE_NOT_EMPTY',
      message: expect.stringContaining('table cursors has rows'),
    });
    await new Promise<void>((resolve) => bot.listen(join(dir, 'full', 'run', 'control.sock'), resolve));
    await expect(restore(embedded('full'))).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
    await expect(
      backUpStore(
        { store: embedded('full'), keys: { data: null }, control: { socket: null } } as unknown as AppConfig,
        `${file}.2`,
        TOLD,
      ),
    ).rejects.toMatchObject({
      code: 'ALREADY_RUNNING',
    });
    await new Promise((resolve) => bot.close(resolve));
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, whole.length - 1000));
    await expect(restore(embedded('to'))).rejects.toMatchObject({
      code: 'BACKUP_DAMAGED',
      message: expect.stringContaining('in table '),
    });
    await expect(backUp(embedded('nowhere'))).rejects.toMatchObject({ code: 'NO_STORE' });
    rmSync(file);
    const later = [
      ...MIGRATIONS.slice(0, 1),
      class Later9999999999999 {
        up = async (): Promise<void> => undefined;
        down = this.up;
      },
    ];
    const newer = await openWhole(embedded('newer'), { migrations: later });
    await newer.migrate();
    await backUpTables(
      newer.dataSource,
      file,
      { store: 'embedded', dataKey: null, madeAt: new Date().toISOString() },
      TOLD,
    );
    await newer.close();
    await expect(restore(embedded('to'))).rejects.toMatchObject({
      code: 'BACKUP_IS_NEWER',
      message: expect.stringMatching(/install forgehand \d/),
    });

    expect(existsSync(join(dir, 'to'))).toBe(false);
    await using(embedded('full'), async (stores: Stores) => expect((await contents(stores))['arrivals']).toEqual([]));
  });

  it('of a store that a newer version made is refused', async () => {
    await fromTheFuture(embedded('from'));

    await expect(backUp(embedded('from'))).rejects.toMatchObject({ code: 'STORE_IS_NEWER' });

    expect(readdirSync(dir)).toEqual(['from']);
  });

  it('copies the files while housekeeping works, and takes copies of dead backups away', async () => {
    const stores = await openStores(embedded('from'));
    await stores.migrate();
    await fill(stores);
    const [dead, young] = ['backup-dead00', 'backup-young0'].map((name) => join(dir, 'from', name));
    for (const folder of [dead, young]) mkdirSync(folder ?? '');
    utimesSync(dead ?? '', 0, 0);

    const [copy] = await Promise.all([
      stores.copyFiles(),
      stores.maintenance('vacuum'),
      stores.maintenance('checkpoint'),
      fill(stores).catch(() => undefined),
    ]);

    expect(copy).toMatchObject({ bytes: expect.any(Number), pauseMs: expect.any(Number) });
    expect(existsSync(join(copy.dir, 'db', 'PG_VERSION'))).toBe(true);
    expect([existsSync(dead ?? ''), existsSync(young ?? '')]).toEqual([false, true]);
    await stores.close();
  });

  it('takes away at the next start what a process left that was killed in the middle of a copy, and keeps a copy that somebody reads', async () => {
    await using(embedded('from'), fill);
    const from = join(dir, 'from');
    const folders = ['copying-Ab12Cd', 'backup-dead00', 'backup-used00'].map((name) => join(from, name));
    for (const folder of folders) {
      mkdirSync(join(folder, 'db'), { recursive: true });
      utimesSync(folder, 0, 0);
    }

    await usingCopy(folders[2] ?? '', async () => {
      await wait(50);
      await using(embedded('from'), async () => undefined);
    });

    expect(folders.map((folder) => existsSync(folder))).toEqual([false, false, true]);
  });

  it('reads rows in bounded batches, each row once', async () => {
    await using(embedded('from'), async (stores) => {
      const deliveries = [10, 900_000, 900_001, 11, 3_000_000, 12].map((bytes) =>
        aDelivery({ body: Buffer.alloc(bytes, 'y'), text: 'y'.repeat(bytes) }),
      );
      for (const delivery of deliveries) await stores.inbox.storeDeliveries([delivery]);
      await within(stores.dataSource, 'REPEATABLE READ', async (runner) => {
        const table = (await tablesOf(runner)).find(({ name }) => name === 'arrivals');
        const ids: Array<string | null | undefined> = [];
        const lengths: number[] = [];
        if (table)
          for await (const rows of rowsOf(runner, table)) {
            const at = table.columns.findIndex(({ name }) => name === 'id');
            ids.push(...rows.map((row) => row[at]));
            lengths.push(rows.flat().reduce((sum, value) => sum + (value?.length ?? 0), 0));
          }
        expect(ids.sort()).toEqual(deliveries.map(({ id }) => id).sort());
        expect(lengths.filter((length) => length > 2.2 * 1024 * 1024).length).toBe(1);
        expect(lengths.length).toBeLessThan(6);
      });
    });
  });
});

describeOnPostgres('database/backup: PostgreSQL', () => {
  backsUp('postgres', 'embedded');
  backsUp('embedded', 'postgres');
  backsUpWhileDeliveriesGoIn('postgres');

  it('is refused by a database that has other tables, and fills one without any', async () => {
    await using(embedded('from'), fill);
    await backUp(embedded('from'));
    const target = await aStore('postgres', 'to');
    const whole = await openWhole(target);
    await whole.dataSource.query('CREATE TABLE foreign_notes (id bigint)');

    await expect(restore(target)).rejects.toMatchObject({
      code: 'STORES_DIFFER',
      message: expect.stringContaining('foreign_notes'),
    });
    await whole.dataSource.query('DROP SCHEMA public CASCADE');
    await whole.dataSource.query('CREATE SCHEMA public');
    await whole.close();
    await restore(target);

    expect(await using(target, contents)).toEqual(await using(embedded('from'), contents));
  });

  it('of a store that a newer version made is refused', async () => {
    const store = await aStore('postgres', 'from');
    await fromTheFuture(store);

    await expect(backUp(store)).rejects.toMatchObject({ code: 'STORE_IS_NEWER' });
  });
});
