import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Secret } from '../../../src/core/secret.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { canStartOwnPostgres, startOwnPostgres } from '../../services/own-server.mjs';
import { createTestDatabase, describeOnPostgres, ensureEmbeddedTemplate } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import { aReceiver } from '../support/a-receiver.js';
import { canMount, databaseOn, smallDisk } from '../support/small-disk.js';

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Larger than what lies free in the pages that a table has already. */
const BODY_BYTES = 60_000;

/** Deliveries before, while there is no room, and after, by the route that forges call. */
async function playOn(
  stores: Stores,
  disk: { fill(): unknown; free(): unknown },
  { isReal } = { isReal: true },
): Promise<void> {
  const receiver = await aReceiver(stores);
  cleanUps.push(() => receiver.close());
  const taken: Array<string | null> = [];
  const post = async (): Promise<number> => {
    const { status, retryAfter, id } = await receiver.post(BODY_BYTES);
    if (status === 202) taken.push(id);
    else expect([status, retryAfter]).toEqual([503, '5']);
    return status;
  };
  expect(await post()).toBe(202);
  expect(await stores.hasRoom()).toBe(true);

  await disk.fill();
  await until(async () => (await post()) === 503);
  for (let n = 0; n < 5; n += 1) await post();
  // The room of a server that says so by itself is there all the same.
  if (isReal) expect(await stores.hasRoom()).toBe(false);
  await disk.free();
  await until(async () => (await post()) === 202);
  expect(await stores.hasRoom()).toBe(true);

  // All that was acknowledged is there, and nothing of what was not.
  const stored = await stores.inbox.list({ limit: 1000 });
  expect(stored.map(({ id }) => id).sort()).toEqual(taken.sort());
  expect((await stores.inbox.dueArrivals(1000)).sort()).toEqual(taken.sort());
}

describeOnPostgres('database/disk full: a server that says so', () => {
  it('answers 503 with a time, keeps nothing of it, and takes deliveries again by itself', async () => {
    const database = await createTestDatabase();
    cleanUps.push(() => database.drop());
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    cleanUps.push(() => admin.end());
    const stores = await openStores({ kind: 'postgres', url: new Secret(database.url) });
    cleanUps.push(() => stores.close());

    await playOn(
      stores,
      {
        fill: () =>
          admin.query(`
          CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
          END $$;
          CREATE CONSTRAINT TRIGGER no_room AFTER INSERT ON arrivals DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION no_room()`),
        free: () => admin.query('DROP TRIGGER no_room ON arrivals'),
      },
      { isReal: false },
    );
  });
});

(canMount && canStartOwnPostgres ? describe : describe.skip)('database/disk full: a file system of 48 MB', () => {
  it('of a server: answers 503 with a time, keeps nothing of it, and takes deliveries again by itself', async () => {
    const disk = smallDisk(48);
    cleanUps.push(() => disk.remove());
    const server = await startOwnPostgres();
    cleanUps.push(() => server.stop());
    const stores = await openStores({ kind: 'postgres', url: new Secret(await databaseOn(disk, server.url)) });
    cleanUps.push(() => stores.close());
    await stores.migrate();

    await playOn(stores, disk);
  });
});

(canMount ? describe : describe.skip)('database/disk full: a file system of 160 MB', () => {
  it('of the embedded store: answers 503 with a time, keeps nothing of it, and takes deliveries again by itself', async () => {
    await ensureEmbeddedTemplate();
    const disk = smallDisk(160);
    cleanUps.push(() => disk.remove());
    const stores = await openStores({ kind: 'embedded', dir: join(disk.folder, 'data') });
    cleanUps.push(() => stores.close());
    await stores.migrate();

    await playOn(stores, disk);
  });
});
