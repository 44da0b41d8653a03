import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../services/with-services.mjs';
import { aBot, type TestBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { Browser, consoleOf, type Page } from '../support/a-browser.js';

/** Nobody answers there, and the Console shows that. */
const NO_FORGE = { apiUrl: 'http://127.0.0.1:9/api/v1' };
const ENV = { FORGE_TOKEN: 'forge-token', HOOK: 'h'.repeat(40) };

let bot: TestBot;
let url: string;
let browser: Browser;

beforeAll(async () => {
  bot = await aBot({
    config: { ...acmeConfig(NO_FORGE, { server: { trusted_proxies: ['127.0.0.1'] } }), console: { listen: 0 } },
    files: { 'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: ENV,
  });
  url = consoleOf(bot);
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

  it('gives every answer the same strict headers, and keeps no page in a cache', async () => {
    await browser.follow(await link());

    for (const path of ['/', '/login', '/about', '/nowhere', '/favicon.ico'])
      expect([path, (await browser.get(path)).headers]).toEqual([
        path,
        expect.objectContaining({
          'content-security-policy': expect.stringMatching(
            /^default-src 'none';script-src 'self' 'nonce-\w{32}';style-src 'self' 'nonce-\w{32}';.*frame-ancestors 'none'$/,
          ),
          'x-frame-options': 'DENY',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'same-origin',
          'cache-control': 'no-store',
        }),
      ]);
    const { headers } = await browser.get('/');
    expect(headers['content-security-policy']).not.toMatch(/unsafe|http:|https:|\*/);
    expect((await browser.get('/')).headers['content-security-policy']).not.toBe(headers['content-security-policy']);
  });

  it('has no script or style of its own in any page, which the policy would refuse', async () => {
    await browser.follow(await link());

    for (const path of ['/', '/sessions', '/about', '/login', '/nowhere']) {
      const { text } = await browser.get(path);
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:/i);
    }
  });

  it('keeps the secret of a session from scripts and from other sites', async () => {
    const { headers } = await browser.follow(await link());
    const [session = ''] = headers['set-cookie'] ?? [];

    expect(session).toMatch(/^forgehand-\d+-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  it('gives a new secret at each login, whatever cookie was there before (session fixation)', async () => {
    const name = `forgehand-${new URL(url).port}-session`;
    browser.cookies.set(name, 'x'.repeat(43));
    expect((await browser.get('/')).status).toBe(303);

    await browser.follow(await link());
    const first = browser.cookies.get(name);
    expect(first).not.toBe('x'.repeat(43));
    await browser.follow(await link());

    const victim = new Browser(url);
    victim.cookies.set(name, first ?? '');
    expect(browser.cookies.get(name)).not.toBe(first);
    expect((await victim.get('/')).status).toBe(303);
  });

  describe('a form', () => {
    let session: string;

    beforeEach(async () => {
      await browser.follow(await link());
      const { text } = await browser.get('/sessions');
      session = /name="session" value="([^"]+)"/.exec(text)?.[1] ?? '';
    });

    it('does what it says, with the token of its own session', async () => {
      const { status, headers } = await browser.post('/sessions', { csrf: await browser.csrf(), session });

      expect([status, headers.location]).toEqual([303, '/sessions']);
    });

    it.each<[string, () => Promise<string | undefined>]>([
      ['without a token', async () => undefined],
      ['with a token that was made up', async () => 'a'.repeat(43)],
      [
        'with the token of another session',
        async () => {
          const other = new Browser(url);
          await other.follow(await link());
          return other.csrf();
        },
      ],
    ])('does nothing %s', async (_, token) => {
      const csrf = await token();
      const { status } = await browser.post('/sessions', { ...(csrf === undefined ? {} : { csrf }), session });

      expect(status).toBe(403);
      expect((await browser.get('/sessions')).text).toContain(session);
    });

    it.each([
      ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      ['of another port of this machine', { origin: 'http://127.0.0.1:9', 'sec-fetch-site': 'same-site' }],
      ['of a page without an origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
      ['of who does not say where it comes from', { origin: null, 'sec-fetch-site': null }],
    ])('%s does nothing, with the right token', async (_, headers) => {
      const { status } = await browser.post('/sessions', { csrf: await browser.csrf(), session }, headers);

      expect(status).toBe(403);
      expect((await browser.get('/sessions')).text).toContain(session);
    });

    it('logs nobody out from another site', async () => {
      await browser.post('/logout', {}, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
      expect((await browser.get('/about')).status).toBe(200);

      const csrf = await browser.csrf();
      const copy = new Browser(url);
      for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
      await browser.post('/logout', { csrf });
      expect((await copy.get('/about')).status).toBe(303);
    });

    it('that is too large is refused before it is read', async () => {
      expect((await browser.post('/sessions', { csrf: 'x'.repeat(70_000) })).status).toBe(413);
    });
  });

  it.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '/%09/evil.example',
    '/./\\/evil.example',
    'javascript:alert(1)',
    '/x\r\nset-cookie: a=b',
    `/a?long=${'x'.repeat(3000)}`,
  ])('goes on to a path of its own after a login, whatever it is given (%#)', async (next) => {
    await browser.follow(await link());
    const { status, headers } = await browser.get(`/login?${new URLSearchParams({ next }).toString()}`);

    expect(status).toBe(303);
    expect(new URL(headers.location ?? '', url).origin).toBe(url);
    expect(headers.location).toMatch(/^\/(?!\/|\\)/);
  });

  it.each(['evil.example', '127.0.0.1', '127.0.0.1:1', 'localhost.evil.example'])(
    'does not answer under the name %j (DNS rebinding)',
    async (host) => {
      await browser.follow(await link());

      expect((await browser.get('/', { host })).status).toBe(421);
    },
  );

  it('answers under each name of this machine, each an origin of its own', async () => {
    const { port } = new URL(url);
    await browser.follow(await link());

    expect((await browser.get('/login', { host: `localhost:${port}` })).status).toBe(303);
    expect((await browser.post('/logout', {}, { host: `localhost:${port}` })).status).toBe(403);
  });

  describe('an event stream', () => {
    it('is not for other sites, though the browser would send the cookie', async () => {
      await browser.follow(await link());

      for (const headers of [
        { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
        { origin: 'http://127.0.0.1:9', 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      ])
        expect((await browser.get('/live', headers)).status).toBe(403);
    });

    it('is not for who is not logged in, and tells the browser not to ask again', async () => {
      expect((await browser.get('/live')).status).toBe(204);
    });

    it('ends with its session', async () => {
      await browser.follow(await link());
      const csrf = await browser.csrf();
      const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' };
      let stream = Promise.resolve<Page | null>(null);
      // A logout before the stream begins would find nothing to end.
      await new Promise<void>((begun) => (stream = browser.get('/live', headers, begun)));
      await browser.post('/logout', { csrf });

      expect(await stream).toMatchObject({
        status: 200,
        headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
        text: expect.stringMatching(/event: over\ndata: \{\}\n\n$/),
      });
    });
  });

  it('takes the token of an operator, and nothing from it once it is revoked', async () => {
    const { token } = await bot.reach.post<{ token: string }>('/v1/operators', {
      name: 'ann',
      scopes: ['read'],
      expiresS: 3600,
    });

    const { status, headers } = await browser.post('/login/token', { token, next: '/about' });
    expect([status, headers.location]).toEqual([303, '/about']);
    expect((await browser.get('/')).text).toContain('ann');
    expect(bot.log()).not.toContain(token);

    await bot.reach.post('/v1/operators/ann/revoke', {});
    expect((await browser.get('/')).status).toBe(303);
    expect((await browser.post('/login/token', { token, next: '/' })).status).toBe(403);
  });

  it('records each login and each act with the name', async () => {
    await browser.follow(await link());

    expect(bot.log()).toMatch(/"by":"console:[^"]+".*"msg":"console\.logged-in"/);
    await browser.post('/logout', { csrf: await browser.csrf() });
    await browser.follow(await link());
    const { text } = await browser.get('/audit');
    expect(text).toMatch(/<code>login<\/code>[\s\S]*<code>logout<\/code>[\s\S]*<code>login<\/code>/);
  });

  it('says nothing of its insides to who asks for nonsense', async () => {
    await browser.follow(await link());

    for (const path of ['/nowhere', '/assets/..%2f..%2fpackage.json', '/assets/%00', '/%ff', `/${'a/'.repeat(500)}`]) {
      const { status, text } = await browser.get(path);
      expect([path, [400, 404, 414].includes(status)]).toEqual([path, true]);
      expect(text).not.toMatch(/at .*\.(ts|js):\d+|node_modules/);
      expect(text).not.toContain(ROOT);
    }
  });

  it('counts wrong secrets by the address that a trusted proxy names, and believes the nearest name alone', async () => {
    const from = (address: string) =>
      browser.post('/login/token', { token: 'wrong' }, { 'x-forwarded-for': address }).then(({ status }) => status);
    const tries = [];
    // What the sender wrote itself comes first.
    for (let n = 0; n < 11; n += 1) tries.push(await from(`198.51.100.${n}, 203.0.113.5`));

    expect(tries).toEqual([...Array.from({ length: 10 }, () => 403), 429]);
    expect(await from('203.0.113.6')).toBe(403);
  });

  it('takes a right secret at once from every address, also from one that guessed, whoever else guesses', async () => {
    const made = await link();
    const { token } = await bot.reach.post<{ token: string }>('/v1/operators', {
      name: 'bea',
      scopes: ['read'],
      expiresS: 3600,
    });
    const guesses = await Promise.all(
      Array.from({ length: 130 }, (_, n) =>
        new Browser(url).post('/login/token', { token: `wrong-${n}` }, { 'x-forwarded-for': `198.18.0.${n % 9}` }),
      ),
    );
    const links = await Promise.all(
      Array.from({ length: 12 }, () =>
        new Browser(url).post('/login/link', { code: 'w'.repeat(22) }, { 'x-forwarded-for': '203.0.113.200' }),
      ),
    );

    // Only wrong ones are slowed, each by its own address.
    expect(guesses.filter(({ status }) => status === 403)).toHaveLength(90);
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(40);
    expect(links.filter(({ status }) => status === 429)).toHaveLength(2);
    const from = (address: string) => ({ 'x-forwarded-for': address });
    expect((await browser.post('/login/token', { token, next: '/' }, from('198.18.0.1'))).status).toBe(303);
    const code = new URL(made).hash.slice(1);
    expect((await new Browser(url).post('/login/link', { code }, from('203.0.113.200'))).status).toBe(200);
    expect(bot.log()).toContain('security.authentication_failed');
  });

  it.each<[string, string, string]>([
    ['a token of the form that is no text', '/sessions', '{"csrf":{},"session":"x"}'],
    ['a field that is no text', '/sessions', '{"csrf":"CSRF","session":{"a":1}}'],
    ['a field that is a list', '/sessions', '{"csrf":"CSRF","session":["x"]}'],
    ['a number', '/jobs', '{"csrf":"CSRF","act":1}'],
    ['a form that is a list', '/sessions', '[]'],
    ['a form that is null', '/sessions', 'null'],
    ['a form that is a text', '/sessions', '"csrf"'],
    ['NUL', '/sessions', '{"csrf":"CSRF","session":"\\u0000"}'],
    ['a prototype', '/sessions', '{"__proto__":{"csrf":"CSRF"}}'],
    ['no JSON', '/sessions', '{"csrf"'],
    ['a login token that is no text', '/login/token', '{"token":{}}'],
    ['a path to go on to that is no text', '/login/token', '{"token":"x","next":[]}'],
    ['a code that is no text', '/login/link', '{"code":{"length":22}}'],
    ['a logout token that is no text', '/logout', '{"csrf":{}}'],
    ['a draft that is no text', '/try', '{"csrf":"CSRF","org":{},"text":1}'],
    ['an empty body', '/sessions', ''],
  ])('answers 400 to %s', async (_, path, body) => {
    await browser.follow(await link());
    const answer = await browser.send(path, body.replace('CSRF', await browser.csrf()), {
      'content-type': 'application/json',
    });

    expect([answer.status, answer.text]).toEqual([400, expect.not.stringMatching(/internal error|at .*:\d+:\d+/)]);
  });

  it.each([
    '//',
    '/?%',
    '/?org=%ff',
    '/runs/%00',
    '/?org=%00',
    '/rules/acme/%00',
    '/activity?limit=x&org=%00',
    '/live?%00=%00',
  ])('answers no 500 to the address %s', async (path) => {
    await browser.follow(await link());
    await browser.post('/logout', { csrf: await browser.csrf() });
    const before = await browser.raw(path);
    await browser.follow(await link());
    const after = path.startsWith('/live') ? before : await browser.raw(path);

    expect([before.status < 500, after.status < 500]).toEqual([true, true]);
  });

  it('changes nothing by GET, whatever is asked: no act is recorded, and the dry run of a job is one', async () => {
    await browser.follow(await link());
    const acts = async () => (await bot.reach.rows('/v1/acts?limit=1000')).length;
    const before = await acts();

    for (const path of [
      '/jobs/dry?org=acme&job=hooks.audit',
      '/jobs/dry?org=acme&schedule=nightly',
      '/jobs?act=job&job=hooks.audit&org=acme',
      '/sessions?session=x',
      '/jobs/dry?org=acme&job=hooks.audit&dryRun=false',
    ])
      expect([path, (await browser.get(path)).status]).not.toEqual([path, 500]);
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'PATCH']) await browser.raw('/logout', method);

    expect(await acts()).toBe(before);
    expect((await browser.get('/about')).status).toBe(200);
  });

  it('gives a person a share of the sessions: one more ends the one that was not used for longest', async () => {
    const { token } = await bot.reach.post<{ token: string }>('/v1/operators', {
      name: 'many',
      scopes: ['read'],
      expiresS: 3600,
    });
    const first = new Browser(url);
    await first.post('/login/token', { token, next: '/' });
    await browser.follow(await link());
    for (let n = 0; n < 25; n += 1) await new Browser(url).post('/login/token', { token, next: '/' });

    const { sessions } = await bot.reach.get<{ sessions: Array<{ name: string }> }>('/v1/console/sessions');
    expect(sessions.filter(({ name }) => name === 'many')).toHaveLength(20);
    expect((await first.get('/about')).status).toBe(303);
    expect((await browser.get('/about')).status).toBe(200);
  });
});
