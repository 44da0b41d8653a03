import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Role } from '../../../src/config/app-config.js';
import { freePort } from '../../services/processes.mjs';
import { freshRedisUrl, REDIS_URL } from '../../services/test-redis.js';
import { createTestDatabase, POSTGRES_URL } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { askJson } from '../support/forgehand.js';

const ROLES = ['web', 'worker', 'scheduler', 'console'] as const satisfies readonly Role[];
const RULES = 'version: 1\norg: acme\nrules: []\n';

const test = POSTGRES_URL && REDIS_URL ? it : it.skip;

describe('e2e/distributed: four roles on one machine', () => {
  let forge: Forge;
  let place: Place;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let ports: number[];
  const started: Bot[] = [];

  beforeAll(async () => {
    requireBuild();
    if (!POSTGRES_URL || !REDIS_URL) return;
    forge = await aForge();
    database = await createTestDatabase();
    ports = await severalPorts(7);
    const [web, worker, scheduler, ofConsole, server, page, control] = ports;
    place = aPlace({
      config: acmeConfig(forge.apiUrl, {
        store: { url: { env: 'DATABASE_URL' } },
        queue: { url: { env: 'REDIS_URL' } },
        keys: { data: { env: 'DATA_KEY' } },
        server: { host: '127.0.0.1', port: server },
        console: { listen: page },
        metrics: { listen: { web, worker, scheduler, console: ofConsole } },
        control: { listen: { worker: control }, token: { env: 'CONTROL_TOKEN' } },
      }),
      files: { 'rules/rules.yaml': RULES },
      env: {
        FORGE_TOKEN: forge.botToken,
        HOOK_SECRET: 'the secret of the hook',
        DATABASE_URL: database.url,
        REDIS_URL: await freshRedisUrl(),
        DATA_KEY: 'k'.repeat(40),
        CONTROL_TOKEN: 'c'.repeat(40),
      },
    });
  });

  afterAll(async () => {
    await Promise.all(started.map((bot) => bot.kill()));
    await forge?.close();
    await database?.drop();
    place?.remove();
  });

  test('start from one file and get ready, each at a port of its own', async () => {
    await Promise.all(ROLES.map(async (role) => started.push(await startBot(place, role))));

    for (const port of ports.slice(0, ROLES.length))
      await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200);
    const status = await askJson<{ running: boolean }>(place, 'status', '--config', place.configFile);
    expect(status).toMatchObject({ running: true });
    expect(started.flatMap(({ places }) => places).filter((text) => text.startsWith('metrics'))).toHaveLength(4);
    expect(started.flatMap(({ places }) => places).filter((text) => text.startsWith('control'))).toHaveLength(1);
  });
});

/** Distinct ones: each is taken until all are found. */
async function severalPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
