import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { reachRunning } from '../../src/cli/reach-bot.js';
import { readConfig } from '../../src/config/read-config.js';
import type { Role } from '../../src/config/app-config.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { ForgeProcess, type Repo } from '../../test/chaos/rig/forge-process.js';
import { Sender } from '../../test/chaos/rig/send.js';
import { deliveryOf, HOOK_SECRET, keyOf, rulesFor } from '../../test/chaos/workload.js';
import { aPlace, type Place } from '../../test/e2e/support/a-place.js';
import { startBot, type Bot } from '../../test/e2e/support/bot.js';
import { startOwnPostgres, startOwnRedis } from '../../test/services/own-server.mjs';
import { freePort } from '../../test/services/processes.mjs';
import { until } from '../../test/services/until.js';
import { diskFolder } from '../../test/tools/fast-folder.mjs';
import { median } from '../support/figures.js';
import { rssMb } from '../weight/processor-time.js';

/** By name. */
export type Figures = Readonly<Record<string, number>>;

const ROLES: readonly Role[] = ['worker', 'scheduler', 'web', 'console'];
/** Reads of feeds, tasks and runs. */
const POLLS: ReadonlySet<string> = new Set(['listOrgFeed', 'listActionTasks', 'listOrgRuns', 'listMyJobs']);
const LISTS = ['status', 'doctor', 'jobs', 'rules', 'schedules', 'gaps'] as const;
const LOOKS = 5;
const DELIVERIES = 25;
const DELIVERY_EVERY_MS = 400;
const LONGEST_MS = 120_000;
const PAGE = 500;

/**
 * The bot with so many organizations of one repository each, a process of each role. Deliveries of one organization are sent when the first minutes are over.
 * @param minutes how long calls are counted; the last of them is the quiet one
 */
export async function measureOrganizations(count: number, minutes: number): Promise<Figures> {
  const forge = await ForgeProcess.start('gitea', 1);
  const postgres = await startOwnPostgres({ max_connections: '100' });
  const redis = await startOwnRedis();
  const port = await freePort();
  const names = Array.from({ length: count }, (_, n) => (n === 0 ? 'acme' : `org-${n}`));
  for (const org of names.slice(1)) {
    await forge.control('POST', '/_sandbox/given', { org, owner: 'bot' });
    await forge.control('POST', '/_sandbox/given', { repo: `${org}/r-0`, auto_init: true });
  }
  const place = aPlace({
    config: configOf(names, forge, port),
    files: Object.fromEntries(names.map((org) => [`rules/${org}/rules.yaml`, rulesFor(['label'], org)])),
    env: {
      ...{ FORGE_TOKEN: forge.botToken, HOOK_SECRET, DATA_KEY: 'k'.repeat(40), CONTROL_TOKEN: 'c'.repeat(40) },
      ...{ DATABASE_URL: postgres.url, REDIS_URL: redis.url, MALLOC_ARENA_MAX: '2' },
    },
    within: diskFolder(),
  });
  const bots: Bot[] = [];
  try {
    const figures: Record<string, number> = {};
    const ledger = new Ledger(forge);
    await ledger.read();
    const began = Date.now();
    for (const role of ROLES) {
      const from = performance.now();
      bots.push(await startBot(place, role, configFor(place, role)));
      figures[`ready, ${role}, s`] = (performance.now() - from) / 1000;
    }
    await wait(Math.max(0, began + minutes * 60_000 - Date.now()));
    const calls = await ledger.read();
    const others = calls.filter(({ operation }) => !POLLS.has(operation ?? ''));
    figures['calls of the first minutes beside polls, an organization'] = others.length / count;
    figures['polls of the first minutes, an organization'] = (calls.length - others.length) / count;
    const quietFrom = Date.now() - 60_000;
    figures['calls of a quiet minute beside polls'] = others.filter(
      ({ receivedAt }) => Date.parse(receivedAt) >= quietFrom,
    ).length;
    for (const [n, { child }] of bots.entries()) figures[`memory (RSS), ${ROLES[n]}, MB`] = rssMb(child.pid);
    const web = bots[ROLES.indexOf('web')];
    const [repo] = forge.repos;
    if (web && repo) figures['delivery to call, p50, ms'] = await deliveryToCall(web, repo, ledger);
    Object.assign(figures, await listTimes(place));
    return figures;
  } finally {
    for (const bot of bots) await bot.kill();
    place.remove();
    await redis.stop();
    await postgres.stop();
    await forge.stop();
  }
}

function configOf(names: readonly string[], forge: ForgeProcess, port: number): object {
  return {
    forges: [
      {
        id: 'main',
        base_url: `http://127.0.0.1:${forge.port}/api/v1`,
        auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
        rate_per_s: 1000,
      },
    ],
    orgs: names.map((name) => ({
      ...{ name, forge: 'main', hooks: [{ id: name, secret: { env: 'HOOK_SECRET' } }] },
      ...{ rules: { path: `rules/${name}` }, lists: { every_s: 0 } },
      // What holds effects back is not what is measured.
      budgets: { per_rule: 'none', per_stranger: 'none' },
    })),
    store: { url: { env: 'DATABASE_URL' } },
    queue: { url: { env: 'REDIS_URL' } },
    keys: { data: { env: 'DATA_KEY' } },
    server: { host: '127.0.0.1', port: 0 },
    control: { listen: `127.0.0.1:${port}`, token: { env: 'CONTROL_TOKEN' } },
    console: { listen: '127.0.0.1:0' },
  };
}

/** One process alone has the address of the control API: the one that people ask. */
function configFor(place: Place, role: Role): string {
  if (role === 'console') return place.configFile;
  const { control: _, ...config } = JSON.parse(readFileSync(place.configFile, 'utf8')) as { control: unknown };
  return place.write(`${role}.yaml`, JSON.stringify({ ...config, control: { socket: `run/${role}.sock` } }));
}

async function deliveryToCall(web: Bot, repo: Repo, ledger: Ledger): Promise<number> {
  const sender = new Sender(async () => web.url);
  const sentAt = new Map<string, number>();
  try {
    for (let n = 0; n < DELIVERIES; n += 1) {
      sentAt.set(keyOf(n), Date.now());
      await sender.deliver(deliveryOf(n, 'label', repo), () => false);
      await wait(DELIVERY_EVERY_MS);
    }
    const took: number[] = [];
    const end = performance.now() + LONGEST_MS;
    await until(async () => {
      for (const { method, body, receivedAt } of await ledger.read()) {
        const key = method === 'POST' ? (JSON.parse(body ?? '{}') as { name?: string }).name : undefined;
        const sent = key === undefined ? undefined : sentAt.get(key);
        if (sent !== undefined) took.push(Date.parse(receivedAt) - sent);
      }
      return took.length >= DELIVERIES || performance.now() > end;
    }, 200);
    if (took.length < DELIVERIES) throw new Error(`${took.length} of ${DELIVERIES} effects came`);
    return median(took);
  } finally {
    await sender.close();
  }
}

/** The median of a few looks at each list, over the control API. */
async function listTimes(place: Place): Promise<Figures> {
  for (const [name, value] of Object.entries(place.env)) process.env[name] = value;
  const reach = await reachRunning(readConfig(place.configFile, { reader: 'command' }));
  if (!reach) throw new Error('the control API does not answer');
  const figures: Record<string, number> = {};
  for (const name of LISTS) {
    const took: number[] = [];
    for (let n = 0; n <= LOOKS; n += 1) {
      const from = performance.now();
      await reach.call(name);
      if (n > 0) took.push(performance.now() - from);
    }
    figures[`list ${name}, p50, ms`] = median(took);
  }
  await reach.close();
  return figures;
}

/** What the bot asked of the forge; each call is read once, when it was answered. */
class Ledger {
  private after = 0;

  constructor(private readonly forge: ForgeProcess) {}

  async read(): Promise<LedgerEntry[]> {
    const calls: LedgerEntry[] = [];
    for (let length = PAGE; length === PAGE;) {
      const { entries } = (await this.forge.control(
        'GET',
        `/_sandbox/ledger?after=${this.after}&limit=${PAGE}`,
      )) as unknown as { entries: LedgerEntry[] };
      length = entries.length;
      for (const entry of entries) {
        if (entry.answeredAt === null && entry.goneAt === null) return calls;
        this.after += 1;
        if (entry.caller === 'bot') calls.push(entry);
      }
    }
    return calls;
  }
}
