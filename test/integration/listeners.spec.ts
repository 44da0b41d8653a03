import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { limitsOf, type ListenerName } from '../../src/core/limited-server.js';
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
}, 120_000);

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
