// node store-deliveries.mjs DIST DIR: store deliveries one after the other, then as many at once, and tell what each cost.
import { createHash, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, dir] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const { openStores } = await load('database/open-stores.js');
const { DEFAULT_WRITER_LIMITS, DeliveryWriter } = await load('ingest/webhooks/delivery-writer.js');
const { newId } = await load('core/ids.js');

const MANY = 100;
const stores = await openStores({ kind: 'embedded', dir });
await stores.migrate();
const writer = new DeliveryWriter(stores.inbox, { ...DEFAULT_WRITER_LIMITS, answerWithinMs: 120_000 });

function aDelivery() {
  const text = JSON.stringify({ n: randomUUID() });
  return {
    id: newId(),
    forge: 'main',
    org: 'acme',
    hook: 'acme',
    eventType: 'push',
    event: 'push',
    deliveryId: randomUUID(),
    targetType: 'organization',
    contentType: 'json',
    verdict: 'signed',
    body: Buffer.from(text),
    text,
    textHash: createHash('sha256').update(text).digest('hex'),
    receivedAt: new Date(),
  };
}

async function costOf(work) {
  const [before, began] = [statSync(process.env['COUNT_FLUSHES']).size, performance.now()];
  await work();
  return { flushes: statSync(process.env['COUNT_FLUSHES']).size - before, ms: Math.round(performance.now() - began) };
}

const alone = await costOf(async () => {
  for (let n = 0; n < MANY; n += 1) await writer.write(aDelivery());
});
const atOnce = await costOf(() => Promise.all(Array.from({ length: MANY }, () => writer.write(aDelivery()))));
const reads = await costOf(() => Promise.all(Array.from({ length: MANY }, () => stores.cursors.read('main', 'acme', 'feed'))));
console.log(JSON.stringify({ alone, atOnce, reads }));
await stores.close();
