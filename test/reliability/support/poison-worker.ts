// One process of the deciding side over a store on disk. Reading the arrival that says "poison" ends it, as a fault of an engine would.
// It says "decided N" after each pass, and ends by itself when nothing is due any more.
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../../src/core/clock.js';
import { newId } from '../../../src/core/ids.js';
import { silentLogger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { openStores } from '../../../src/store/open-stores.js';
import { decideArrivals, EVENT_READER } from '../../builders/decide-all.js';
import { readDelivery } from '../../../src/events/normalize-delivery.js';
import { CrashLoopGuard } from '../../../src/pipeline/decide/crash-loop-guard.js';

const [place = ''] = process.argv.slice(2);
const stores = await openStores(
  place.startsWith('postgres') ? { kind: 'postgres', url: new Secret(place) } : { kind: 'embedded', dir: place },
);
const watch = new CrashLoopGuard(
  stores.poisonMessages,
  { name: newId(), startedAt: new Date() },
  { leaseMs: 300, aloneAfterMs: 500 },
  systemClock,
  { raise: (key) => console.log(`alert ${key}`) },
  silentLogger,
);
const events = {
  ...EVENT_READER,
  readDelivery: (delivery: Parameters<typeof readDelivery>[0]) => {
    if (delivery.text.includes('poison')) process.kill(process.pid, 'SIGKILL');
    return readDelivery(delivery);
  },
};
const deps = {
  inbox: stores.inbox,
  queue: { ring: () => undefined },
  events,
  clock: systemClock,
  logger: silentLogger,
};
let due = await stores.inbox.dueArrivals(100);
while (due.length > 0) {
  // A batch, as a worker has it.
  await watch.batch(
    'arrival',
    (except) => stores.inbox.dueArrivals(4, { org: 'acme', except }),
    async (ids) => void (await decideArrivals(deps, ids)),
  );
  await wait(10);
  due = await stores.inbox.dueArrivals(100);
}
await stores.close();
