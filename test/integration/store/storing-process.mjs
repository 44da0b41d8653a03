// Stores deliveries one after the other into the embedded store in DIR and prints each id after it was acknowledged, until it is killed.
import { randomUUID } from 'node:crypto';
import { openStores } from '../../../src/store/open-stores.ts';

const stores = await openStores({ kind: 'embedded', dir: process.argv[2] });
await stores.migrate();
for (;;) {
  const id = randomUUID();
  const text = JSON.stringify({ id, filling: 'x'.repeat(3_000) });
  const delivery = {
    id,
    forge: 'main',
    org: 'acme',
    hook: 'acme',
    eventType: 'push',
    event: 'push',
    deliveryId: id,
    targetType: null,
    contentType: 'json',
    verdict: 'signed',
    body: Buffer.from(text),
    text,
    textHash: id.replaceAll('-', '').repeat(2),
    receivedAt: new Date(),
  };
  await stores.inbox.storeDeliveries([delivery]);
  process.stdout.write(`${id}\n`);
}
