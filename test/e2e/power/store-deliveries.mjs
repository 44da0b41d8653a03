// node --import ./test/register-swc.mjs store-deliveries.mjs DIST DIR: stores deliveries one after the other, then as many at once, and prints what each cost.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { aDelivery } from '../../builders/arrivals.js';

const [dist, dir] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const { openStores } = await load('store/open-stores.js');
const { DEFAULT_WRITER_LIMITS, DeliveryWriter } = await load('pipeline/receive.js');

const MANY = 100;
const stores = await openStores({ kind: 'embedded', dir });
await stores.migrate();
const writer = new DeliveryWriter(
  stores.inbox,
  { ring: () => undefined },
  { ...DEFAULT_WRITER_LIMITS, answerWithinMs: 120_000 },
);

async function costOf(work) {
  const [before, began] = [statSync(process.env['COUNT_FLUSHES']).size, performance.now()];
  await work();
  return { flushes: statSync(process.env['COUNT_FLUSHES']).size - before, ms: Math.round(performance.now() - began) };
}

const alone = await costOf(async () => {
  for (let n = 0; n < MANY; n += 1) await writer.write(aDelivery());
});
const atOnce = await costOf(() => Promise.all(Array.from({ length: MANY }, () => writer.write(aDelivery()))));
const reads = await costOf(() =>
  Promise.all(Array.from({ length: MANY }, () => stores.cursors.read('main', 'acme', 'feed'))),
);
console.log(JSON.stringify({ alone, atOnce, reads }));
await stores.close();
