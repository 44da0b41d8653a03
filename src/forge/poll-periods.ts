import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import { AppConfig } from '../config/app-config.js';
import { credentialOf } from '../config/credentials.js';
import { orgsByKey } from '../config/live-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Clock } from '../core/clock.js';
import { KnownFacts } from '../core/known-facts.port.js';
import { Logger } from '../core/logger.js';

/** How often the feeds of an account of a forge are read, and why not more often. */
const feedPeriod = z.object({
  /** By how many times periods are longer than the config says; 1 = they are not. */
  stretch: z.number().min(1),
  everyS: z.number(),
  wantedS: z.number(),
  organizations: z.number(),
  /** Calls for polls and lists in the periods that are wanted, and calls that there are for them. */
  neededPerMin: z.number(),
  leftPerMin: z.number(),
  /** The `rate_per_s` with which they would fit. */
  ratePerS: z.number(),
});
export type FeedPeriod = z.output<typeof feedPeriod>;

const KIND = 'polls.period';
const REFRESH_MS = 5_000;

/**
 * The periods of polls as they are, for every process: the one that polls stores them, and whatever counts polls counts these. Where polls do not fit into the
 * rate of a forge, a period is longer than the config says.
 */
@Injectable()
export class PollPeriods implements OnModuleInit {
  private readonly orgs: ReturnType<typeof orgsByKey>;
  private stretches: ReadonlyMap<string, number> = new Map();
  private refreshAtMs = 0;
  private refreshing: Promise<unknown> | null = null;

  constructor(
    config: AppConfig,
    private readonly self: ThisProcess,
    @Inject(KnownFacts) private readonly facts: Pick<KnownFacts, 'all' | 'write'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.orgs = orgsByKey(config);
  }

  async onModuleInit(): Promise<void> {
    // A process that only receives may not read what others know, and counts no polls.
    if (this.self.role !== 'web') await this.refresh();
  }

  /** By how many times the polls of an organization are rarer than the config says, at least 1. It may be a few seconds old. */
  stretchOf(forge: string, org: string): number {
    if (this.clock.monotonicMs() >= this.refreshAtMs) this.refreshing ??= this.refresh();
    const own = this.orgs().get(org)?.auth ? org : null;
    return this.stretches.get(credentialOf({ id: forge, org: own })) ?? 1;
  }

  /** By credential, as it is stored. */
  async all(): Promise<ReadonlyMap<string, FeedPeriod>> {
    const stored = (await this.facts.all(KIND)).flatMap(({ forge, fact }) => {
      const { data } = feedPeriod.safeParse(fact);
      return data ? [[forge, data] as const] : [];
    });
    this.stretches = new Map(stored.map(([credential, { stretch }]) => [credential, stretch]));
    return new Map(stored);
  }

  /** Holds from now on. A change of less than a twentieth is not worth telling. */
  publish(credential: string, period: FeedPeriod): void {
    const before = this.stretches.get(credential) ?? 1;
    const isBack = period.stretch === 1 && before !== 1;
    if (!isBack && Math.abs(period.stretch - before) < before / 20) return;
    this.stretches = new Map(this.stretches).set(credential, period.stretch);
    this.facts.write(credential, '', KIND, period).catch((error: unknown) => {
      // It is told again, since others do not know it.
      this.stretches = new Map(this.stretches).set(credential, before);
      this.logger.debug({ credential, error }, 'polls.period-unstored');
    });
  }

  private async refresh(): Promise<void> {
    this.refreshAtMs = this.clock.monotonicMs() + REFRESH_MS;
    try {
      await this.all();
    } catch (error) {
      this.logger.debug({ error }, 'polls.periods-unread');
    } finally {
      this.refreshing = null;
    }
  }
}
