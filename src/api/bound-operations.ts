import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Encryptor } from '../core/encryptor.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ErasureStore } from '../housekeeping/erase/erasure-store.port.js';
import { PersonErasure } from '../housekeeping/erase/person-erasure.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { Acts } from './acts.js';
import { IdStore } from './id-store.port.js';
import { LongCalls } from './long-calls.js';
import { OPERATIONS, type Control } from './operations/index.js';
import { KnownNames } from './operations/known-names.js';
import { NEEDS, type Needs } from './operations/needs.js';
import { openApi } from './operations/openapi.js';
import { bind } from './operations/operation.js';
import { Orders } from './operations/orders.js';
import { RecentDeliveries } from './operations/recent-deliveries.js';
import { Ids, Orgs } from './operations/shared.js';
import { ShownOrgs } from './operations/shown-orgs.js';

/** Every operation of the control API, by its name. */
export abstract class BoundOperations {}
type Handlers = Control['operations'];
export interface BoundOperations extends Handlers {}

/** What handlers may ask for is injected in the order of the table. */
const BOUND_OPERATIONS = {
  provide: BoundOperations,
  inject: [Acts, KnownNames, ShownOrgs, ThisProcess, WorkQueue, ...Object.values(NEEDS)],
  useFactory: (
    ...[acts, knownNames, shownOrgs, self, queue, ...parts]: [
      Acts,
      KnownNames,
      ShownOrgs,
      ThisProcess,
      WorkQueue,
      ...unknown[],
    ]
  ): BoundOperations => {
    const provided = Object.fromEntries(Object.keys(NEEDS).map((name, n) => [name, parts[n]])) as unknown as Needs;
    const running = runningOf(self, provided.config, queue);
    return bind(OPERATIONS, { ...provided, running, document: () => openApi(OPERATIONS) }, acts, knownNames, shownOrgs);
  },
};

/** The operations, and what of this room their handlers ask for. */
export const OPERATION_PROVIDERS = [
  // The command line reads these files too, and loads no framework.
  {
    provide: PersonErasure,
    inject: [ErasureStore, Encryptor],
    useFactory: (store: ErasureStore, encryptor: Encryptor) => new PersonErasure(store, encryptor),
  },
  { provide: Ids, inject: [IdStore], useFactory: (store: IdStore) => new Ids(store) },
  {
    provide: Orgs,
    inject: [AppConfig, ConnectedForges],
    useFactory: (config: AppConfig, forges: ConnectedForges) => new Orgs(config, forges),
  },
  { provide: ShownOrgs, inject: [AppConfig], useFactory: (config: AppConfig) => new ShownOrgs(config) },
  Acts,
  LongCalls,
  RecentDeliveries,
  KnownNames,
  Orders,
  BOUND_OPERATIONS,
];

function runningOf(self: ThisProcess, { console, store }: AppConfig, queue: WorkQueue): Needs['running'] {
  if (self.serves !== 'bot') return null;
  // The Console of a distributed bot is another process, where the config says.
  const elsewhere =
    store.kind !== 'embedded' && console.enabled ? (console.publicUrl ?? `http://${console.listen}`) : null;
  return {
    startedAt: self.startedAt,
    role: self.role,
    queueHealthy: () => queue.healthy(),
    consoleUrl: () => self.consoleUrl ?? elsewhere,
  };
}
