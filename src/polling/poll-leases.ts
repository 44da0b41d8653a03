import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ofOrgs } from '../config/live-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Clock } from '../core/clock.js';
import { KnownFacts } from '../core/known-facts.port.js';
import { Logger } from '../core/logger.js';
import { within } from '../core/within.js';

interface Lease {
  /** By the clock of this process, from before the store was asked; 0 = another process polls the forge. */
  untilMs: number;
  askAtMs: number;
  asking: Promise<void> | null;
  /** What became of polls since the lease was extended last. */
  hasFailed: boolean;
  hasSucceeded: boolean;
}

const KIND = 'polls';
/** A lease lasts half of a period of the forge's busiest feed, within these bounds: whoever takes it over polls before a period is over. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 30_000;
/** How often a lease is extended, or asked for, in the time that it lasts. */
const ASKS = 3;
/** The process that owns an embedded store needs nobody's lease to end, not even that of the process before it. */
const ONLY_PROCESS = 'embedded';
const RELEASE_WITHIN_MS = 1_000;

/**
 * Of all processes that could poll the organizations of a forge, one does: it alone can keep the pace of their account. The store says which one. A lease that two
 * hold for a moment costs calls and nothing else, for cursors may be moved by several processes.
 */
@Injectable()
export class PollLeases {
  private readonly leases = new Map<string, Lease>();
  private readonly holder: string;
  private readonly shortestPeriodS: () => ReadonlyMap<string, number>;

  constructor(
    config: AppConfig,
    self: ThisProcess,
    @Inject(KnownFacts) private readonly facts: Pick<KnownFacts, 'claim' | 'release'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.holder = config.store.kind === 'embedded' ? ONLY_PROCESS : self.name;
    this.shortestPeriodS = ofOrgs(config, (orgs) => {
      const shortest = new Map<string, number>();
      for (const { forge, feed } of orgs)
        shortest.set(forge, Math.min(shortest.get(forge) ?? Number.POSITIVE_INFINITY, feed.everyS));
      return shortest;
    });
  }

  /** Whether this process polls the forge. Asks the store in passing where it is time to: a later call knows the answer. */
  holds(forge: string): boolean {
    const lease = this.leaseOf(forge);
    const now = this.clock.monotonicMs();
    if (now >= lease.askAtMs) lease.asking ??= this.ask(forge, lease).finally(() => (lease.asking = null));
    return now < lease.untilMs;
  }

  /** What became of a poll. A process whose polls all fail lets its lease end: perhaps another one reaches the forge. */
  noteOutcome(forge: string, hasSucceeded: boolean): void {
    const lease = this.leaseOf(forge);
    if (hasSucceeded) lease.hasSucceeded = true;
    else lease.hasFailed = true;
  }

  /** Another process may poll from now on. */
  async release(): Promise<void> {
    await Promise.all(
      [...this.leases].map(async ([forge, lease]) => {
        lease.askAtMs = Number.POSITIVE_INFINITY;
        await lease.asking;
        if (lease.untilMs === 0) return;
        lease.untilMs = 0;
        // A store that does not answer ends the lease by its time.
        await within(RELEASE_WITHIN_MS, this.facts.release(forge, '', KIND, this.holder)).catch(() => undefined);
      }),
    );
  }

  private leaseOf(forge: string): Lease {
    const earlier = this.leases.get(forge);
    if (earlier) return earlier;
    const lease = { untilMs: 0, askAtMs: 0, asking: null, hasFailed: false, hasSucceeded: false };
    this.leases.set(forge, lease);
    return lease;
  }

  private async ask(forge: string, lease: Lease): Promise<void> {
    const now = this.clock.monotonicMs();
    const forMs = this.durationMs(forge);
    lease.askAtMs = now + forMs / ASKS;
    const isCutOff = lease.hasFailed && !lease.hasSucceeded;
    lease.hasFailed = lease.hasSucceeded = false;
    if (isCutOff && now < lease.untilMs && this.holder !== ONLY_PROCESS) {
      // The others ask first when it has ended.
      lease.askAtMs = lease.untilMs + forMs;
      return;
    }
    try {
      const wasOurs = lease.untilMs > 0;
      const isOurs = await this.facts.claim(forge, '', KIND, forMs, this.holder);
      lease.untilMs = isOurs ? now + forMs : 0;
      if (isOurs !== wasOurs) this.logger.info({ forge, isOurs }, 'polls.lease');
    } catch (error) {
      // It is held until its time is over; without the store nothing could be polled anyway.
      this.logger.debug({ forge, error }, 'polls.lease-unasked');
    }
  }

  private durationMs(forge: string): number {
    const halfMs = (this.shortestPeriodS().get(forge) ?? 0) * 500;
    return Math.min(Math.max(halfMs, SHORTEST_MS), LONGEST_MS);
  }
}
