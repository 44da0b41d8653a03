import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { canStartOwnRedis, startOwnRedis } from '../../services/own-server.mjs';
import { createTestDatabase, POSTGRES_URL } from '../../services/test-stores.js';
import { acmeConfig } from '../support/acme-config.js';
import { aPlace } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';

/** As a supervisor has it, which then ends the process by force. */
const STOP_MS = 10_000;

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function aBotWith(redisUrl: string): Promise<Bot> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const place = aPlace({
    // Nobody listens there.
    config: acmeConfig('http://127.0.0.1:9/api/v1', {
      store: { url: { env: 'DATABASE_URL' } },
      queue: { url: { env: 'REDIS_URL' } },
      keys: { data: { env: 'DATA_KEY' } },
    }),
    files: { 'rules/first.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: {
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl,
      DATA_KEY: 'a key of more than thirty-two characters, for tests',
      FORGE_TOKEN: 'forge-token',
      HOOK_SECRET: 'h'.repeat(40),
    },
  });
  cleanUps.push(() => place.remove());
  const bot = await startBot(place);
  cleanUps.push(() => bot.kill());
  return bot;
}

async function stopped(bot: Bot): Promise<unknown> {
  const force = setTimeout(() => void bot.kill(), STOP_MS);
  const ended = await bot.stop();
  clearTimeout(force);
  return { ...ended, stderr: bot.child.stderr };
}

const WELL = { code: 0, signal: null, stderr: '' };

(POSTGRES_URL && canStartOwnRedis ? describe : describe.skip)('a bot whose Redis is away stops well', () => {
  it('from the start', async () => {
    const bot = await aBotWith('redis://127.0.0.1:1/0');

    expect(await stopped(bot)).toEqual(WELL);
  });

  it('since then', async () => {
    const redis = await startOwnRedis({});
    cleanUps.push(() => redis.stop());
    const bot = await aBotWith(redis.url);
    await redis.kill();

    expect(await stopped(bot)).toEqual(WELL);
  });

  it('and one that is not let name its connections, as any other', async () => {
    const redis = await startOwnRedis({});
    cleanUps.push(() => redis.stop());
    const admin = new Redis(redis.url);
    await admin.call('ACL', 'SETUSER', 'bot', 'on', '>secret', '~*', '&*', '+@all', '-client');
    admin.disconnect();
    const url = Object.assign(new URL(redis.url), { username: 'bot', password: 'secret' });

    expect(await stopped(await aBotWith(url.href))).toEqual(WELL);
  });
});
