import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { limitsOf, type ListenerName } from '../../src/platform/limited-server.js';
import { freePort } from '../services/processes.mjs';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { acmeConfig } from './support/acme-config.js';
import { Browser, consoleOf } from './support/a-browser.js';

/** Nobody answers there. */
const NO_FORGE = { apiUrl: 'http://127.0.0.1:9/api/v1' };
const TOKEN = 'c'.repeat(40);
const FORM = 'Content-Type: application/x-www-form-urlencoded';

let bot: TestBot;
let ports: { control: number; metrics: number };
let browser: Browser;
const open = new Set<Dialled>();

/** A connection, and what it was answered. */
class Dialled {
  text = '';
  isEnded = false;

  private constructor(readonly socket: Socket) {
    open.add(this);
    socket.setEncoding('latin1').on('data', (part: string) => void (this.text += part));
    socket.on('error', () => {}).on('end', () => socket.destroy());
    socket.on('close', () => ((this.isEnded = true), open.delete(this)));
  }

  static to(place: NetConnectOpts, text: string): Promise<Dialled> {
    return new Promise((resolve) => {
      const dialled = new Dialled(connect(place));
      dialled.socket.once('connect', () => dialled.socket.write(text, () => resolve(dialled)));
      dialled.socket.once('error', () => resolve(dialled));
    });
  }

  get status(): number | null {
    const found = /^HTTP\/1\.\d (\d{3})/.exec(this.text)?.[1];
    return found === undefined ? null : Number(found);
  }

  send(text: string): void {
    if (!this.isEnded) this.socket.write(text);
  }
}

const consolePlace = (): NetConnectOpts => ({ host: '127.0.0.1', port: Number(new URL(browser.url).port) });

/** The head of a form to a page of the Console. */
const head = (path: string, length: number, { cookie = '', type = FORM, more = '' } = {}): string =>
  [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(browser.url).host}`,
    `Origin: ${browser.url}`,
    'Sec-Fetch-Site: same-origin',
    ...(cookie === '' ? [] : [`Cookie: ${cookie}`]),
    type,
    ...(more === '' ? [] : [more]),
    `Content-Length: ${length}`,
    '',
    '',
  ].join('\r\n');

beforeAll(async () => {
  ports = { control: await freePort(), metrics: await freePort() };
  bot = await aBot({
    config: {
      ...acmeConfig(NO_FORGE),
      console: { listen: 0 },
      control: { listen: ports.control, token: { env: 'CONTROL' } },
      metrics: { listen: ports.metrics },
    },
    files: { 'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: { FORGE_TOKEN: 'forge-token', HOOK: 'h'.repeat(40), CONTROL: TOKEN },
  });
  browser = new Browser(consoleOf(bot));
  await browser.follow((await bot.reach.post<{ url: string }>('/v1/console/links', {})).url);
});

afterEach(() => {
  for (const { socket } of open) socket.destroy();
});

afterAll(() => bot.close());

const LISTENERS: ReadonlyArray<[ListenerName, () => NetConnectOpts, () => Promise<unknown>]> = [
  ['console', consolePlace, async () => (await browser.get('/about')).status],
  [
    'control',
    () => ({ host: '127.0.0.1', port: ports.control }),
    async () =>
      (await fetch(`http://127.0.0.1:${ports.control}/v1/status`, { headers: { authorization: `Bearer ${TOKEN}` } }))
        .status,
  ],
  [
    'control socket',
    () => ({ path: bot.places.find((place) => place.startsWith('control /'))?.slice('control '.length) ?? '' }),
    async () => ((await bot.reach.get('/v1/status')) ? 200 : 0),
  ],
  [
    'metrics',
    () => ({ host: '127.0.0.1', port: ports.metrics }),
    async () => (await fetch(`http://127.0.0.1:${ports.metrics}/healthz`)).status,
  ],
];

describe('every listener', () => {
  it.each(LISTENERS)(
    '%s: holds so many half-open connections, answers beside them, and ends them',
    async (name, place, ask) => {
      const most = limitsOf(name).maxConnectionsPerAddress;
      for (let n = 0; n < most + 30; n += 1)
        await Dialled.to(
          place(),
          ['', 'GET / HTTP/1.1\r\nHost: x\r\n', 'POST / HTTP/1.1\r\nHost: x\r\nX: '][n % 3] ?? '',
        );

      expect(await ask()).toBe(200);
      expect(open.size).toBeLessThanOrEqual(most);
      await until(() => open.size === 0);
    },
  );
});

describe('bodies for the Console', () => {
  const LONG = 1_000_000;

  it.each<[string, object, string, number]>([
    ['a form without a session', {}, '/try', 303],
    ['a form with a session that is none', { cookie: 'forgehand-1-session=x' }, '/try', 303],
    ['a call without a session', { type: 'Content-Type: application/json' }, '/try/check', 401],
    ['a form to no page', {}, '/nowhere', 303],
    ['a form to log out', {}, '/logout', 303],
    ['a form to log in that is too long', {}, '/login/token', 413],
    ['a form of another site', { more: 'Origin: https://evil.example' }, '/try', 403],
  ])('are answered from the headers alone: %s', async (_, given, path, status) => {
    const dialled = await Dialled.to(consolePlace(), `${head(path, LONG, given)}csrf=`);
    await until(() => dialled.status !== null);

    expect(dialled.status).toBe(status);
    await until(() => dialled.isEnded);
  });

  it('is answered from the headers where a call has a session and a wrong token', async () => {
    const { cookie } = browser;
    const given = { cookie, type: 'Content-Type: application/json', more: 'X-CSRF-Token: wrong' };
    const dialled = await Dialled.to(consolePlace(), head('/try/check', LONG, given));
    await until(() => dialled.status !== null);

    expect(dialled.status).toBe(401);
  });

  it.each([
    ['a wrong token', 'csrf=wrong&text='],
    ['none', 'text='],
    ['one that comes later', 'text='],
    ['one of JSON', ''],
  ])('with a session, and in the first 64 KiB %s: no more is read', async (what, start) => {
    const type = what === 'one of JSON' ? 'Content-Type: application/json' : FORM;
    const dialled = await Dialled.to(consolePlace(), head('/try', LONG, { cookie: browser.cookie, type }) + start);
    dialled.send('x'.repeat(80_000));
    await until(() => dialled.status !== null);

    expect([403, 413]).toContain(dialled.status);
    await until(() => dialled.isEnded);
  });

  it('with the right token have a budget: one sender’s slowest are given up, and others go on', async () => {
    const csrf = await browser.csrf();
    const dialled: Dialled[] = [];
    for (let n = 0; n < 20; n += 1) {
      const one = await Dialled.to(consolePlace(), head('/try', LONG, { cookie: browser.cookie }));
      one.send(`csrf=${csrf}&text=${'x'.repeat(600_000)}`);
      dialled.push(one);
    }
    await until(() => dialled.filter(({ isEnded }) => isEnded).length >= 13);

    expect((await browser.post('/try', { csrf, org: 'acme', path: 'r.yaml', text: 'x'.repeat(100_000) })).status).toBe(
      200,
    );
  });
});

describe('connections that do more than wait', () => {
  const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: ${new URL(browser.url).host}\r\n\r\n`;

  it('at the Console: those that do not read what they asked for shut nobody out', async () => {
    const { text } = await browser.get('/login');
    const asset = /\/assets\/[^"']+\.(?:js|css)/.exec(text)?.[0] ?? '';
    expect((await browser.get(asset)).status).toBe(200);
    const most = limitsOf('console').maxConnectionsPerAddress;
    for (let n = 0; n < most + 30; n += 1) {
      const dialled = await Dialled.to(consolePlace(), '');
      dialled.socket.pause();
      dialled.send(GET(asset).repeat(100));
    }

    expect((await browser.get('/about')).status).toBe(200);
  });

  it.each<[string, string]>([
    ['a header in drops', 'GET / HTTP/1.1\r\nHost: x\r\nX-Drop: '],
    [
      'a second request in drops behind an answered one',
      'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nX: ',
    ],
    ['a body in drops', 'POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n'],
  ])('at the metrics: %s: ended in time, though something comes all the while', async (_, text) => {
    const dialled = await Dialled.to({ host: '127.0.0.1', port: ports.metrics }, text);
    const drops = setInterval(() => dialled.send('a'), 100);
    await until(() => dialled.isEnded);
    clearInterval(drops);

    expect(dialled.isEnded).toBe(true);
  });
});

describe('bodies for the Console, sent otherwise', () => {
  const chunked = (path: string, cookie: string, more: readonly string[] = [FORM]): string =>
    [
      `POST ${path} HTTP/1.1`,
      `Host: ${new URL(browser.url).host}`,
      `Origin: ${browser.url}`,
      'Sec-Fetch-Site: same-origin',
      ...(cookie === '' ? [] : [`Cookie: ${cookie}`]),
      ...more,
      'Transfer-Encoding: chunked',
      '',
      '',
    ].join('\r\n');
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

  it.each<[string, () => string, number]>([
    ['in chunks without a session', () => chunked('/try', ''), 303],
    [
      'in chunks without a session, as a call',
      () => chunked('/try/check', '', ['Content-Type: application/json']),
      401,
    ],
    [
      'in chunks without a session, when the server says go on',
      () => chunked('/try', '', [FORM, 'Expect: 100-continue']),
      303,
    ],
    ['in chunks without any type', () => chunked('/try', '', []), 303],
  ])('%s: answered from the headers, and the connection ends', async (_, text, status) => {
    const dialled = await Dialled.to(consolePlace(), text());
    await until(() => [303, 401].includes(dialled.status ?? 0) || dialled.text.includes(`HTTP/1.1 ${status}`));
    expect(dialled.text).toContain(`HTTP/1.1 ${status}`);
    await until(() => dialled.isEnded);
  });

  it('has one token: a second one behind the first part counts for nothing', async () => {
    const csrf = await browser.csrf();
    const dialled = await Dialled.to(consolePlace(), chunked('/try', browser.cookie));
    dialled.send(chunk(`csrf=wrong&text=${'x'.repeat(70_000)}`));
    dialled.send(chunk(`&csrf=${csrf}`));
    await until(() => dialled.status !== null);

    expect(dialled.status).toBe(403);
    await until(() => dialled.isEnded);
  });

  it('of somebody who is not logged in, in chunks without an end: no more than a login needs is kept', async () => {
    const dialled = await Dialled.to(consolePlace(), chunked('/login/token', ''));
    for (let n = 0; n < 20; n += 1) dialled.send(chunk(`token=${'x'.repeat(8_000)}`));
    await until(() => dialled.status !== null);

    expect(dialled.status).toBe(413);
    await until(() => dialled.isEnded);
  });

  it('that cannot be read end no process, whoever sends them', async () => {
    for (const [type, text] of [
      ['application/json', '{'],
      ['application/json', ''],
      ['application/x-www-form-urlencoded', '%'],
      ['application/x-www-form-urlencoded', '__proto__=1&constructor=2'],
      ['multipart/form-data; boundary=x', '--x--'],
      ['text/plain', 'x'],
    ]) {
      const answer = await new Browser(browser.url).send('/login/token', text ?? '', { 'content-type': type ?? '' });
      expect([type, text, answer.status >= 400 && answer.status < 500]).toEqual([type, text, true]);
    }
    expect((await browser.get('/about')).status).toBe(200);
  });
});

describe('one person', () => {
  it('with many sessions and streams leaves another person’s page and stream alone', async () => {
    const operator = async (name: string): Promise<Browser[]> => {
      const { token } = await bot.reach.post<{ token: string }>('/v1/operators', {
        name,
        scopes: ['read'],
        expiresS: 3600,
      });
      const all = Array.from({ length: 10 }, () => new Browser(browser.url));
      for (const one of all) await one.post('/login/token', { token, next: '/' });
      return all;
    };
    const [greedy, [modest]] = [await operator('greedy'), await operator('modest')];
    const stream = (of: Browser): Promise<Dialled> =>
      Dialled.to(
        consolePlace(),
        [
          'GET /live HTTP/1.1',
          `Host: ${new URL(browser.url).host}`,
          `Cookie: ${of.cookie}`,
          'Sec-Fetch-Site: same-origin',
          'Sec-Fetch-Mode: cors',
          '',
          '',
        ].join('\r\n'),
      );
    const streams: Dialled[] = [];
    for (let n = 0; n < 250; n += 1) streams.push(await stream(greedy[n % greedy.length]!));
    await until(() => streams.every(({ status, isEnded }) => status !== null || isEnded));
    const pages = greedy.flatMap((one) => Array.from({ length: 25 }, () => one.get('/activity').catch(() => null)));

    const own = await stream(modest!);
    await until(() => own.status !== null);
    expect([own.status, (await modest!.get('/about')).status]).toEqual([200, 200]);
    expect(streams.filter(({ status }) => status === 200).length).toBeLessThan(streams.length);
    expect(own.isEnded).toBe(false);
    await Promise.all(pages);
  });
});
