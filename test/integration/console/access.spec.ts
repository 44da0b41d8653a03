import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aBot, type TestBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { Browser } from '../support/a-browser.js';

/** Nobody answers there, and the Console shows that. */
const NO_FORGE = { apiUrl: 'http://127.0.0.1:9/api/v1' };
const ENV = { FORGE_TOKEN: 'forge-token', HOOK: 'h'.repeat(40) };

let bot: TestBot;
let url: string;
let browser: Browser;

beforeAll(async () => {
  bot = await aBot({
    config: { ...acmeConfig(NO_FORGE), console: { listen: 0 } },
    files: { 'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: ENV,
  });
  url = bot.places.find((place) => place.startsWith('console '))?.slice('console '.length) ?? '';
});

afterAll(() => bot.close());

beforeEach(() => {
  browser = new Browser(url);
});

async function link(): Promise<string> {
  return (await bot.reach.post<{ url: string }>('/v1/console/links', {})).url;
}

describe('access to the Console', () => {
  it('sends whoever is not logged in to the login, and on to the page after it', async () => {
    const { status, headers } = await browser.get('/sessions?x=1');

    expect([status, headers.location]).toEqual([303, '/login?next=%2Fsessions%3Fx%3D1']);
    expect((await browser.get(headers.location ?? '')).text).toContain('Log in');
  });

  it('logs one browser in by a link, once', async () => {
    const made = await link();

    expect(await browser.follow(made)).toMatchObject({ status: 200, text: '{"to":"/"}' });
    expect((await browser.get('/')).text).toContain('Overview');
    expect((await new Browser(url).follow(made)).status).toBe(403);
    expect(bot.log()).not.toContain(new URL(made).hash.slice(1));
  });
});
