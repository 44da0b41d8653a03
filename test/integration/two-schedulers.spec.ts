import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, jest } from '@jest/globals';
import { readConfig } from '../../src/config/read-config.js';
import { silentLogger } from '../../src/core/logger.js';
import { startBot, type RunningBot } from '../../src/main.js';
import { PollLeases } from '../../src/polling/poll-leases.js';
import { createTestDatabase, describeOnPostgres } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aForge } from './support/a-forge.js';

const SCHEDULERS = ['first', 'second'] as const;
const ENV = ['FORGE_TOKEN', 'STORE', 'HOOK', 'KEY'] as const;
const cleanUps: Array<() => unknown> = [];

afterEach(async () => {
  jest.restoreAllMocks();
  for (const name of ENV) delete process.env[name];
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describeOnPostgres('integration/two schedulers', () => {
  it('read a feed once a period, and the second one takes over when the first ends without a word', async () => {
    const forge = await aForge({ org: 'acme' });
    cleanUps.push(() => forge.close());
    const database = await createTestDatabase();
    cleanUps.push(() => database.drop());
    const dir = mkdtempSync(join(tmpdir(), 'fh-schedulers-'));
    cleanUps.push(() => rmSync(dir, { recursive: true, force: true }));
    mkdirSync(join(dir, 'rules'));
    writeFileSync(join(dir, 'rules', 'r.yaml'), 'version: 1\norg: acme\n');
    const bots: RunningBot[] = [];
    cleanUps.push(() => Promise.all(bots.map((bot) => bot.close())));
    // Each signs in as another account, so that the forge tells which one asks.
    for (const name of SCHEDULERS) {
      await forge.control('/_sandbox/given', { user: name });
      const { token } = await forge.control('/_sandbox/accounts', { login: name, org: 'acme', team: 'Owners' });
      const file = join(dir, `${name}.yaml`);
      const config = {
        ...acmeConfig(forge, { org: { lists: { every_s: 0 } } }),
        control: { socket: `${name}/control.sock` },
        console: { enabled: false },
        keys: { data: { env: 'KEY' } },
        store: { url: { env: 'STORE' } },
      };
      writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
      Object.assign(process.env, {
        FORGE_TOKEN: String(token),
        STORE: database.url,
        HOOK: 'a secret of the hook, which is long enough',
        KEY: 'one key for all processes of these tests',
      });
      bots.push(await startBot(readConfig(file), { role: 'scheduler', logger: silentLogger }));
    }
    const { entries } = forge.sandbox.parts.ledger;
    const polls = (by: string): number =>
      entries.filter(({ operation, caller }) => operation === 'listOrgFeed' && caller === by).length;

    await until(() => polls('first') >= 10);
    expect(polls('second')).toBe(0);

    // As a kill leaves it: the store says until when its lease lasts, and nothing else.
    jest.spyOn(PollLeases.prototype, 'release').mockResolvedValueOnce();
    await bots[0]?.close();
    const before = polls('first');
    await until(() => polls('second') >= 3);
    expect(polls('first')).toBe(before);
  });
});
