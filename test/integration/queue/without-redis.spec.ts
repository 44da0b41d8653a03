import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { canStartOwnPgBouncer, startOwnPgBouncer } from '../../services/own-server.mjs';
import { createTestDatabase, describeOnPostgres, type TestDatabase } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import { aBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge } from '../support/a-forge.js';

const SECRET = 'the secret of the hook';
const RULE = `version: 1
org: acme
rules:
  - { id: greet, on: repository.created, do: { label.ensure: { name: "hello", color: "#00aabb" } } }
`;
const NEVER_S = 3_600;

let database: TestDatabase;
const cleanUps: Array<() => unknown> = [];

/** A receiver and a worker that share nothing but PostgreSQL; the forge tells them of a new repository, for which the rule wants a label. */
async function tell(databaseUrl: string, sweepS: number, logged: string): Promise<{ labels(): Promise<number> }> {
  const forge = await aForge({ org: 'acme' });
  cleanUps.push(() => forge.close());
  const bot = await aBot({
    config: {
      ...acmeConfig(forge),
      store: { url: { env: 'DATABASE_URL' } },
      queue: { sweep_s: sweepS },
      keys: { data: { env: 'DATA_KEY' } },
      metrics: { listen: '127.0.0.1:0' },
    },
    roles: ['web', 'worker'],
    files: { 'rules/r.yaml': RULE },
    env: {
      DATABASE_URL: databaseUrl,
      DATA_KEY: 'a key of more than thirty-two characters, for tests',
      FORGE_TOKEN: forge.botToken,
      HOOK: SECRET,
    },
  });
  cleanUps.push(() => bot.close());
  await forge.hook(`${bot.url}/webhooks/acme`, SECRET);
  await until(() => bot.log().includes(logged));
  await forge.act('repository.create', { repo: 'acme/app' });
  return { labels: async () => (await forge.get<unknown[]>('/repos/acme/app/labels')).length };
}

describeOnPostgres('queue/without redis: a delivery comes from the receiver to its effect by the worker', () => {
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
    await database.drop();
  });

  it('by rings alone, when no poll comes', async () => {
    const told = await tell(database.url, NEVER_S, 'queue.rings-flow');

    await until(async () => (await told.labels()) > 0);

    expect(await told.labels()).toBe(1);
  });

  (canStartOwnPgBouncer ? it : it.skip)('by the poll, when a pooler drops LISTEN', async () => {
    const pooler = await startOwnPgBouncer(database.url, 'transaction');
    cleanUps.push(() => pooler.stop());
    const told = await tell(pooler.url, 0.5, 'queue.rings-flow');

    await until(async () => (await told.labels()) > 0);

    expect(await told.labels()).toBe(1);
  });
});
