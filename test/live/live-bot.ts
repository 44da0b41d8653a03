import { setTimeout as wait } from 'node:timers/promises';
import { reachRunning, type Reach } from '../../src/cli/reach-bot.js';
import { readConfig } from '../../src/config/read-config.js';
import type { ArrivalSummary } from '../../src/pipeline/inbox-store.port.js';
import type { StatusReport } from '../../src/api/operations/answers.js';
import { aPlace, type Place } from '../e2e/support/a-place.js';
import { type Bot, startBot } from '../e2e/support/bot.js';
import { FORGEHAND } from '../e2e/support/built.js';
import { Child } from '../e2e/support/child.js';
import type { CommandResult } from '../e2e/support/run-here.js';
import { freePort } from '../services/processes.mjs';
import type { Stage, StageOrg } from './stage.js';

/** In earnest once a minute; whoever looks on does not wait for so long. */
const FEED_EVERY_S = 1;
const LISTS_EVERY_S = 5;
/** A process reads them for the first time a minute after its start. */
const LISTS_WITHIN_MS = 120_000;
/** How long a row waits for its delivery: servers send from a queue, on a busy machine some seconds later. In earnest two minutes. */
const GRACE_S = 20;
const LOOK_MS = 200;
const ALL = 1000;

/** The built bot as an operator runs it: a folder, a process, the commands. */
export class LiveBot {
  private constructor(
    private readonly stage: Stage,
    private readonly place: Place,
    private readonly port: number,
  ) {}

  private bot: Bot | null = null;
  private reached: Reach | null = null;
  private readonly logs: string[] = [];

  /** @param rules files by organization */
  static async at(stage: Stage, rules: ReadonlyMap<StageOrg, Readonly<Record<string, string>>>): Promise<LiveBot> {
    const env: Record<string, string> = { MIRROR_TOKEN: 'the token of no mirror' };
    const files: Record<string, string> = {};
    for (const org of stage.orgs) {
      env[`TOKEN_${org.hook.toUpperCase()}`] = org.token;
      env[`SECRET_${org.hook.toUpperCase()}`] = org.secret;
      for (const [name, text] of Object.entries(rules.get(org) ?? {})) files[`rules/${org.hook}/${name}`] = text;
    }
    const port = await freePort();
    const place = aPlace({ config: configOf(stage, port), files, env });
    return new LiveBot(stage, place, port);
  }

  /** After a rename: the operator corrects the name. */
  rewrite(files: Readonly<Record<string, string>>): void {
    this.place.write('forgehand.yaml', JSON.stringify(configOf(this.stage, this.port), null, 2));
    for (const [path, text] of Object.entries(files)) this.place.write(path, text);
  }

  async start(): Promise<void> {
    this.bot = await startBot(this.place);
    this.reached = await reachRunning(readConfig(this.place.configFile, { reader: 'command' }));
    if (!this.reached) throw new Error('the bot says that it is up, and its control socket does not answer');
  }

  async stop(): Promise<void> {
    await this.end((bot) => bot.stop());
  }

  async kill(): Promise<void> {
    await this.end((bot) => bot.kill());
  }

  get isAlive(): boolean {
    return this.bot?.child.isAlive === true;
  }

  get reach(): Reach {
    if (!this.reached) throw new Error('the bot does not run');
    return this.reached;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get folder(): string {
    return this.place.dir;
  }

  /** What all processes of it logged. */
  get log(): string {
    return [...this.logs, this.bot?.child.stdout ?? ''].join('');
  }

  /** Always a process, as an operator starts it. */
  async run(...args: string[]): Promise<CommandResult> {
    const { env, dir, configFile } = this.place;
    const child = new Child([FORGEHAND, ...args, '--config', configFile], env, dir);
    const { code } = await child.ended;
    return { code, stdout: child.stdout, stderr: child.stderr };
  }

  status(): Promise<StatusReport> {
    return this.reach.call('status');
  }

  /** The newest deliveries and rows of an organization. */
  async arrivals(org: string): Promise<ArrivalSummary[]> {
    return (await this.reach.call('deliveries', { org, limit: ALL })).rows as unknown as ArrivalSummary[];
  }

  /** Wait until everything that came is decided and done. @returns null, or what is left after the time */
  async quiet(withinMs = 60_000): Promise<string | null> {
    const end = Date.now() + withinMs;
    for (let quietLooks = 0; ;) {
      const left = openIn(await this.status());
      quietLooks = left === null ? quietLooks + 1 : 0;
      if (quietLooks === 2 || (withinMs === 0 && left === null)) return null;
      if (Date.now() > end) return left;
      await wait(LOOK_MS);
    }
  }

  /** Wait until the feed (or another source) of each organization was read so many times from now on. */
  async polled(times: number, withinMs = 30_000, what = 'feed'): Promise<void> {
    const end = Date.now() + withinMs;
    const read = async (): Promise<string[]> =>
      (await this.status()).rows.map(({ pollers }) =>
        String(pollers.find(({ source }) => source === what)?.advancedAt ?? ''),
      );
    for (let n = 0; n < times; n += 1) {
      const before = await read();
      while (Date.now() < end) {
        const now = await read();
        if (now.every((at, i) => at !== before[i])) break;
        await wait(LOOK_MS);
      }
    }
  }

  /** Wait until the lists of issues and releases were read twice: the second reading began after this call. */
  async listsRead(): Promise<void> {
    await this.polled(2, LISTS_WITHIN_MS, 'lists');
  }

  async settled(): Promise<string | null> {
    await this.quiet();
    await this.polled(2);
    return this.quiet();
  }

  async remove(): Promise<void> {
    if (this.isAlive) await this.kill();
    this.place.remove();
  }

  private async end(how: (bot: Bot) => Promise<unknown>): Promise<void> {
    const { bot, reached } = this;
    [this.bot, this.reached] = [null, null];
    await reached?.close();
    if (!bot) return;
    await how(bot);
    this.logs.push(bot.child.stdout);
  }
}

function openIn({ backlog, intents }: StatusReport): string | null {
  const open = [
    ...Object.entries(backlog).map(([what, count]) => [count, `${what} not decided`] as const),
    ...(['planned', 'claimed', 'sent', 'unknown', 'waiting'] as const).map(
      (state) => [intents[state] ?? 0, `intents ${state}`] as const,
    ),
  ].filter(([count]) => count > 0);
  return open.length === 0 ? null : open.map(([count, what]) => `${count} ${what}`).join(', ');
}

function configOf({ forge, orgs }: Stage, port: number): object {
  const secret = (name: string): object => ({ env: name });
  return {
    forges: [
      {
        id: 'main',
        base_url: `${forge.origin}/api/v1`,
        auth: { type: 'token', token: secret(`TOKEN_${orgs[0]?.hook.toUpperCase() ?? ''}`) },
        concurrency: 4,
        rate_per_s: 100,
      },
    ],
    orgs: orgs.map(({ name, hook }) => ({
      name,
      forge: 'main',
      auth: { type: 'token', token: secret(`TOKEN_${hook.toUpperCase()}`) },
      hooks: [{ id: hook, secret: secret(`SECRET_${hook.toUpperCase()}`) }],
      rules: { path: `rules/${hook}` },
      // Nobody is there to approve the first plan of each policy.
      trusted: true,
      powers: [
        'backport',
        'branch.delete',
        'protection.ensure',
        'repository_settings.ensure',
        'review.approve',
        'topics.ensure',
      ],
      mirror_hosts: ['mirror.example.org'],
      secrets: { mirror_token: secret('MIRROR_TOKEN') },
      feed: { every_s: FEED_EVERY_S, grace_s: GRACE_S },
      lists: { every_s: LISTS_EVERY_S },
    })),
    store: { url: 'embedded:./data' },
    server: { host: '127.0.0.1', port, public_url: `http://127.0.0.1:${port}` },
    console: { enabled: false },
  };
}
