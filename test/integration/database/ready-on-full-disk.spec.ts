import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../src/config/read-config.js';
import { silentLogger } from '../../../src/core/logger.js';
import { startBot } from '../../../src/main.js';
import { canStartOwnPostgres, startOwnPostgres } from '../../services/own-server.mjs';
import pg from 'pg';
import { ensureEmbeddedTemplate } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import { canMount, smallDisk, type SmallDisk } from '../support/small-disk.js';

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function aDisk(megabytes: number): SmallDisk {
  const disk = smallDisk(megabytes);
  cleanUps.push(() => disk.remove());
  return disk;
}

/** A bot on this store, by what its endpoint says about itself. */
async function answersOf(url: string, disk: SmallDisk): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fh-ready-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'rules'), { recursive: true });
  writeFileSync(join(folder, 'rules/rules.yaml'), 'version: 1\norg: acme\nrules: []\n');
  const secret = (name: string, value: string): { file: string } => {
    writeFileSync(join(folder, name), value, { mode: 0o600 });
    return { file: join(folder, name) };
  };
  const file = join(folder, 'forgehand.yaml');
  writeFileSync(
    file,
    JSON.stringify({
      forges: [{ id: 'main', base_url: 'http://127.0.0.1:9/api/v1', auth: { type: 'token', token: secret('token', 't'.repeat(40)) } }],
      orgs: [{ name: 'acme', forge: 'main', hooks: [{ id: 'acme', secret: secret('hook', 's'.repeat(40)) }], rules: { path: 'rules' } }],
      store: { url: secret('url', url) },
      keys: { data: secret('key', 'k'.repeat(40)) },
      server: { host: '127.0.0.1', port: 0 },
      control: { socket: join(folder, 'control.sock') },
    }),
    { mode: 0o600 },
  );
  const bot = await startBot(readConfig(file), { role: 'all', logger: silentLogger });
  cleanUps.push(() => bot.close());
  const ready = async (): Promise<number> => (await fetch(`${bot.webhookUrl}/readyz`)).status;

  expect(await ready()).toBe(200);
  disk.fill();
  await until(async () => (await ready()) === 503);
  const alive = (await fetch(`${bot.webhookUrl}/healthz`)).status;
  disk.free();
  await until(async () => (await ready()) === 200);

  expect(alive).toBe(200);
}

(canMount ? describe : describe.skip)('database/ready on a full disk', () => {
  it('of the embedded store: not ready while nothing can be written, and ready again by itself', async () => {
    await ensureEmbeddedTemplate();
    const disk = aDisk(200);

    await answersOf(`embedded:${join(disk.folder, 'data')}`, disk);
  }, 120_000);

  (canStartOwnPostgres ? it : it.skip)(
    'of a server: not ready while nothing can be written, and ready again by itself',
    async () => {
      const disk = aDisk(64);
      const server = await startOwnPostgres();
      cleanUps.push(() => server.stop());
      const admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
      await admin.query(`CREATE TABLESPACE small LOCATION '${disk.folder}'`);
      await admin.query('CREATE DATABASE small TABLESPACE small');
      await admin.end();
      const url = new URL(server.url);
      url.pathname = '/small';

      await answersOf(url.href, disk);
    },
    120_000,
  );
});
