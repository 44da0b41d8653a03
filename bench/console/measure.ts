import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { Secret } from '../../src/core/secret.js';
import { openStores, type Stores } from '../../src/store/open-stores.js';
import type { Deployment } from '../../test/chaos/rig/fleet.js';
import { ForgeProcess } from '../../test/chaos/rig/forge-process.js';
import { percentile } from '../../test/chaos/judge/percentiles.js';
import { aPlace, type Place } from '../../test/e2e/support/a-place.js';
import { startBot, type Bot } from '../../test/e2e/support/bot.js';
import { askJson, untilStatus } from '../../test/e2e/support/forgehand.js';
import { Browser } from '../../test/integration/support/a-browser.js';
import { startOwnPostgres, startOwnRedis } from '../../test/services/own-server.mjs';
import { freePort } from '../../test/services/processes.mjs';
import { diskFolder } from '../../test/tools/fast-folder.mjs';
import { RecordedDeliveries } from '../drain/deliveries.js';
import { copyHistory } from './history.js';

export interface ConsoleOrder {
  readonly deployment: Deployment;
  /** That the store holds. */
  readonly runs: number;
  /** Requests for each page. */
  readonly looks: number;
  /** Deliveries that are sent while nobody looks, and again while the viewers do. */
  readonly count: number;
  readonly viewers: number;
}

export interface Load {
  readonly ackP99Ms: number;
  /** Deliveries that were decided in a second, from the first that was sent. */
  readonly perS: number;
}

export interface ConsoleMeasured {
  /** p95 in ms by page. */
  readonly pages: ReadonlyMap<string, number>;
  readonly alone: Load;
  readonly watched: Load;
  /** Pages that the viewers were given meanwhile. */
  readonly viewed: number;
}

const SECRET = 'the secret of the hook';
const SEEDS = 30;
const RULES = 10;
const SENDERS = 8;
const WARM_UP = 5;
/** One page of each kind behind the navigation. */
const INNER = [/^\/events\/[^/?#]+$/, /^\/runs\/[^/?#]+$/, /^\/deliveries\/[^/?#]+$/, /^\/rules\/[^?#]+$/];

/** @throws Error when a page does not answer with 200 */
export async function measureConsole({
  deployment,
  runs,
  looks,
  count,
  viewers,
}: ConsoleOrder): Promise<ConsoleMeasured> {
  const forge = await ForgeProcess.start('gitea', 1);
  const server = deployment === 'distributed' ? await startOwnPostgres({ max_connections: '60' }) : null;
  const redis = deployment === 'distributed' ? await startOwnRedis() : null;
  const port = await freePort();
  const place = aPlace({
    config: configOf(deployment, forge.port, port),
    files: { 'rules/rules.yaml': rules() },
    env: {
      ...{ FORGE_TOKEN: forge.botToken, HOOK_SECRET: SECRET, DATA_KEY: 'k'.repeat(64) },
      ...(server ? { DATABASE_URL: server.url } : {}),
      ...(redis ? { REDIS_URL: redis.url } : {}),
    },
    within: diskFolder(),
  });
  let bots: Bot[] = [];
  const start = async (): Promise<void> => {
    if (deployment === 'embedded') bots = [await startBot(place)];
    else
      for (const role of ['web', 'worker', 'console'] as const)
        bots.push(await startBot(place, role, configFor(place, role)));
  };
  const open = (): Promise<Stores> =>
    openStores(
      server ? { kind: 'postgres', url: new Secret(server.url) } : { kind: 'embedded', dir: join(place.dir, 'data') },
    );
  const deliveries = new RecordedDeliveries(forge.repos[0]?.owner.id ?? 0);
  try {
    const stores = await open();
    await stores.migrate();
    await stores.inbox.storeDeliveries(Array.from({ length: SEEDS }, (_, n) => deliveries.make(n)));
    await stores.close();
    await start();
    await untilIdle(place);
    await Promise.all(bots.splice(0).map((bot) => bot.stop()));
    const again = await open();
    await copyHistory(again, runs);
    await again.close();
    await start();
    const receiver = bots.find(({ url }) => url !== '')?.url ?? '';
    const viewer = (): Promise<Browser> => logIn(place, `http://127.0.0.1:${port}`);
    const paths = await pathsOf(await viewer());
    const pages = await measurePages(await viewer(), paths, looks);
    const send = (from: number): Promise<Load> => sendAll(receiver, deliveries, place, from, count);
    await send(SEEDS);
    const alone = await send(SEEDS + count);
    const looking = await Promise.all(Array.from({ length: viewers }, viewer));
    let isOver = false;
    const viewed = looking.map((browser) => look(browser, paths, () => isOver));
    const watched = await send(SEEDS + 2 * count);
    isOver = true;
    return { pages, alone, watched, viewed: (await Promise.all(viewed)).reduce((sum, one) => sum + one, 0) };
  } finally {
    await Promise.all(bots.map((bot) => bot.kill()));
    await redis?.stop();
    await server?.stop();
    await forge.stop();
    place.remove();
  }
}

/** Each of them asks for all events, and wants none. */
function rules(): string {
  const rule = (n: number): string =>
    `  - { id: rule-${n}, on: [push, issue.opened, issue.assigned], if: { never: event.actor.login == "nobody-${n}" }, do: { label.ensure: { name: l${n}, color: "#00aabb" } } }`;
  return `version: 1\norg: acme\nrules:\n${Array.from({ length: RULES }, (_, n) => rule(n)).join('\n')}\n`;
}

function configOf(deployment: Deployment, forgePort: number, consolePort: number): object {
  const auth = { type: 'token', token: { env: 'FORGE_TOKEN' } };
  return {
    forges: [{ id: 'main', base_url: `http://127.0.0.1:${forgePort}/api/v1`, auth }],
    orgs: [
      {
        name: 'acme',
        forge: 'main',
        hooks: [{ id: 'acme', secret: { env: 'HOOK_SECRET' } }],
        rules: { path: 'rules' },
        feed: { every_s: 3600 },
        tasks: { calls_per_poll: 0 },
      },
    ],
    store: { url: deployment === 'embedded' ? 'embedded:./data' : { env: 'DATABASE_URL' } },
    ...(deployment === 'embedded'
      ? {}
      : { queue: { url: { env: 'REDIS_URL' } }, control: { socket: 'run/control.sock' } }),
    keys: { data: { env: 'DATA_KEY' } },
    server: { host: '127.0.0.1', port: 0 },
    console: { listen: consolePort },
    log: { level: 'info' },
  };
}

/** The control socket of the role that serves the Console is the one that commands find. */
function configFor(place: Place, role: 'web' | 'worker' | 'console'): string {
  if (role === 'console') return place.configFile;
  return place.write(
    `${role}.yaml`,
    JSON.stringify({
      ...(JSON.parse(readFileSync(place.configFile, 'utf8')) as object),
      control: { socket: `run/${role}.sock` },
    }),
  );
}

async function logIn(place: Place, url: string): Promise<Browser> {
  const browser = new Browser(url);
  const link = await askJson<{ url: string }>(place, 'console', 'open', '--config', place.configFile);
  await browser.follow(link.url);
  return browser;
}

/** What the navigation leads to, and one page of each kind behind it. */
async function pathsOf(browser: Browser): Promise<string[]> {
  const linksIn = (html: string): string[] => [...html.matchAll(/href="(\/[^"#?]*)/g)].map(([, link = '']) => link);
  const linksOf = async (path: string): Promise<string[]> => linksIn((await browser.get(path)).text);
  const [nav = ''] = /<nav[\s\S]*?<\/nav>/.exec((await browser.get('/')).text) ?? [];
  const main = linksIn(nav);
  // Nothing changed anything: the timeline shows that only where it is asked for.
  const behind = (await Promise.all([...main, '/activity?all=yes'].map(linksOf))).flat();
  return [...main, ...INNER.flatMap((kind) => behind.find((path) => kind.test(path)) ?? [])];
}

async function measurePages(browser: Browser, paths: readonly string[], looks: number): Promise<Map<string, number>> {
  const measured = new Map<string, number>();
  for (const path of paths) {
    const took: number[] = [];
    for (let n = -WARM_UP; n < looks; n += 1) {
      const began = performance.now();
      const { status } = await browser.get(path);
      if (status !== 200) throw new Error(`${path} answers ${status}`);
      if (n >= 0) took.push(performance.now() - began);
    }
    measured.set(path, percentile(took, 0.95));
  }
  return measured;
}

/** Every page in turn and a back-test over 30 days, again and again. @returns how many pages were given */
async function look(browser: Browser, paths: readonly string[], isOver: () => boolean): Promise<number> {
  const csrf = await browser.csrf();
  const asked = { csrf, org: 'acme', path: 'rules/rules.yaml', text: rules(), days: '30' };
  let viewed = 0;
  while (!isOver()) {
    await browser.post('/try', { ...asked, do: 'backtest' });
    for (const path of paths) {
      if (isOver()) break;
      await browser.get(path);
      viewed += 1;
    }
    await browser.post('/try', { ...asked, do: 'progress' });
  }
  return viewed;
}

async function sendAll(
  url: string,
  deliveries: RecordedDeliveries,
  place: Place,
  from: number,
  count: number,
): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
  const took: number[] = [];
  let next = from;
  const began = performance.now();
  const sender = async (): Promise<void> => {
    while (next < from + count) {
      const n = next;
      next += 1;
      took.push(await post(`${url}/webhooks/acme`, deliveries.make(n), agent));
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  await untilIdle(place);
  agent.destroy();
  return { ackP99Ms: percentile(took, 0.99), perS: count / ((performance.now() - began) / 1000) };
}

/** @returns ms until it was acknowledged @throws Error when it was refused */
function post(url: string, delivery: ReturnType<RecordedDeliveries['make']>, agent: Agent): Promise<number> {
  const { body, event, eventType, deliveryId } = delivery;
  const headers = {
    'content-type': 'application/json',
    'x-gitea-event': event,
    'x-gitea-event-type': eventType,
    'x-gitea-delivery': deliveryId,
    'x-gitea-hook-installation-target-type': 'organization',
    'x-gitea-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
  };
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const asking = request(url, { method: 'POST', headers, agent }, (answer) => {
      answer.resume();
      answer.once('end', () =>
        (answer.statusCode ?? 500) < 300
          ? resolve(performance.now() - began)
          : reject(new Error(`a delivery was answered with ${answer.statusCode}`)),
      );
    });
    asking.once('error', reject);
    asking.end(body);
  });
}

async function untilIdle(place: Place): Promise<void> {
  await untilStatus(place, ({ backlog }) => backlog.arrivals + backlog.events === 0);
}
