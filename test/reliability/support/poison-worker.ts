// One process of the deciding side over a store on disk. Reading the arrival that says "poison" ends it, as a fault of an engine would.
// It says "decided N" after each pass, and ends by itself when nothing is due any more.
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../../src/core/clock.js';
import { newId } from '../../../src/core/ids.js';
import { silentLogger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { openStores } from '../../../src/store/open-stores.js';
import { deriveFacts, isNews, statedObjectOf } from '../../../src/events/derive/derive-facts.js';
import { deduplicateInto } from '../../../src/events/deduplicate.js';
import { readDelivery } from '../../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../../src/events/normalize-entry.js';
import { decideArrival } from '../../../src/pipeline/decide/decide-arrival.js';
import { CrashLoopGuard } from '../../../src/pipeline/decide/crash-loop-guard.js';

const [place = ''] = process.argv.slice(2);
const stores = await openStores(
  place.startsWith('postgres') ? { kind: 'postgres', url: new Secret(place) } : { kind: 'embedded', dir: place },
);
const watch = new CrashLoopGuard(
  {
    store: stores.poisonMessages,
    clock: systemClock,
    alerts: { raise: (key) => console.log(`alert ${key}`) },
    logger: silentLogger,
  },
  { owner: newId(), startedAt: new Date(), leaseMs: 300, aloneAfterMs: 500 },
);
const events = {
  readDelivery: (delivery: Parameters<typeof readDelivery>[0]) => {
    if (delivery.text.includes('poison')) process.kill(process.pid, 'SIGKILL');
    return readDelivery(delivery);
  },
  normalizeEntry,
  deduplicateInto,
  statedObjectOf,
  deriveFacts,
  isNews,
};
const deps = {
  inbox: stores.inbox,
  queue: { ring: () => undefined },
  events,
  clock: systemClock,
  logger: silentLogger,
};
const decide = (id: string): Promise<void> =>
  watch.run('arrival', id, async () => void (await decideArrival(deps, id)));
for (;;) {
  const due = await stores.inbox.dueArrivals(100);
  if (due.length === 0) break;
  // Several at once, as a worker has them.
  for (let at = 0; at < due.length; at += 4) await Promise.all(due.slice(at, at + 4).map(decide));
  await wait(50);
}
await stores.close();
