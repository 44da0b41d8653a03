import { readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser } from '../../integration/support/a-browser.js';
import { freePort } from '../../services/processes.mjs';
import { aPlace, type Place } from '../support/a-place.js';
import { acmeConfig } from '../support/acme-config.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { forgehand } from '../support/forgehand.js';

const TIMELINES = 500;
/** One person may have no more open, in all browsers. */
const OF_ONE_PERSON = 20;
const MEMORY_KB = 100 * 1024;

let place: Place;
let port: number;
let bot: Bot;
const open: IncomingMessage[] = [];

beforeAll(async () => {
  requireBuild();
  port = await freePort();
  place = aPlace({
    // Nobody listens there.
    config: acmeConfig('http://127.0.0.1:9/api/v1', { console: { listen: port } }),
    files: { 'rules/rules.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: { FORGE_TOKEN: 'forge-token', HOOK_SECRET: 'h'.repeat(40) },
  });
  bot = await startBot(place);
});

afterAll(async () => {
  for (const stream of open) stream.destroy();
  await bot?.kill();
  place?.remove();
});

/** Memory of the bot that lies in RAM, in kB. */
function memoryKb(): number {
  const status = readFileSync(`/proc/${bot.child.process.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}

/** A browser of an operator of their own: a person as any other. */
async function logIn(name: string): Promise<string> {
  const { stdout } = await forgehand(
    place,
    ...['operators', 'add', name, '--scopes', 'read', '--json', '--config', place.configFile],
  );
  const { token } = JSON.parse(stdout) as { token: string };
  const browser = new Browser(`http://127.0.0.1:${port}`);
  await browser.post('/login/token', { token, next: '/' });
  return browser.cookie;
}

/** Resolves with the first that it tells. */
function follow(cookie: string): Promise<{ status: number; first: string }> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path: '/live', headers: { cookie }, agent: false }, (stream) => {
      open.push(stream);
      let text = '';
      stream.on('error', () => undefined);
      stream.on('data', (part: Buffer) => {
        text += part.toString();
        const first = /^event: (\S+)/m.exec(text)?.[1];
        if (first !== undefined) resolve({ status: stream.statusCode ?? 0, first });
      });
      stream.once('end', () => resolve({ status: stream.statusCode ?? 0, first: '' }));
    });
    asking.once('error', reject);
    asking.end();
  });
}

(process.platform === 'linux' ? describe : describe.skip)('open timelines', () => {
  it(`take less than 100 MB for ${TIMELINES} of them, and go when their browsers do`, async () => {
    const cookies: string[] = [];
    for (let n = 0; n < TIMELINES / OF_ONE_PERSON; n += 1) cookies.push(await logIn(`person-${n}`));
    const [first = ''] = cookies;
    // What the first timeline loads is not for each.
    await follow(first);
    open.pop()?.destroy();
    const before = memoryKb();

    const told = await Promise.all(
      cookies.flatMap((cookie) => Array.from({ length: OF_ONE_PERSON }, () => follow(cookie))),
    );

    expect(told.filter(({ status, first: event }) => status === 200 && event !== 'over')).toHaveLength(TIMELINES);
    expect(memoryKb() - before).toBeLessThan(MEMORY_KB);
    // One more is one too many for this person, and not for another.
    expect((await follow(first)).status).toBe(429);
    for (const stream of open.splice(0)) stream.destroy();
    expect((await follow(await logIn('another'))).status).toBe(200);
  });
});
