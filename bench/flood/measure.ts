import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Test } from '@nestjs/testing';
import type { NewDelivery } from '../../src/core/arrival.js';
import { newId } from '../../src/core/ids.js';
import { Secret } from '../../src/core/secret.js';
import { WorkQueue } from '../../src/pipeline/work-queue.port.js';
import { queueModule } from '../../src/queue/queue.module.js';
import type { Stores } from '../../src/store/open-stores.js';
import { startTimes } from '../../test/chaos/judge/overload.js';
import { readLedger, type Call } from '../../test/chaos/judge/read-ledger.js';
import { Fleet } from '../../test/chaos/rig/fleet.js';
import { ForgeProcess, type Repo } from '../../test/chaos/rig/forge-process.js';
import { deliveryOf, rulesFor, type Kind } from '../../test/chaos/workload.js';
import { until } from '../../test/services/until.js';
import { ROOT } from '../../test/services/with-services.mjs';

interface FloodOrder {
  readonly backlog: number;
  /** How many deliveries of the flood want one effect: each, or one in fifty. */
  readonly isWanted: boolean;
  readonly workers: number;
  readonly everyMs: number;
  /** Folder for a CPU profile of the worker; null = none. */
  readonly profile: string | null;
}

/** Milliseconds of one stage. */
interface Span {
  readonly passed: number;
  /** Without the time that the worker's main thread waited for a processor. */
  readonly undisturbed: number;
  /** Processor time of that thread, for whatever it worked. */
  readonly busy: number;
}

export const STAGES = ['decided', 'called', 'all'] as const;
export type Took = Readonly<Record<(typeof STAGES)[number], Span>>;

interface Measured {
  readonly alone: readonly Took[];
  readonly flood: readonly Took[];
  /** From the first delivery of the backlog until none was left. */
  readonly drainedMs: number;
}

const FLOOD = 'acme';
const QUIET = 'beta';
const QUIET_FROM = 10_000_000;
const WARM_UP = 20;
const ALONE = 60;
const MOST_QUIET = 300;
const BATCH = 50;
const EFFECT_EVERY = 50;
/** Lines of an issue's text: 5 KB in all. */
const LINES = 110;

export async function measureFlood({ profile, ...order }: FloodOrder): Promise<Measured> {
  const forge = await ForgeProcess.start('gitea', 60);
  try {
    const quiet = await forge.addOrganization(QUIET, 'bot-b', WARM_UP + ALONE + MOST_QUIET);
    const fleet = await Fleet.start({
      deployment: 'distributed',
      forge,
      rules: rulesFor(['label']),
      second: { org: QUIET, token: quiet.token, rules: rulesFor(['label'], QUIET) },
      settleS: 60,
      webs: 0,
      workers: order.workers,
      feedEveryS: 3600,
      direct: 'servers and forge',
      env:
        profile === null
          ? {}
          : {
              NODE_OPTIONS: `--import ${join(ROOT, 'bench/support/cpu-profile.mjs')}`,
              FORGEHAND_BENCH_PROFILE: resolve(profile),
            },
    });
    const stores = await fleet.openStores();
    const module = await Test.createTestingModule({
      imports: [queueModule({ kind: 'redis', url: new Secret(fleet.redis?.url ?? ''), sweepS: 3 })],
    }).compile();
    const queue = module.get<WorkQueue>(WorkQueue);
    await until(() => queue.healthy());
    try {
      return await new Running(forge, fleet, stores, queue, quiet.repos, order).run();
    } finally {
      await queue.close(1_000);
      await stores.close();
      if (profile !== null) await fleet.stop();
      await fleet.close();
    }
  } finally {
    await forge.stop();
  }
}

/** What the worker's main thread did by a moment, in ms. */
interface Sample {
  readonly at: number;
  readonly busy: number;
  readonly waited: number;
}

class Running {
  private next = 0;
  private ledgerAt = 0;
  private effects = 0;
  private readonly samples: Sample[] = [];

  constructor(
    private readonly forge: ForgeProcess,
    private readonly fleet: Fleet,
    private readonly stores: Stores,
    private readonly queue: WorkQueue,
    private readonly quietRepos: readonly Repo[],
    private readonly order: Omit<FloodOrder, 'profile'>,
  ) {}

  async run(): Promise<Measured> {
    const [worker] = this.fleet.workers;
    const pid = (await worker?.bot())?.child.pid;
    const sampling = setInterval(() => this.sample(Number(pid)), 2);
    try {
      await this.trickle(WARM_UP);
      const alone = await this.trickle(ALONE);
      const began = Date.now();
      let isLeft = true;
      const flooding = (async () => {
        await this.flood();
        while ((await this.left()) > 0) await wait(100);
        isLeft = false;
      })();
      const flood = await this.trickle(MOST_QUIET, () => isLeft);
      await flooding;
      const drainedMs = Date.now() - began;
      return { alone: await this.tookOf(alone), flood: await this.tookOf(flood), drainedMs };
    } finally {
      clearInterval(sampling);
    }
  }

  /** @returns when each was stored, by its repository */
  private async trickle(count: number, goesOn: () => boolean = () => true): Promise<Map<string, number>> {
    const sent = new Map<string, number>();
    for (let n = 0; n < count && goesOn(); n += 1) {
      await wait(this.order.everyMs);
      const repo = this.quietRepos[this.next];
      if (!repo) throw new Error('no repository is left');
      const one = arrivalOf(QUIET_FROM + this.next, 'label', repo, QUIET);
      this.next += 1;
      await this.stores.inbox.storeDeliveries([one]);
      sent.set(`${QUIET}/${repo.name}`, Date.now());
      this.queue.ring('arrivals', QUIET);
      // One after the other: on a slow machine they would be a flood of their own.
      await until(async () => (await this.called()) >= this.next, 20);
    }
    return sent;
  }

  /** Effects of the other organization so far. */
  private async called(): Promise<number> {
    const { last, entries } = (await this.forge.control(
      'GET',
      `/_sandbox/ledger?after=${this.ledgerAt}&writes=true`,
    )) as unknown as { last: number; entries: Call[] };
    this.ledgerAt = last;
    this.effects += entries.filter(({ caller }) => caller === 'bot-b').length;
    return this.effects;
  }

  private async flood(): Promise<void> {
    const { repos } = this.forge;
    for (let from = 0; from < this.order.backlog; from += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, this.order.backlog - from) }, (_, n) => {
        const number = from + n;
        const repo = repos[number % repos.length];
        if (!repo) throw new Error('no repository');
        return arrivalOf(number, this.order.isWanted || number % EFFECT_EVERY === 0 ? 'label' : 'nothing', repo, FLOOD);
      });
      await this.stores.inbox.storeDeliveries(batch);
      this.queue.ring('arrivals', FLOOD);
    }
  }

  private async left(): Promise<number> {
    const { arrivals, events } = await this.stores.inbox.backlog();
    if (arrivals + events > 0 || !this.order.isWanted) return arrivals + events;
    const [intents] = (await this.stores.dataSource.query(
      `SELECT count(*)::int AS count FROM intents WHERE state IN ('planned', 'claimed', 'sent', 'unknown')`,
    )) as [{ count: number }];
    return intents.count;
  }

  private sample(pid: number): void {
    const [busy = NaN, waited = NaN] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')
      .split(' ')
      .map((ns) => Number(ns) / 1e6);
    this.samples.push({ at: Date.now(), busy, waited });
  }

  private async tookOf(sent: ReadonlyMap<string, number>): Promise<Took[]> {
    const rows = (await this.stores.dataSource.query(
      `SELECT e.repo::json->>'name' AS name, e.stored_at AS at FROM events e WHERE e.org = $1`,
      [QUIET],
    )) as Array<{ name: string; at: Date }>;
    const decidedAt = new Map(rows.map(({ name, at }) => [`${QUIET}/${name.split('/').at(-1)}`, at.getTime()]));
    const calls = await readLedger(this.forge, false, ['bot-b']);
    const starts = startTimes(sent, calls);
    return [...sent].map(([repo, sentAt], n) => {
      const decided = decidedAt.get(repo) ?? NaN;
      const called = sentAt + (starts[n] ?? NaN);
      return {
        decided: this.span(sentAt, decided),
        called: this.span(decided, called),
        all: this.span(sentAt, called),
      };
    });
  }

  private span(from: number, to: number): Span {
    const [a, b] = [this.at(from), this.at(to)];
    const passed = to - from;
    return { passed, busy: b.busy - a.busy, undisturbed: passed - (b.waited - a.waited) };
  }

  /** The first sample from then on. */
  private at(ms: number): Sample {
    let [low, high] = [0, this.samples.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.samples[middle]?.at ?? NaN) >= ms) high = middle;
      else low = middle + 1;
    }
    return this.samples[low] ?? { at: NaN, busy: NaN, waited: NaN };
  }
}

function arrivalOf(n: number, kind: Kind | 'nothing', repo: Repo, org: string): NewDelivery {
  return {
    id: newId(),
    forge: org === FLOOD ? 'main' : 'second',
    org,
    hook: org,
    eventType: 'issues',
    event: 'issues',
    deliveryId: `f100d000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
    targetType: null,
    contentType: 'json',
    verdict: 'signed',
    body: Buffer.from(deliveryOf(n, kind, repo, LINES).text),
    receivedAt: new Date(),
  };
}
