import type { RunReport } from '../../api/operations/answers.js';
import type { ArrivalSummary } from '../../pipeline/inbox-store.port.js';
import type { JsonObject } from '../../core/json.js';
import type { Reach } from '../reach-bot.js';
import { forgedRelease, sendForged } from './forged-delivery.js';
import type { ForgeNow } from './forge-now.js';
import type { Lines } from './lines.js';
import type { SandboxClient } from './sandbox-client.js';
import type { DemoAct } from './script.js';
import { BOT_LOGIN, ORG } from './stage.js';
import { arrivalText, tellAct } from './tell-act.js';
import type { PlayedAct } from '../../verifier/handover.js';
import type { BotWatch, Seen } from './watch-bot.js';

export interface PlayerParts {
  readonly client: SandboxClient;
  readonly reach: Reach;
  readonly watch: BotWatch;
  readonly now: ForgeNow;
  readonly lines: Lines;
  readonly adminToken: string;
  /** Where the hook points. */
  readonly webhook: string;
}

/** What the feed does not tell in so many readings it never tells. */
const READINGS = 5;

type Performed = Extract<DemoAct, { kind: 'act' }>;

/** Plays acts one after the other, waits for what comes of each, and tells it. */
export class Player {
  readonly played: PlayedAct[] = [];
  private readonly knownEvents = new Set<string>();
  private no = 0;

  constructor(private readonly parts: PlayerParts) {}

  /** What the bot did before the first act: policies hold from its start. */
  async begin(policies: readonly string[]): Promise<void> {
    const { watch, lines, now } = this.parts;
    await watch.untilDecided(policies);
    const seen = await watch.settled();
    this.remember(seen.arrivals);
    this.record({ as: BOT_LOGIN, act: 'start', params: {} });
    lines.head();
    await tellAct(lines, now, { no: '', act: 'the bot starts', arrival: 'new rules' }, onePerRule(seen.runs));
  }

  async play(act: DemoAct): Promise<void> {
    this.no += 1;
    await (act.kind === 'act' ? this.perform(act) : this.forge(act));
  }

  /** Fire every schedule once, as `forgehand housekeeping run` does. */
  async nightfall(schedules: readonly string[]): Promise<void> {
    const { reach, watch, lines, now } = this.parts;
    this.record({ as: BOT_LOGIN, act: 'nightfall', params: {} });
    for (const schedule of schedules) {
      this.no += 1;
      await reach.call('runSchedule', { org: ORG, schedule });
      const seen = await watch.settled();
      this.remember(seen.arrivals);
      await tellAct(
        lines,
        now,
        { no: String(this.no), act: `the schedule of ${schedule} fires`, arrival: 'tick' },
        onePerRule(seen.runs.filter(({ run }) => run.rule === schedule)),
      );
    }
  }

  private async perform({ as, act, params, says, fault }: Performed): Promise<void> {
    const { client, watch, lines, now } = this.parts;
    if (fault === 'drop') await client.fault({ drop: { next: 10 } });
    if (fault === 'twice') await client.fault({ duplicate: { next: 10, id: 'new' } });
    const answer = await client.act(as, act, params);
    if (fault) await client.fault({ clear: true });
    this.record({ as, act, params, result: answer.result, happened: answer.happened, isDropped: fault === 'drop' });
    const ids = new Set(answer.deliveries.map(({ delivery }) => delivery));
    let seen = await watch.settled();
    let own = this.ownArrivals(seen, ids);
    if (fault === 'drop' && own.length === 0) {
      lines.note('      its deliveries are dropped; the next poll of the feed finds it …');
      [seen, own] = await this.findByPolling(seen);
    }
    const deliveries = seen.deliveries.filter(({ delivery }) => ids.has(delivery));
    await tellAct(
      lines,
      now,
      { no: String(this.no), act: `${as} ${says}`, arrival: arrivalText({ arrivals: own, deliveries }) },
      seen.runs,
    );
  }

  /** A reading that began before the act does not know it yet. */
  private async findByPolling(before: Seen): Promise<[Seen, ArrivalSummary[]]> {
    let all = before;
    for (let reading = 0; reading < READINGS; reading += 1) {
      await this.parts.watch.untilPolled(1);
      const seen = await this.parts.watch.settled();
      all = {
        arrivals: seen.arrivals,
        runs: [...all.runs, ...seen.runs],
        deliveries: [...all.deliveries, ...seen.deliveries],
      };
      const own = this.ownArrivals(seen, new Set());
      if (own.length > 0) return [all, own];
    }
    return [all, []];
  }

  private async forge({ as, repo, tag, says }: Extract<DemoAct, { kind: 'forged' }>): Promise<void> {
    const { client, watch, lines, now, adminToken, webhook } = this.parts;
    const forged = forgedRelease((await client.get(`/repos/${repo}`, adminToken)) as JsonObject, tag);
    const arrival = await sendForged(webhook, forged, lines);
    this.record({ as, act: 'forged', params: { repo, tag } });
    const seen = await watch.settled();
    this.remember(seen.arrivals);
    await tellAct(
      lines,
      now,
      {
        no: String(this.no),
        act: `${as} ${says}`,
        arrival,
      },
      seen.runs,
    );
  }

  /** Arrivals of this act: its own deliveries, and entries that tell what no delivery told. */
  private ownArrivals({ arrivals }: Seen, ids: ReadonlySet<string>): ArrivalSummary[] {
    const own = arrivals.filter((arrival) =>
      arrival.source === 'webhook'
        ? ids.has(arrival.deliveryId ?? '')
        : arrival.eventId !== null && !this.knownEvents.has(arrival.eventId) && !isTold(arrivals, arrival),
    );
    this.remember(arrivals);
    return own;
  }

  private remember(arrivals: readonly ArrivalSummary[]): void {
    for (const { eventId } of arrivals) if (eventId) this.knownEvents.add(eventId);
  }

  private record(act: Pick<PlayedAct, 'as' | 'act' | 'params'> & Partial<PlayedAct>): void {
    this.played.push({ result: null, happened: [], isDropped: false, at: new Date().toISOString(), ...act });
  }
}

/** The same event came by a delivery too. */
function isTold(arrivals: readonly ArrivalSummary[], { eventId }: ArrivalSummary): boolean {
  return arrivals.some((other) => other.source === 'webhook' && other.eventId === eventId);
}

/** A policy over many repositories is one line, not one for each. */
function onePerRule(runs: readonly RunReport[]): RunReport[] {
  const byRule = new Map<string, RunReport>();
  for (const report of runs) {
    const known = byRule.get(report.run.rule);
    byRule.set(report.run.rule, known ? { ...known, intents: [...known.intents, ...report.intents] } : report);
  }
  return [...byRule.values()];
}
