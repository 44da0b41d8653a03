import { decideBy } from './decide-all.js';
import type { ForgeEvent } from '../../src/core/event.js';
import type { NewDelivery } from '../../src/core/arrival.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import { aDelivery } from './arrivals.js';

/** The event is in the store, told by a delivery of its own. */
export async function storeEvent(
  inbox: Pick<InboxStore, 'storeDeliveries' | 'inBatch'>,
  event: ForgeEvent,
  delivery: NewDelivery = aDelivery(),
): Promise<void> {
  await inbox.storeDeliveries([delivery]);
  await decideBy(inbox, delivery.id, async (tx) => {
    tx.insertEvent(event);
    tx.join(event.id);
  });
}
