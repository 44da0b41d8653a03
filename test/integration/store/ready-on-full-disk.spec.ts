import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { canStartOwnPostgres, startOwnPostgres } from '../../services/own-server.mjs';
import { ensureEmbeddedTemplate } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import { aBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { canMount, databaseOn, smallDisk, type SmallDisk } from '../support/small-disk.js';

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function aDisk(megabytes: number): SmallDisk {
  const disk = smallDisk(megabytes);
  cleanUps.push(() => disk.remove());
  return disk;
}

/** A bot on this store, by what its endpoint says about itself. Its forge is away. */
async function answersOf(url: string, disk: SmallDisk): Promise<void> {
  const bot = await aBot({
    config: {
      ...acmeConfig({ apiUrl: 'http://127.0.0.1:9/api/v1' }, { org: { feed: { every_s: 3600 } } }),
      store: { url: { env: 'STORE_URL' } },
      keys: { data: { env: 'DATA_KEY' } },
      control: { socket: 'run/control.sock' },
    },
    files: { 'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: { FORGE_TOKEN: 't'.repeat(40), HOOK: 's'.repeat(40), STORE_URL: url, DATA_KEY: 'k'.repeat(40) },
  });
  cleanUps.push(() => bot.close());
  const answer = async (path: string): Promise<number> => (await fetch(bot.url + path)).status;

  expect(await answer('/readyz')).toBe(200);
  disk.fill();
  await until(async () => (await answer('/readyz')) === 503);
  const alive = await answer('/healthz');
  disk.free();
  await until(async () => (await answer('/readyz')) === 200);

  expect(alive).toBe(200);
}

(canMount ? describe : describe.skip)('database/ready on a full disk', () => {
  it('of the embedded store: not ready while nothing can be written, and ready again by itself', async () => {
    await ensureEmbeddedTemplate();
    const disk = aDisk(200);

    await answersOf(`embedded:${join(disk.folder, 'data')}`, disk);
  });

  (canStartOwnPostgres ? it : it.skip)(
    'of a server: not ready while nothing can be written, and ready again by itself',
    async () => {
      const disk = aDisk(64);
      const server = await startOwnPostgres();
      cleanUps.push(() => server.stop());

      await answersOf(await databaseOn(disk, server.url), disk);
    },
    120_000,
  );
});
