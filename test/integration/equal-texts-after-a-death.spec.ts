import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/core/clock.js';
import { newId } from '../../src/core/ids.js';
import { silentLogger } from '../../src/core/logger.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { CrashLoopGuard, CrashLoopTimes } from '../../src/pipeline/decide/crash-loop-guard.js';
import { type ArrivalParts, decideArrival, decideArrivals } from '../builders/decide-all.js';
import { aDelivery } from '../builders/arrivals.js';
import { quietBodies } from '../chaos/rig/quiet-bodies.js';
import { openTestStores, type TestStores } from '../services/test-stores.js';

const SEED = 5;
const PUSHES = 4;
/** As the sweep has it. */
const PASS_MS = 2_000;
const AT_ONCE = 8;
/** Passes: ten seconds of life, one for each delivery, and some to spare. */
const PASSES = 15;

describe('reliability/poison: deliveries of one text after a death', () => {
  let test: TestStores;
  beforeAll(async () => {
    test = await openTestStores('embedded');
  });
  afterAll(() => test?.close());

  it('are decided although they wait for the one that a process died with, which is decided alone', async () => {
    const { inbox, poisonMessages: store } = test.stores;
    const deps: ArrivalParts = {
      inbox,
      queue: { ring: () => undefined },
      events: { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews },
      clock: systemClock,
      logger: silentLogger,
    };
    // Each push can be undone by another, so that a second one of its text waits for all that came between.
    const stored = async (): Promise<string[]> => {
      const deliveries = quietBodies(PUSHES, SEED).map(({ eventType, text }) =>
        aDelivery({ eventType, text, receivedAt: systemClock.now() }),
      );
      await inbox.storeDeliveries(deliveries);
      return deliveries.map(({ id }) => id);
    };
    for (const id of await stored()) await decideArrival(deps, id);
    const [died = ''] = await stored();
    await store.begin({ topic: 'arrival', ids: [died], owner: newId(), leaseMs: -1_000, dares: 0 });
    let livedMs = 0;
    const guard = new CrashLoopGuard(
      store,
      { name: newId(), startedAt: new Date(Date.now() + 1) },
      new CrashLoopTimes(),
      { now: systemClock.now, monotonicMs: () => livedMs },
      { raise: () => undefined },
      silentLogger,
    );

    let due = await inbox.dueArrivals(PUSHES);
    expect(due).toHaveLength(PUSHES);
    for (let pass = 0; pass < PASSES && due.length > 0; pass += 1) {
      livedMs += PASS_MS;
      for (;;) {
        const deal = (except: readonly string[]): Promise<string[]> =>
          inbox.dueArrivals(AT_ONCE, { org: 'acme', except });
        const { dealt, isHeldUp } = await guard.batch(
          'arrival',
          deal,
          async (ids) => void (await decideArrivals(deps, ids)),
        );
        if (dealt === 0 || isHeldUp) break;
      }
      await guard.settled();
      // The time for which they were put off is over.
      await inbox.putOff(due, 0);
      due = await inbox.dueArrivals(PUSHES);
    }

    expect(due).toEqual([]);
    expect(await store.quarantined(9)).toEqual([]);
  });
});
