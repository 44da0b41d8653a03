import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Secret } from '../../../src/core/secret.js';
import { openStores, type Stores } from '../../../src/store/open-stores.js';
import type { OwnPostgres, OwnServer } from '../../services/own-server.mjs';
import { startOwnPostgres, startOwnRedis } from '../../services/own-server.mjs';
import { aPlace, type Place } from '../../e2e/support/a-place.js';
import { diskFolder } from '../../tools/fast-folder.mjs';
import { HOOK_SECRET, MIRROR_HOST } from '../workload.js';
import type { ForgeProcess } from './forge-process.js';
import { Slot } from './slot.js';
import { TcpProxy } from './tcp-proxy.js';

export type Deployment = 'embedded' | 'distributed';

export interface FleetOptions {
  readonly deployment: Deployment;
  readonly forge: ForgeProcess;
  readonly rules: string;
  readonly settleS: number;
  readonly webs: number;
  readonly workers: number;
  readonly feedEveryS: number;
  /** Calls at once to each forge of the config; default 16. */
  readonly concurrency?: number;
  /** An organization beside acme, whose calls are made with a token of its own. */
  readonly second?: { readonly org: string; readonly token: string; readonly rules: string };
  /** Where no proxy stands, so that nothing can be done to the connections and the rig's own load does not slow them. Default: a proxy everywhere. */
  readonly direct?: 'servers' | 'servers and forge';
  /** Further environment of the bot's processes. */
  /** Address of a service that takes messages. */
  readonly chat?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Settings of the PostgreSQL server beside our own. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** Folder that gets what each process printed; left out = nowhere. */
  readonly logs?: string | undefined;
}

/** The processes of the bot, and the servers that are theirs alone. */
export class Fleet {
  readonly receivers: Slot[] = [];
  /** Who makes calls: workers, or the one process. */
  readonly workers: Slot[] = [];
  readonly proxies: TcpProxy[] = [];
  postgres: OwnPostgres | null = null;
  redis: OwnServer | null = null;
  postgresProxy: TcpProxy | null = null;
  redisProxy: TcpProxy | null = null;
  private place: Place | null = null;

  private constructor(private readonly options: FleetOptions) {}

  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options);
    try {
      await fleet.open();
      return fleet;
    } catch (error) {
      await fleet.close();
      throw error;
    }
  }

  get slots(): readonly Slot[] {
    return [...new Set([...this.receivers, ...this.workers])];
  }

  /** One that listens, in turns. */
  async receiver(): Promise<string> {
    const slot = this.receivers[(this.turn += 1) % this.receivers.length];
    if (!slot) throw new Error('no receiver');
    return (await slot.bot()).url;
  }

  private turn = 0;

  /** The store itself, for the cross counts; of an embedded one only once the bot is down. */
  async openStores(): Promise<Stores> {
    if (this.postgres) return openStores({ kind: 'postgres', url: new Secret(this.postgres.url) });
    return openStores({ kind: 'embedded', dir: join(this.folder(), 'data') });
  }

  folder(): string {
    if (!this.place) throw new Error('not open');
    return this.place.dir;
  }

  /**
   * Copy the bot's folder, with the data of an embedded store, into this one. Only once the bot is down.
   *
   * @returns where it is now
   */
  keepFolder(into: string): string {
    const kept = join(into, `kept-${basename(this.folder())}`);
    cpSync(this.folder(), kept, { recursive: true });
    return kept;
  }

  get env(): Readonly<Record<string, string>> {
    return this.place?.env ?? {};
  }

  async stop(): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.end('SIGTERM')));
  }

  async close(): Promise<void> {
    await Promise.all(this.slots.map((slot) => slot.end('SIGKILL')));
    for (const proxy of this.proxies) await proxy.close();
    await this.redis?.stop();
    await this.postgres?.stop();
    this.place?.remove();
  }

  private async open(): Promise<void> {
    const { deployment, forge, rules, webs, workers } = this.options;
    const { second } = this.options;
    const env: Record<string, string> = {
      FORGE_TOKEN: forge.botToken,
      HOOK_SECRET,
      ...(this.options.chat === undefined ? {} : { CHAT_URL: `${this.options.chat}/hook` }),
      DATA_KEY: 'k'.repeat(40),
      ...this.options.env,
    };
    if (second) env['SECOND_TOKEN'] = second.token;
    if (deployment === 'distributed') {
      this.postgres = await startOwnPostgres({ max_connections: '100', ...this.options.postgresSettings });
      this.redis = await startOwnRedis();
      this.postgresProxy = await this.proxyTo(this.postgres.port);
      this.redisProxy = await this.proxyTo(this.redis.port);
      env['DATABASE_URL'] = this.reach(this.postgres.url, this.postgresProxy);
      env['REDIS_URL'] = this.reach(this.redis.url, this.redisProxy);
    }
    this.place = aPlace({
      config: {},
      files: { 'rules/rules.yaml': rules, ...(second ? { 'second/rules.yaml': second.rules } : {}) },
      env,
      within: diskFolder(),
    });
    if (deployment === 'embedded') {
      const bot = await this.slot('bot', 'all');
      this.receivers.push(bot);
      this.workers.push(bot);
    } else {
      // Tables are made by the first one alone.
      const stores = await this.openStores();
      await stores.migrate();
      await stores.close();
      for (let n = 1; n <= webs; n += 1) this.receivers.push(await this.slot(`web-${n}`, 'web'));
      for (let n = 1; n <= workers; n += 1) this.workers.push(await this.slot(`worker-${n}`, 'worker'));
      if (this.options.feedEveryS < 3600) this.extra.push(await this.slot('scheduler', 'scheduler'));
    }
    await Promise.all([...this.slots, ...this.extra].map((slot) => slot.bot()));
  }

  private readonly extra: Slot[] = [];

  private async slot(name: string, role: 'all' | 'web' | 'worker' | 'scheduler'): Promise<Slot> {
    const proxy = await this.proxyTo(this.options.forge.port);
    const place = this.place;
    if (!place) throw new Error('not open');
    return new Slot(
      name,
      role,
      place,
      place.write(
        `${name}.yaml`,
        this.config(this.options.direct === 'servers and forge' ? this.options.forge.port : proxy.port),
      ),
      proxy,
      this.options.logs ? join(this.options.logs, `${name}.log`) : null,
    );
  }

  private async proxyTo(port: number): Promise<TcpProxy> {
    const proxy = await TcpProxy.to(port);
    this.proxies.push(proxy);
    return proxy;
  }

  private reach(url: string, proxy: TcpProxy): string {
    return this.options.direct ? url : throughProxy(url, proxy);
  }

  private config(forgePort: number): string {
    const { deployment, forge: started, settleS, feedEveryS, concurrency = 16, second, chat } = this.options;
    const forge = (id: string, token: string): object => ({
      id,
      base_url: `http://127.0.0.1:${forgePort}/api/v1`,
      auth: { type: 'token', token: { env: token } },
      rate_per_s: 1000,
      concurrency,
      settle_s: settleS,
    });
    const org = (name: string, at: string, path: string): object => ({
      name,
      forge: at,
      hooks: [{ id: name, secret: { env: 'HOOK_SECRET' } }],
      rules: { path },
      trusted: true, // nobody is there to approve the first plan of a policy
      powers: ['backport', 'branch.delete', 'repo.create_for_user', 'review.approve', 'user_settings.update'],
      // Each for itself, of different pull requests.
      limits: { approve_and_merge: 'allow' },
      mirror_hosts: [MIRROR_HOST],
      ...(chat === undefined ? {} : { notify_hosts: [chat], secrets: { chat: { env: 'CHAT_URL' } } }),
      feed: { every_s: feedEveryS },
      tasks: { calls_per_poll: 0 },
      budgets: { per_rule: 'none', per_stranger: 'none' },
    });
    return JSON.stringify({
      forges: [forge('main', 'FORGE_TOKEN'), ...(second ? [forge('second', 'SECOND_TOKEN')] : [])],
      // A forge of the core profile finds no repository by its number: the operator names them.
      orgs: [
        { ...org('acme', 'main', 'rules'), repositories: started.repos.map(({ id }) => String(id)) },
        ...(second ? [org(second.org, 'second', 'second')] : []),
      ],
      store: { url: deployment === 'embedded' ? 'embedded:./data' : { env: 'DATABASE_URL' } },
      ...(deployment === 'embedded'
        ? {}
        : { queue: { url: { env: 'REDIS_URL' } }, keys: { data: { env: 'DATA_KEY' } } }),
      server: { host: '127.0.0.1', port: 0 },
      console: { enabled: false },
      log: { level: 'info' },
    });
  }
}

function throughProxy(url: string, proxy: TcpProxy): string {
  const through = new URL(url);
  through.port = String(proxy.port);
  return through.href;
}
