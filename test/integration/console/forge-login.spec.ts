import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aBot, type TestBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type TestForge } from '../support/a-forge.js';
import { Browser, consoleOf, type Page } from '../support/a-browser.js';
import { anApplication, type LoginApplication, PersonAtBrowser } from '../support/a-forge-login.js';

const ENV = { HOOK: 'h'.repeat(40) };

let forges: { main: TestForge; other: TestForge };
let applications: { main: LoginApplication; other: LoginApplication };
let bot: TestBot;
let url: string;

/** A bot with two forges, acme at the first and zen at the second; olga owns both, and other people at each are other people. */
beforeAll(async () => {
  forges = { main: await aForge({ org: 'acme' }), other: await aForge({ org: 'zen', profile: 'forgejo' }) };
  applications = {
    main: await anApplication(forges.main.sandbox, ['http://127.0.0.1/later']),
    other: await anApplication(forges.other.sandbox, ['http://127.0.0.1/later']),
  };
  for (const user of ['otto', 'nils']) await forges.main.control('/_sandbox/given', { user });
  const {
    forges: [main],
    orgs: [acme],
    ...rest
  } = acmeConfig(forges.main) as { forges: object[]; orgs: object[] };
  const [secretMain, secretOther] = ['SECRET_MAIN', 'SECRET_OTHER'].map((env) => ({ env }));
  bot = await aBot({
    config: {
      ...rest,
      forges: [
        { ...main, oauth: { client_id: applications.main.clientId, client_secret: secretMain } },
        {
          ...main,
          id: 'other',
          base_url: forges.other.apiUrl,
          auth: { type: 'token', token: { env: 'OTHER_TOKEN' } },
          oauth: { client_id: applications.other.clientId, client_secret: secretOther },
        },
      ],
      orgs: [acme, { ...acme, name: 'zen', forge: 'other', hooks: [], rules: { path: 'zen' } }],
      console: { listen: 0, operators: [`id:${forges.main.sandbox.parts.world.userByName('nils')?.id}@main`] },
    },
    files: {
      'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n',
      'zen/r.yaml': 'version: 1\norg: zen\nrules: []\n',
    },
    env: {
      ...ENV,
      FORGE_TOKEN: forges.main.botToken,
      OTHER_TOKEN: forges.other.botToken,
      SECRET_MAIN: applications.main.clientSecret.reveal(),
      SECRET_OTHER: applications.other.clientSecret.reveal(),
    },
  });
  url = consoleOf(bot);
  for (const id of ['main', 'other'] as const)
    for (const application of forges[id].sandbox.parts.world.oauthApplications.values())
      application.redirectUris = [`${url}/login/callback/${id}`];
});

afterAll(async () => {
  await bot?.close();
  for (const forge of Object.values(forges ?? {})) await forge.close();
});

let browser: Browser;
beforeEach(() => {
  browser = new Browser(url);
});

/** As far as the forge, and back to an address of the Console that is not opened yet. */
async function answerOf(
  login: string,
  { at = 'main', next, with: its = browser }: { at?: 'main' | 'other'; next?: string; with?: Browser } = {},
): Promise<string> {
  const begun = await its.get(`/login/forge/${at}${next === undefined ? '' : `?next=${encodeURIComponent(next)}`}`);
  const back = await new PersonAtBrowser(forges[at].sandbox, login).visit(begun.headers.location ?? '');
  expect(back.origin).toBe(url);
  return back.pathname + back.search;
}

/** The forge sends the browser here: to the Console this request comes from another site. */
function opened(path: string, its = browser): Promise<Page> {
  return its.get(path, { 'sec-fetch-site': 'cross-site' });
}

async function loggedIn(login: string, its = browser): Promise<Page> {
  return opened(await answerOf(login, { with: its }), its);
}

const isLoggedIn = async (its = browser): Promise<boolean> => (await its.get('/about')).status === 200;

describe('integration/console: log in through the forge', () => {
  it('offers each forge, and shows an owner the own organization alone', async () => {
    const { text } = await browser.get('/login');
    expect(['main', 'other'].map((id) => text.includes(`/login/forge/${id}`))).toEqual([true, true]);

    expect((await loggedIn('olga')).status).toBe(200);

    const overview = (await browser.get('/')).text;
    expect([overview.includes('acme'), overview.includes('zen')]).toEqual([true, false]);
  });

  it('takes an operator by the number of the account, whatever its name is, and nobody else under that name', async () => {
    const { world } = forges.main.sandbox.parts;
    const [nils, otto] = [world.userByName('nils'), world.userByName('otto')];
    if (!nils || !otto) throw new Error('the forge lost its people');
    Object.assign(nils, { login: 'nils-as-was' });
    Object.assign(otto, { login: 'nils' });
    try {
      await loggedIn('nils-as-was');
      const overview = (await browser.get('/')).text;
      expect([overview.includes('acme'), overview.includes('zen')]).toEqual([true, true]);

      const other = new Browser(url);
      await loggedIn('nils', other);
      expect((await other.get('/')).status).toBe(403);
    } finally {
      Object.assign(otto, { login: 'otto' });
      Object.assign(nils, { login: 'nils' });
    }
  });

  it('shows an outsider nothing of anybody', async () => {
    await loggedIn('otto');

    const { status, text } = await browser.get('/');
    expect([status, text.includes('acme'), text.includes('zen')]).toEqual([403, false, false]);
  });

  it('asks for S256 and named scopes, and keeps state and verifier on the server', async () => {
    const { headers } = await browser.get('/login/forge/main');
    const asked = new URL(headers.location ?? '');

    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      code_challenge_method: 'S256',
      scope: 'read:user read:organization read:repository',
      redirect_uri: `${url}/login/callback/main`,
    });
    expect([...browser.cookies.values()].join()).not.toContain(asked.searchParams.get('state'));
  });

  it('takes an answer in the browser alone that began the login', async () => {
    const stolen = await answerOf('otto');
    const victim = new Browser(url);

    expect((await opened(stolen, victim)).status).toBe(403);
    expect(await isLoggedIn(victim)).toBe(false);

    await answerOf('olga', { with: victim });
    expect((await opened(stolen, victim)).status).toBe(403);
    expect(await isLoggedIn(victim)).toBe(false);
  });

  it('takes an answer once', async () => {
    const answer = await answerOf('olga');
    expect((await opened(answer)).status).toBe(200);
    const copy = new Browser(url);
    for (const [name, value] of browser.cookies) if (name.includes('login')) copy.cookies.set(name, value);

    expect((await opened(answer, copy)).status).toBe(403);
    expect((await opened(answer)).status).toBe(403);
    expect(await isLoggedIn(copy)).toBe(false);
  });

  it('never takes the answer of one forge where another was asked', async () => {
    const answer = await answerOf('olga');
    await browser.get('/login/forge/other');

    const mixed = answer.replace('/callback/main', '/callback/other');
    expect((await opened(mixed)).status).toBe(403);
    expect(await isLoggedIn()).toBe(false);
  });

  it('gives a browser a new secret at the login, and ends the session that it had', async () => {
    await loggedIn('olga');
    const fixed = new Map(browser.cookies);

    await loggedIn('otto');

    const attacker = new Browser(url);
    for (const [name, value] of fixed) attacker.cookies.set(name, value);
    expect(await isLoggedIn(attacker)).toBe(false);
    const session = [...browser.cookies].find(([name]) => name.includes('session'));
    expect(session?.[1]).not.toBe(fixed.get(session?.[0] ?? ''));
  });

  it.each([
    'https://evil.example.org/',
    '//evil.example.org',
    '/\\evil.example.org',
    '/.//evil.example.org',
    '/\t/evil',
  ])('goes on to no other host: %j', async (next) => {
    const { text } = await opened(await answerOf('olga', { next }));

    expect(text).not.toContain('evil');
  });

  it('shows nothing to who has lost the rights, once they were asked for', async () => {
    await loggedIn('olga');
    expect((await browser.get('/')).text).toContain('acme');
    const { world } = forges.main.sandbox.parts;
    const owners = [...world.teams.values()].find(({ permission }) => permission === 'owner');
    const olga = world.userByName('olga')?.id ?? 0n;
    owners?.members.delete(olga);
    try {
      // A write asks the forge anew, and what it says counts for the pages too.
      await browser.post('/sessions', { csrf: await browser.csrf(), session: 'none' });

      const { status, text } = await browser.get('/');
      expect([status, text.includes('acme')]).toEqual([403, false]);
    } finally {
      owners?.members.add(olga);
    }
  });

  it('shows nothing to an account that was locked out, though its token lives', async () => {
    await loggedIn('otto');
    const otto = forges.main.sandbox.parts.world.userByName('otto');
    if (otto) otto.prohibitLogin = true;
    try {
      const { status, headers } = await browser.post('/sessions', { csrf: await browser.csrf(), session: 'none' });

      expect([status, headers.location]).toEqual([303, '/login']);
      expect(await isLoggedIn()).toBe(false);
    } finally {
      if (otto) otto.prohibitLogin = false;
    }
  });

  it('lets two browsers of a person go on at a server that takes one refresh token, and each end alone', async () => {
    const second = new Browser(url);
    for (const its of [browser, second]) await opened(await answerOf('olga', { at: 'other', with: its }), its);
    expect((await browser.get('/')).text).toContain('zen');
    expect((await second.get('/')).text).toContain('zen');

    await browser.post('/logout', { csrf: await browser.csrf() });

    expect(await isLoggedIn()).toBe(false);
    expect((await second.get('/')).text).toContain('zen');
    await second.post('/logout', { csrf: await second.csrf() });
    expect(await isLoggedIn(second)).toBe(false);
  });

  it('writes no code, token or secret into the log', async () => {
    const answer = await answerOf('olga');
    await opened(answer);
    const { searchParams } = new URL(answer, url);
    const log = bot.log();

    for (const secret of [
      searchParams.get('code') ?? 'none',
      searchParams.get('state') ?? 'none',
      applications.main.clientSecret.reveal(),
      'eyJ',
    ])
      expect(log).not.toContain(secret);
  });
});
