import type { ForgeEvent } from '../../src/core/event.js';
import type { NewDelivery } from '../../src/core/arrival.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import { aDelivery } from './arrivals.js';

/** The event is in the store, told by a delivery of its own. */
export async function storeEvent(
  inbox: Pick<InboxStore, 'storeDeliveries' | 'decide'>,
  event: ForgeEvent,
  delivery: NewDelivery = aDelivery(),
): Promise<void> {
  await inbox.storeDeliveries([delivery]);
  await inbox.decide(delivery.id, async (tx) => {
    await tx.insertEvent(event);
    await tx.join(event.id);
  });
}
