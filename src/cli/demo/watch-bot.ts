import { setTimeout as wait } from 'node:timers/promises';
import type { RunReport, StatusReport } from '../../api/operations/answers.js';
import { UserError } from '../../core/errors.js';
import type { ArrivalSummary } from '../../pipeline/inbox-store.port.js';
import type { Reach } from '../reach-bot.js';
import type { SandboxClient, SentDelivery } from './sandbox-client.js';

/** Looking costs the bot something: the wait grows by this with each look. */
const LOOK_AGAIN_MS = 20;
const MAX_WAIT_MS = 250;
/** What has not settled after so long never will. */
const GIVE_UP_MS = 45_000;
/** So many of the newest are asked for; more when all of them are new. */
const PAGES = [4, 30, 1000] as const;

export interface BotProgress {
  readonly arrivals: readonly ArrivalSummary[];
  readonly runs: readonly RunReport[];
  readonly deliveries: readonly SentDelivery[];
}

/** Follows what the bot does, by its control API and the sandbox's own history of deliveries. */
export class BotWatch {
  private readonly knownArrivals = new Set<string>();
  private readonly knownRuns = new Set<string>();
  private lastDelivery = 0;

  constructor(
    private readonly reach: Reach,
    private readonly client: Pick<SandboxClient, 'deliveriesAfter'>,
    private readonly org: string,
  ) {}

  /**
   * Wait until everything told so far is decided and done; what happened since the last call, oldest first. What the feed told while nothing seemed
   * left is waited for too: no delivery announces it.
   */
  async settled(): Promise<BotProgress> {
    const deliveries = await this.untilQuiet();
    const arrivals: ArrivalSummary[] = [];
    for (let fresh = await this.newArrivals(); fresh.length > 0; fresh = await this.newArrivals()) {
      arrivals.push(...fresh);
      deliveries.push(...(await this.untilQuiet()));
    }
    return { arrivals: await this.asDecided(arrivals), runs: await this.newRuns(), deliveries };
  }

  /** What came just before it was listed had no event yet. */
  private async asDecided(arrivals: readonly ArrivalSummary[]): Promise<ArrivalSummary[]> {
    if (arrivals.every(({ eventId }) => eventId !== null)) return [...arrivals];
    const now = await this.reach.call('deliveries', { org: this.org, limit: PAGES.at(-1) });
    const byId = new Map((now.rows as unknown as ArrivalSummary[]).map((arrival) => [arrival.id, arrival]));
    return arrivals.map((arrival) => byId.get(arrival.id) ?? arrival);
  }

  /** Wait until the feed poller has read the feed from now on, so many times. */
  async untilPolled(times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      const before = await this.feedReadAt();
      await this.until(async () => (await this.feedReadAt()) !== before, 'the feed is not read');
    }
  }

  /** Wait until each of these rules or policies has decided something. */
  async untilDecided(rules: readonly string[]): Promise<void> {
    for (const rule of rules) {
      await this.until(
        async () => (await this.reach.call('runs', { org: this.org, rule, limit: 1 })).rows.length > 0,
        `${rule} is not decided`,
      );
    }
  }

  /**
   * Nothing stored or wanted, and nothing told since: an effect makes the forge tell something again. The status counts in the order of
   * the flow, so that nothing slips from one count into the next.
   */
  private async untilQuiet(): Promise<SentDelivery[]> {
    const deliveries: SentDelivery[] = [];
    let isIdle = false;
    await this.until(async () => {
      const newDeliveries = await this.client.deliveriesAfter(this.lastDelivery);
      this.lastDelivery = newDeliveries.at(-1)?.n ?? this.lastDelivery;
      deliveries.push(...newDeliveries);
      if (isIdle && newDeliveries.length === 0) return true;
      isIdle = isQuiet(await this.status());
      return false;
    }, 'the bot does not come to rest');
    return deliveries;
  }

  private newArrivals(): Promise<ArrivalSummary[]> {
    return this.newest(
      (page) => this.reach.call('deliveries', page),
      this.knownArrivals,
      ({ id }) => id,
    );
  }

  private newRuns(): Promise<RunReport[]> {
    return this.newest(
      (page) => this.reach.call('runs', page),
      this.knownRuns,
      ({ run }) => run.id,
    );
  }

  /** What was not seen before, oldest first. */
  private async newest<T>(
    list: (page: { org: string; limit: number }) => Promise<{ readonly rows: readonly T[] }>,
    knownIds: Set<string>,
    idOf: (one: T) => string,
  ): Promise<T[]> {
    for (const limit of PAGES) {
      const { rows } = await list({ org: this.org, limit });
      const fresh = rows.filter((one) => !knownIds.has(idOf(one)));
      if (fresh.length === limit && limit !== PAGES.at(-1)) continue;
      for (const one of fresh) knownIds.add(idOf(one));
      return fresh.reverse();
    }
    return [];
  }

  private async feedReadAt(): Promise<string | null> {
    const { rows: orgs } = await this.status();
    return orgs[0]?.pollers.find(({ source }) => source === 'feed')?.advancedAt as string | null;
  }

  private status(): Promise<StatusReport> {
    return this.reach.call('status');
  }

  private async until(holds: () => Promise<boolean>, otherwise: string): Promise<void> {
    const end = Date.now() + GIVE_UP_MS;
    for (let looks = 1; !(await holds()); looks += 1) {
      if (Date.now() > end) throw new UserError('DEMO_STUCK', `${otherwise}: ${describe(await this.status())}`);
      await wait(Math.min(LOOK_AGAIN_MS * looks, MAX_WAIT_MS));
    }
  }
}

function isQuiet({ backlog, intents }: StatusReport): boolean {
  return backlog.arrivals + backlog.events + intents.planned + intents.claimed + intents.sent === 0;
}

function describe({ backlog, intents }: StatusReport): string {
  const open = Object.entries(intents)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`);
  return `${backlog.arrivals} arrivals and ${backlog.events} events not decided; intents ${open.join(', ') || 'none'}`;
}
