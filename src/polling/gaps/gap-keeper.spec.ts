import { aConfig } from '../../../test/builders/a-config.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeMessenger } from '../../../test/fakes/fake-messenger.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { AlertSender } from '../../observability/alert-sender.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { JsonObject } from '../../core/json.js';
import type { KnownFact } from '../../core/known-facts.port.js';
import { silentLogger } from '../../core/logger.js';
import { Metrics } from '../../observability/metrics.js';
import type { Gap, GapStore, WaitingEntry } from '../../pipeline/gap-store.port.js';
import type { OwnHook } from './classify-gap.js';
import { GapKeeper } from './gap-keeper.js';
import { HookHistory } from './hook-history.js';

const HOUR_MS = 3_600_000;
const INACTIVE: readonly OwnHook[] = [{ active: false, events: ['issues'], branchFilter: '' }];

/** What people hear of gaps; what the ledger holds of them is shown over the stores. */
describe('GapKeeper', () => {
  let clock: ManualClock;
  let metrics: Metrics;
  let waiting: WaitingEntry[];
  let ledger: Gap[];
  let hooks: readonly OwnHook[];
  let told: string[];
  let keeper: GapKeeper;
  /** Another process, which looks at the same store. */
  let restarted: () => GapKeeper;
  let asked: string[];
  /** What was kept of the webhooks. */
  let kept: KnownFact | null;
  let isDelivered: boolean;
  /** By how many times polls are rarer than the config says. */
  let stretch: number;
  /** When the feed was read to its end last; null = never. */
  let advancedAt: Date | null;

  beforeEach(() => {
    clock = new ManualClock();
    metrics = new Metrics(false);
    waiting = [];
    ledger = [];
    hooks = [];
    told = [];
    asked = [];
    kept = null;
    isDelivered = true;
    stretch = 1;
    advancedAt = null;
    const gaps: GapStore = {
      waiting: async () => waiting,
      settle: async (_ids, found) => {
        waiting = [];
        ledger.push(...found);
        return [...found];
      },
      oldestUndecided: async () => [],
      markLate: async () => [],
      missingSince: async (since) => ledger.filter(({ foundAt }) => foundAt > since),
      gaps: async () => [],
      page: async () => ({ rows: [], next: null }),
      coverage: async () => [],
      anyDeliverySince: async () => {
        asked.push('deliveries');
        return isDelivered;
      },
      lastDelivery: async () => null,
      arriving: async () => [],
      recentDeliveries: async () => [],
      beat: async () => null,
      outages: async () => [],
    };
    const logger = {
      ...silentLogger,
      error: (facts: object) => void told.push(`raised ${(facts as { alert: string }).alert}`),
      info: (facts: object) => void told.push(`resolved ${(facts as { alert: string }).alert}`),
    };
    restarted = () =>
      new GapKeeper(
        aConfig({ orgs: [{ forge: 'main', name: 'acme', feed: { everyS: 30, graceS: 120 }, hooks: [{}] }] }),
        gaps,
        {
          read: async () => {
            asked.push('cursor');
            return advancedAt && { position: null, advancedAt };
          },
        },
        {
          read: async () => {
            asked.push('hooks');
            return hooks && { hooks, at: clock.now() };
          },
        },
        new HookHistory({
          read: async () => kept,
          write: async (_forge, _org, _kind, fact) => void (kept = { fact, learnedAt: clock.now() }),
        }),
        { serverOf: () => ({ product: 'gitea', version: '1.27.0' }) },
        { stretchOf: () => stretch },
        clock,
        silentLogger,
        new AlertSender(logger, metrics, clock, null, new FakeMessenger()),
        metrics,
      );
    keeper = restarted();
  });

  /** So many facts that rows told two minutes ago, and no delivery. */
  async function misses(count: number, kind: EventKind = 'issue.opened', data: JsonObject = {}): Promise<void> {
    const readAt = new Date(clock.now().getTime() - 121_000);
    waiting = Array.from({ length: count }, (_, n) => ({
      arrivalId: String(n),
      forge: 'main',
      org: 'acme',
      source: 'feed',
      entryKey: String(n),
      readAt,
      closed: null,
      event: {
        id: `e${n}`,
        kind,
        repo: 'acme/app',
        factAt: readAt,
        data,
        isMatched: false,
        hasRepeats: false,
      },
    }));
    await keeper.pass();
  }

  it('raises one alert for any number of gaps of a class, and counts each', async () => {
    await misses(50);
    await misses(3);

    expect(told).toEqual(['raised gaps/unknown/main/acme']);
    const text = await metrics.text();
    expect(text).toContain('forgehand_gaps_total{org="acme",class="unknown",outcome="repaired"} 53');
    expect(text).toContain('forgehand_alerts_total{key="gaps"} 1');
  });

  it('misses no delivery about a draft: no server sends one', async () => {
    await misses(1, 'release.updated', { release: { draft: true } });
    expect(told).toEqual([]);

    await misses(1, 'release.updated', { release: { draft: false } });
    expect(told).toEqual(['raised gaps/unknown/main/acme']);
  });

  it('raises one for each class', async () => {
    await misses(2);
    hooks = INACTIVE;
    clock.advance(122_000);
    await misses(2);

    expect(told).toEqual(['raised gaps/unknown/main/acme', 'raised gaps/hook-inactive/main/acme']);
  });

  it.each([
    ['switched off', INACTIVE, 'hook-inactive'],
    ['removed', [], 'hook-inactive'],
    ['changed to other events', [{ ...INACTIVE[0], active: true, events: ['push'] }] as OwnHook[], 'not-subscribed'],
  ])('names the cause where the webhook was %s a second after somebody looked at it', async (_what, changed, cause) => {
    hooks = [{ active: true, events: ['issues'], branchFilter: '' }];
    await keeper.pass();
    clock.advance(1_000);
    hooks = changed;
    clock.advance(123_000);
    await misses(1);

    expect(told).toEqual([`raised gaps/${cause}/main/acme`]);
  });

  it('names the cause where the webhook was switched off while the bot was down for a moment', async () => {
    hooks = [{ active: true, events: ['issues'], branchFilter: '' }];
    await keeper.pass();
    hooks = INACTIVE;
    keeper = restarted();
    clock.advance(123_000);
    await misses(1);

    expect(told).toEqual(['raised gaps/hook-inactive/main/acme']);
  });

  it('judges what happened before the webhook was changed by what it was then', async () => {
    hooks = [{ active: true, events: ['issues'], branchFilter: '' }];
    await keeper.pass();
    clock.advance(123_000);
    await misses(1);
    hooks = INACTIVE;
    clock.advance(10_000);
    await misses(1);

    expect(told).toEqual(['raised gaps/unknown/main/acme']);
  });

  it('reads the webhooks once for the rows of one reading', async () => {
    await misses(20);
    await misses(20);
    expect(asked.filter((what) => what === 'hooks')).toEqual(['hooks']);
  });

  it('asks nothing about deliveries while all is well, and looks at pollers every 30 s', async () => {
    for (let pass = 0; pass < 7; pass += 1) {
      await keeper.pass();
      clock.advance(5_000);
    }

    expect(asked.filter((what) => what !== 'hooks')).toEqual(['cursor', 'cursor']);
  });

  it('asks until a delivery comes, once silence was told', async () => {
    isDelivered = false;
    await misses(1);
    await keeper.pass();
    isDelivered = true;
    await keeper.pass();
    asked.length = 0;

    await keeper.pass();

    const key = 'webhooks.silent/main/acme';
    expect(told.filter((one) => one.endsWith(key))).toEqual([`raised ${key}`, `resolved ${key}`]);
    expect(asked).toEqual([]);
  });

  it('is quiet again an hour after the last one, and tells the next', async () => {
    await misses(1);
    clock.advance(HOUR_MS - 1);
    await misses(1);
    clock.advance(HOUR_MS - 1);
    await keeper.pass();
    expect(told).toHaveLength(1);

    clock.advance(1);
    await keeper.pass();
    await misses(1);

    const key = 'gaps/unknown/main/acme';
    expect(told).toEqual([`raised ${key}`, `resolved ${key}`, `raised ${key}`]);
  });

  it('waits longer, and calls a poller stuck later, where polls are rarer than the config says', async () => {
    advancedAt = new Date(clock.now().getTime() - 600_000);
    stretch = 4;
    await misses(1);
    await keeper.pass();
    expect([ledger.length, told]).toEqual([0, []]);

    clock.advance(31_000);
    stretch = 1;
    await misses(1);
    await keeper.pass();
    expect([ledger.length, told]).toEqual([1, ['raised gaps/unknown/main/acme', 'raised poller.stuck/main/acme']]);
  });
});
