import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { alert, Alerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { grouped } from '../core/grouped.js';
import { type FeedPeriod, PollPeriods } from '../forge/poll-periods.js';
import { leftForPolls, paceOf, type PollNeeds, type PollPace } from './poll-pace.js';
import type { Polled } from './pollers.js';

/** How much sooner a pressing source has its next turn. */
const FAST = 0.25;
const PLAN_EVERY_MS = 5_000;
/** Weight of a poll in what the polls of a source usually take. */
const NEW_WEIGHT = 0.1;
/** Turns come up to a tenth too early or too late: less than this is no other period. */
const NOTICED = 1.1;
const DAY_S = 86_400;
/** What audits ask about an organization in a day: its webhooks each hour, and ten calls in the night. */
const AUDITS_PER_DAY = 24 + 10;

interface PacedConfig {
  readonly forges: ReadonlyArray<Pick<AppConfig['forges'][number], 'id' | 'ratePerS'>>;
  readonly housekeeping: Pick<AppConfig['housekeeping'], 'audits'>;
}

const UNHINDERED: PollPace = { quiet: 1, urgent: 1, isHasty: true };

/** Fits the polls of this process into the rate of each account, by what they take, and tells when periods get longer by it. */
@Injectable()
export class PollPaces {
  private paces: ReadonlyMap<string, PollPace> = new Map();
  /** By source: calls of a poll, and whether one was counted. */
  private readonly costs = new Map<string, number>();
  private readonly polledOnce = new Set<string>();
  /** By credential, as it was told. */
  private readonly stretches = new Map<string, number>();
  private planAtMs = Number.NEGATIVE_INFINITY;
  private planned = 0;

  constructor(
    @Inject(AppConfig) private readonly config: PacedConfig,
    @Inject(PollPeriods) private readonly periods: Pick<PollPeriods, 'publish'>,
    private readonly clock: Clock,
    private readonly alerts: Alerts,
  ) {}

  /** Looks now and then at what there is to poll. @param sources those that this process polls */
  plan(sources: readonly Polled[]): void {
    const now = this.clock.monotonicMs();
    if (now < this.planAtMs && sources.length === this.planned) return;
    this.planAtMs = now + PLAN_EVERY_MS;
    this.planned = sources.length;
    const paces = new Map<string, PollPace>();
    for (const [credential, own] of grouped(sources, (source) => source.credential)) {
      const needs = this.needsOf(own);
      const pace = paceOf(needs);
      paces.set(credential, pace);
      this.tell(credential, own, needs, pace);
    }
    this.paces = paces;
    // Another process may tell of these meanwhile: what was told here says nothing when they come back.
    for (const credential of this.stretches.keys()) if (!paces.has(credential)) this.stretches.delete(credential);
  }

  /** The time between two polls of a source, as things are now. */
  everyMs(source: Polled): number {
    const { quiet, urgent, isHasty } = this.paces.get(source.credential) ?? UNHINDERED;
    const isUrgent = source.isUrgent?.() ?? false;
    const isFast = (isUrgent || isHasty) && (source.isPressing?.() ?? false);
    return source.everyMs * (isUrgent ? urgent : quiet) * (isFast ? FAST : 1);
  }

  /** How many calls a poll took. The first one of a process reads more than those after it. */
  noteCalls(source: Polled, calls: number): void {
    const before = this.callsOf(source);
    if (this.polledOnce.has(source.name)) this.costs.set(source.name, before + (calls - before) * NEW_WEIGHT);
    this.polledOnce.add(source.name);
  }

  forget(name: string): void {
    this.costs.delete(name);
    this.polledOnce.delete(name);
  }

  private callsOf(source: Polled): number {
    return this.costs.get(source.name) ?? source.callsPerPoll;
  }

  private needsOf(sources: readonly Polled[]): PollNeeds {
    const [first] = sources;
    const rate = this.config.forges.find(({ id }) => id === first?.forge)?.ratePerS ?? Number.POSITIVE_INFINITY;
    const needs = { ratePerS: rate, quietPerS: 0, hastePerS: 0, urgentPerS: 0 };
    for (const source of sources) {
      const perS = (this.callsOf(source) * 1000) / source.everyMs;
      const isPressing = source.isPressing?.() ?? false;
      if (source.isUrgent?.()) needs.urgentPerS += isPressing ? perS / FAST : perS;
      else {
        needs.quietPerS += perS;
        if (isPressing) needs.hastePerS += perS / FAST - perS;
      }
    }
    const organizations = feedsAmong(sources).length;
    return { ...needs, auditsPerS: this.config.housekeeping.audits ? (organizations * AUDITS_PER_DAY) / DAY_S : 0 };
  }

  private tell(credential: string, sources: readonly Polled[], needs: PollNeeds, pace: PollPace): void {
    const stretch = pace.quiet < NOTICED ? 1 : pace.quiet;
    const feeds = feedsAmong(sources);
    const wantedS = Math.min(...feeds.map(({ everyMs }) => everyMs / 1000));
    const perS = needs.quietPerS + needs.urgentPerS;
    const period: FeedPeriod = {
      stretch,
      everyS: rounded(wantedS * stretch),
      wantedS,
      organizations: feeds.length,
      neededPerMin: Math.ceil(perS * 60),
      leftPerMin: Math.floor(leftForPolls(needs) * 60),
      ratePerS: Math.ceil((perS + needs.auditsPerS) * 2),
    };
    this.periods.publish(credential, period);
    const before = this.stretches.get(credential);
    this.stretches.set(credential, stretch);
    const key = `polls.stretched/${credential}` as const;
    if (stretch > 1) this.alerts.raise(key, alert('polls.stretched', { forge: credential, ...period }));
    else if (before !== 1) this.alerts.resolve(key);
  }
}

/** To the second, where that tells enough. */
function rounded(seconds: number): number {
  return seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds);
}

function feedsAmong(sources: readonly Polled[]): Polled[] {
  return sources.filter(({ source }) => source === 'feed');
}
