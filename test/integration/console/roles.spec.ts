import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Role } from '../../../src/config/app-config.js';
import { freePort } from '../../services/processes.mjs';
import { aBot, type TestBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { Browser } from '../support/a-browser.js';

/** Nobody answers there. */
const NO_FORGE = { apiUrl: 'http://127.0.0.1:9/api/v1' };

let bot: TestBot | null = null;
let other: Server | null = null;

async function start(role: Role, console: object): Promise<TestBot> {
  bot = await aBot({
    config: { ...acmeConfig(NO_FORGE), console },
    files: { 'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: { FORGE_TOKEN: 'forge-token', HOOK: 'h'.repeat(40) },
    roles: [role],
  });
  return bot;
}

const answers = (port: number): Promise<boolean> =>
  new Browser(`http://127.0.0.1:${port}`).get('/login').then(
    ({ status }) => status === 200,
    () => false,
  );

afterEach(async () => {
  await bot?.close();
  bot = null;
  await new Promise((done) => (other ? other.close(done) : done(null)));
  other = null;
});

describe('the Console', () => {
  it.each<[Role, boolean]>([
    ['all', true],
    ['console', true],
    ['web', false],
    ['worker', false],
    ['scheduler', false],
  ])('in the role %s: %s', async (role, isServed) => {
    const port = await freePort();
    const { places } = await start(role, { listen: port });

    expect(await answers(port)).toBe(isServed);
    expect(places.includes(`console http://127.0.0.1:${port}`)).toBe(isServed);
  });

  it('is not there when the config switches it off', async () => {
    const port = await freePort();
    await start('all', { listen: port, enabled: false });

    expect(await answers(port)).toBe(false);
    await expect(bot!.reach.post('/v1/console/links', {})).rejects.toMatchObject({ code: 'NO_CONSOLE' });
  });

  it('ends the start where the port that the config names is taken, and names the key', async () => {
    const port = await freePort();
    other = createServer().listen(port, '127.0.0.1');

    await expect(start('all', { listen: port })).rejects.toMatchObject({
      code: 'PORT_TAKEN',
      message: expect.stringMatching(
        /^the Console cannot listen on 127\.0\.0\.1:\d+: the port is taken; .*console\.listen/,
      ),
    });
  });
});
