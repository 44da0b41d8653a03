import { decideBy } from '../../builders/decide-all.js';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import { aDelivery } from '../../builders/arrivals.js';
import { ensureEmbeddedTemplate } from '../../services/test-stores.js';

describe('store/embedded', () => {
  let dir: string;
  const open: Stores[] = [];

  beforeAll(ensureEmbeddedTemplate);

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'forgehand-embedded-'));
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((stores) => stores.close()));
    rmSync(dir, { recursive: true, force: true });
  });

  async function openHere(): Promise<Stores> {
    const stores = await openStores({ kind: 'embedded', dir });
    open.push(stores);
    await stores.migrate();
    return stores;
  }

  async function closeAll(): Promise<void> {
    await Promise.all(open.splice(0).map((stores) => stores.close()));
  }

  it('keeps everything over a restart', async () => {
    const delivery = aDelivery();
    await (await openHere()).inbox.storeDeliveries([delivery]);
    await closeAll();

    expect(await (await openHere()).inbox.get(delivery.id)).toMatchObject({ id: delivery.id, body: delivery.body });
  });

  it('lies in a folder that is nobody else’s', async () => {
    rmSync(dir, { recursive: true });
    await openHere();

    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir).sort()).toEqual(['db', 'db.flushed']);
  });

  it('does not take a first start that was broken off for a store', async () => {
    mkdirSync(join(dir, 'db.new'));
    writeFileSync(join(dir, 'db.new', 'PG_VERSION'), '18\n');

    const stores = await openHere();

    expect(await stores.ping()).toBe(true);
  });

  it('says in words for people when the folder holds something else', async () => {
    mkdirSync(join(dir, 'db'));
    writeFileSync(join(dir, 'db', 'PG_VERSION'), '9\n');

    await expect(openHere()).rejects.toThrow(/cannot be opened \(it was made by PostgreSQL 9\)/);
  });

  it('is swept while others work with it', async () => {
    const stores = await openHere();
    const deliveries = Array.from({ length: 200 }, () => aDelivery());

    await Promise.all([
      ...deliveries.map((delivery) => stores.inbox.storeDeliveries([delivery])),
      stores.maintenance('vacuum'),
      stores.maintenance('checkpoint'),
    ]);

    expect(await stores.inbox.dueArrivals(999)).toHaveLength(200);
  });

  it('learns how full its tables are when they have grown, and looks no further', async () => {
    const stores = await openHere();
    const known = async (): Promise<unknown> =>
      Object.fromEntries(
        (
          await stores.dataSource.query<Array<{ name: string; rows: number }>>(
            `SELECT relname AS name, reltuples::int AS rows FROM pg_class WHERE relname IN ('arrivals', 'events') AND reltuples > 0`,
          )
        ).map(({ name, rows }) => [name, rows]),
      );
    const store = (count: number): Promise<void> =>
      stores.inbox.storeDeliveries(Array.from({ length: count }, () => aDelivery()));

    await store(500);
    await stores.maintenance('analyze');
    expect(await known()).toEqual({ arrivals: 500 });
    await store(100);
    await stores.maintenance('analyze');
    expect(await known()).toEqual({ arrivals: 500 });
    await store(900);
    await stores.maintenance('analyze');
    expect(await known()).toEqual({ arrivals: 1_500 });
  });

  it('is one connection: a transaction of one is never seen half done by another', async () => {
    const stores = await openHere();
    const deliveries = Array.from({ length: 20 }, () => aDelivery());
    await stores.inbox.storeDeliveries(deliveries);

    const seen = await Promise.all(
      deliveries.map((delivery, n) =>
        decideBy(stores.inbox, delivery.id, (tx) => (tx.close('decided', `${n}`), n)).then(() =>
          stores.inbox.dueArrivals(99),
        ),
      ),
    );

    expect(seen.at(-1)).toEqual([]);
  });

  it('loses nothing acknowledged when the process is killed', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) acknowledged.push(...(await storeUntilKilled(dir, 40)));

    const stores = await openHere();
    const kept = new Set(await stores.inbox.dueArrivals(1_000_000));

    expect(acknowledged.length).toBeGreaterThanOrEqual(120);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });
});

/** Run the process beside this file until it has acknowledged so many, then kill -9. */
function storeUntilKilled(dir: string, count: number): Promise<string[]> {
  return new Promise((done, fail) => {
    const script = resolve('test/integration/store/storing-process.mjs');
    const child = spawn(process.execPath, ['--import', resolve('test/register-swc.mjs'), script, dir], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
    child.stdout.on('data', (bytes: Buffer) => {
      out += bytes.toString();
      if (out.split('\n').length > count) child.kill('SIGKILL');
    });
    child.on('close', (status) => {
      if (status !== null) fail(new Error(`ended with ${status}: ${err}`));
      else done(out.split('\n').slice(0, -1));
    });
  });
}
