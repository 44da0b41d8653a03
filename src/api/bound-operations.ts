import type { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { Acts } from './acts.js';
import { OPERATIONS, type Control } from './operations/index.js';
import { KnownNames } from './operations/known-names.js';
import { NEEDS, type Needs } from './operations/needs.js';
import { openApi } from './operations/openapi.js';
import { bind } from './operations/operation.js';

/** Every operation of the control API, by its name. */
export abstract class BoundOperations {}
type Handlers = Control['operations'];
export interface BoundOperations extends Handlers {}

/** What handlers may ask for is injected in the order of the table. */
export const BOUND_OPERATIONS = {
  provide: BoundOperations,
  inject: [Acts, KnownNames, ThisProcess, WorkQueue, ...Object.values(NEEDS)],
  useFactory: (
    ...[acts, knownNames, self, queue, ...parts]: [Acts, KnownNames, ThisProcess, WorkQueue, ...unknown[]]
  ): BoundOperations => {
    const provided = Object.fromEntries(Object.keys(NEEDS).map((name, n) => [name, parts[n]])) as unknown as Needs;
    const running = runningOf(self, provided.config, queue);
    return bind(OPERATIONS, { ...provided, running, document: () => openApi(OPERATIONS) }, acts, knownNames);
  },
};

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
