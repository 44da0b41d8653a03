import type { ArrivalSummary } from '../../pipeline/inbox-store.port.js';
import { Player, type PlayerParts } from './player.js';
import type { SandboxClient } from './sandbox-client.js';
import type { SandboxAct } from './script.js';
import { arrivalText } from './tell-act.js';
import type { BotProgress } from './watch-bot.js';

/** What the feed does not tell in so many readings it never tells. */
const READINGS = 5;

/** Plays acts on the sandbox, which may lose or double deliveries. */
export class SandboxPlayer extends Player<SandboxAct> {
  constructor(
    parts: PlayerParts,
    private readonly client: SandboxClient,
  ) {
    super(parts);
  }

  protected override async perform({ as, act, params, says, fault }: SandboxAct): Promise<void> {
    const { client } = this;
    const { watch, lines } = this.parts;
    if (fault === 'drop') await client.fault({ drop: { next: 10 } });
    if (fault === 'twice') await client.fault({ duplicate: { next: 10, id: 'new' } });
    const answer = await client.act(as, act, params);
    if (fault) await client.fault({ clear: true });
    this.record({ as, act, params, result: answer.result, happened: answer.happened, isDropped: fault === 'drop' });
    const ids = new Set(answer.deliveries.map(({ delivery }) => delivery));
    let progress = await watch.settled();
    let own = this.ownArrivals(progress, ids);
    if (fault === 'drop' && own.length === 0) {
      lines.note('      its deliveries are dropped; the next poll of the feed finds it …');
      [progress, own] = await this.findByPolling(progress);
    }
    const deliveries = progress.deliveries.filter(({ delivery }) => ids.has(delivery));
    await this.tell(`${as} ${says}`, arrivalText({ arrivals: own, deliveries }), progress.runs);
  }

  /** A reading that began before the act does not know it yet. */
  private async findByPolling(before: BotProgress): Promise<[BotProgress, ArrivalSummary[]]> {
    let all = before;
    for (let reading = 0; reading < READINGS; reading += 1) {
      await this.parts.watch.untilPolled(1);
      const progress = await this.parts.watch.settled();
      all = {
        arrivals: progress.arrivals,
        runs: [...all.runs, ...progress.runs],
        deliveries: [...all.deliveries, ...progress.deliveries],
      };
      const own = this.ownArrivals(progress, new Set());
      if (own.length > 0) return [all, own];
    }
    return [all, []];
  }

  /** Arrivals of this act: its own deliveries, and entries that tell what no delivery told. */
  private ownArrivals({ arrivals }: BotProgress, ids: ReadonlySet<string>): ArrivalSummary[] {
    const own = arrivals.filter((arrival) =>
      arrival.source === 'webhook'
        ? ids.has(arrival.deliveryId ?? '')
        : arrival.eventId !== null && !this.knownEvents.has(arrival.eventId) && !isTold(arrivals, arrival),
    );
    this.remember(arrivals);
    return own;
  }
}

/** The same event came by a delivery too. */
function isTold(arrivals: readonly ArrivalSummary[], { eventId }: ArrivalSummary): boolean {
  return arrivals.some((other) => other.source === 'webhook' && other.eventId === eventId);
}
