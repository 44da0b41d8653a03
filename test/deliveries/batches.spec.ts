import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/core/clock.js';
import { hashOf, newId } from '../../src/core/ids.js';
import { silentLogger } from '../../src/core/logger.js';
import { aDelivery } from '../builders/arrivals.js';
import { decideArrivals, EVENT_READER } from '../builders/decide-all.js';
import { InMemoryInboxStore } from '../fakes/in-memory-inbox-store.js';
import { jsonTextOf, readActFolders } from '../recordings-tool/act-file.js';

const ACTS = readActFolders('test/recordings').flatMap(({ acts }) => acts);
const ORG = 'acme';

type Store = (inbox: InMemoryInboxStore) => Promise<string>;

/** Each delivery twice, and the rows of the feed between. */
const TOLD = ACTS.flatMap((act, n): Store[] => {
  const receivedAt = new Date(Date.UTC(2026, 10, 20) + n * 60_000);
  const deliver = (delivery: (typeof act.deliveries)[number]): Store => {
    return async (inbox) => {
      const { event_type: eventType, body } = delivery;
      const text = jsonTextOf(delivery);
      const told = aDelivery({ org: ORG, eventType, event: '', text, body: Buffer.from(body), receivedAt });
      await inbox.storeDeliveries([told]);
      return told.id;
    };
  };
  const rows = (act.feed ?? []).map((row): Store => {
    const text = JSON.stringify(row);
    const entry = {
      forge: 'main',
      org: ORG,
      source: 'feed',
      text,
      textHash: hashOf(text),
      readAt: receivedAt,
    } as const;
    return async (inbox) => {
      const [stored] = await inbox.storeEntries([{ ...entry, id: newId(), entryKey: `${n} ${String(row.id)}` }]);
      return stored?.id ?? '';
    };
  });
  return [...act.deliveries.map(deliver), ...rows, ...act.deliveries.map(deliver)];
});

function jumbled(seed: number): Store[] {
  return TOLD.map((tell, n) => ({ tell, at: n + (parseInt(hashOf(`${seed} ${n}`).slice(0, 4), 16) % 40) }))
    .sort((a, b) => a.at - b.at)
    .map(({ tell }) => tell);
}

/** What becomes of all that is told in this order, without ids that are made anew each time. */
async function outcomeOf(order: readonly Store[], batch: number): Promise<unknown> {
  const inbox = new InMemoryInboxStore();
  const queue = { ring: () => undefined };
  const deps = { inbox, queue, clock: systemClock, logger: silentLogger, events: EVENT_READER };
  const ids: string[] = [];
  for (const tell of order) ids.push(await tell(inbox));
  for (let at = 0; at < ids.length; at += batch) await decideArrivals(deps, ids.slice(at, at + batch));
  const events = inbox.allEvents();
  const placeOf = (id: string): number => events.findIndex((event) => event.id === id);
  return {
    events: events.map(({ id: _id, storedAt: _at, ...event }) => event),
    arrivals: await Promise.all(
      ids.map(async (id) => {
        const { state, repeats = 0, archivedAt = null } = (await inbox.get(id)) ?? {};
        return [state, repeats, archivedAt !== null, inbox.eventsToldBy(id).map(placeOf)];
      }),
    ),
  };
}

describe('deliveries/batches', () => {
  it.each([0, 1, 2, 3])('recorded acts come to the same however many are decided together: order %d', async (seed) => {
    const order = seed === 0 ? TOLD : jumbled(seed);
    const alone = await outcomeOf(order, 1);

    for (const batch of [7, 64]) expect(await outcomeOf(order, batch)).toEqual(alone);
  });
});
