import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import type { StoreConfig } from '../../src/config/app-config.js';
import { openStores } from '../../src/store/open-stores.js';
import { aDelivery } from '../builders/arrivals.js';
import { ROOT } from '../services/with-services.mjs';
import { createTestDatabase, describeOnPostgres, ensureEmbeddedTemplate } from '../services/test-stores.js';

const OTHERS = 40;
const POISON_AT = 7;
const WORKER = join(ROOT, 'test/reliability/support/poison-worker.ts');

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

interface Ended {
  readonly signal: string | null;
  readonly told: string;
}

/** A real process; resolves with how it ended. */
function work(place: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--import', join(ROOT, 'test/register-swc.mjs'), WORKER, place],
      { cwd: ROOT },
      (_error, stdout, stderr) => resolve({ signal: child.signalCode, told: `${stdout}${stderr}` }),
    );
  });
}

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const) {
  describeIt(`reliability/poison: ${kind}`, () => {
    it('leaves a delivery alone that ended three processes, decides all others, and takes it up again when a person says so', async () => {
      const { config, place } = await aStore(kind);
      const deliveries = Array.from({ length: OTHERS + 1 }, (_, n) =>
        aDelivery({ text: n === POISON_AT ? '{"poison":true}' : `{"ref":"refs/heads/main","n":${n}}` }),
      );
      const poison = deliveries[POISON_AT]?.id ?? '';
      const before = await openStores(config);
      await before.migrate();
      await before.inbox.storeDeliveries(deliveries);
      await before.close();

      const ends: Ended[] = [];
      while (ends.length < 6 && ends.at(-1)?.signal !== null) ends.push(await work(place));

      expect(ends.map(({ signal }) => signal)).toEqual(['SIGKILL', 'SIGKILL', 'SIGKILL', null]);
      expect(ends.at(-1)?.told).toContain(`alert work.quarantined/${poison}`);
      const after = await openStores(config);
      cleanUps.push(() => after.close());
      expect(await after.inbox.dueArrivals(100)).toEqual([]);
      expect(await after.poisonMessages.quarantined(9)).toMatchObject([{ topic: 'arrival', id: poison, deaths: 3 }]);
      const states = (await after.inbox.list({ limit: 100 })).map(({ id, state }) => [id, state]);
      expect(states.filter(([, state]) => state === 'quarantined').map(([id]) => id)).toContain(poison);

      expect(await after.poisonMessages.release(poison)).toBe(true);
      expect(await after.poisonMessages.release(poison)).toBe(false);
      expect(await after.inbox.dueArrivals(100)).toEqual([poison]);
    }, 240_000);
  });
}

async function aStore(kind: 'embedded' | 'postgres'): Promise<{ config: StoreConfig; place: string }> {
  if (kind === 'postgres') {
    const database = await createTestDatabase();
    cleanUps.push(() => database.drop());
    return { config: { kind: 'postgres', url: new Secret(database.url) }, place: database.url };
  }
  await ensureEmbeddedTemplate();
  const dir = mkdtempSync(join(tmpdir(), 'poison-'));
  cleanUps.push(() => rmSync(dir, { recursive: true, force: true }));
  return { config: { kind: 'embedded', dir: join(dir, 'data') }, place: join(dir, 'data') };
}
