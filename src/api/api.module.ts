import { Inject, Module } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Clock } from '../core/clock.js';
import { Encryptor } from '../core/encryptor.js';
import { Logger } from '../core/logger.js';
import { OperatorStore } from '../core/operator-store.port.js';
import { part, portToken } from '../core/part.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeModule } from '../forge/forge.module.js';
import { HousekeepingModule } from '../housekeeping/housekeeping.module.js';
import { BotLoad } from '../insight/bot-load.js';
import { InsightModule } from '../insight/insight.module.js';
import { Metrics } from '../observability/metrics.js';
import { GapStore } from '../pipeline/gap-store.port.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { JournalStore } from '../pipeline/journal-store.port.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { StorePoll } from '../pipeline/store-poll.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { CursorStore } from '../polling/cursor-store.port.js';
import { RulesModule } from '../rules/rules.module.js';
import { ActStore } from './act-store.port.js';
import { Acts } from './acts.js';
import { CurrentControl } from './control.module.js';
import { HealthController } from './health.controller.js';
import { OPERATIONS, type Control } from './operations/index.js';
import { DOCUMENT, NEEDS, RUNNING, type Needs } from './operations/needs.js';
import { openApi } from './operations/openapi.js';
import { bind } from './operations/operation.js';
import { KnownNames } from './operations/known-names.js';
import { SeenRepositories } from '../forge/seen-repositories.port.js';
import { RecentDeliveries } from './operations/recent-deliveries.js';
import { Ids, Orders, Orgs } from './operations/shared.js';
import { PersonErasure } from '../housekeeping/erase/person-erasure.js';
import { ErasureStore } from '../housekeeping/erase/erasure-store.port.js';
import { IdStore } from './id-store.port.js';
import { StoreGauges } from './store-gauges.js';

const CONTROL = portToken<Control>('Control');
/** What handlers may ask for, all together. */
const HANDED = portToken<Needs>('Needs');

const PARTS = [
  part(
    PersonErasure,
    { store: ErasureStore, encryptor: Encryptor },
    ({ store, encryptor }) => new PersonErasure(store, encryptor),
  ),
  part(Ids, { store: IdStore }, ({ store }) => new Ids(store)),
  part(
    Acts,
    { store: ActStore, ids: Ids, orgs: Orgs, logger: Logger },
    ({ store, ids, orgs, logger }) => new Acts(store, ids, orgs, logger),
  ),
  part(RecentDeliveries, { gaps: GapStore, clock: Clock }, ({ gaps, clock }) => new RecentDeliveries(gaps, clock)),
  part(KnownNames, { orgs: Orgs, seen: SeenRepositories, clock: Clock }, (deps) => new KnownNames(deps)),
  part(Orgs, { config: AppConfig, forges: ConnectedForges }, ({ config, forges }) => new Orgs(config, forges)),
  part(
    StoreGauges,
    {
      inbox: InboxStore,
      journal: JournalStore,
      cursors: CursorStore,
      orgs: Orgs,
      metrics: Metrics,
      clock: Clock,
    },
    (deps) => new StoreGauges(deps),
  ),
  part(
    Orders,
    { process: ThisProcess, forges: ConnectedForges, poll: StorePoll, logger: Logger },
    ({ process: { role, serves }, forges, poll, logger }) =>
      new Orders({
        logger,
        connect: async () => (serves === 'bot' ? undefined : forges.start()),
        nudge: () => (serves === 'bot' && (role === 'worker' || role === 'all') ? void poll.pass() : undefined),
      }),
  ),
  part(
    RUNNING,
    { process: ThisProcess, config: AppConfig, queue: WorkQueue },
    ({ process: self, config: { console, store }, queue }) => {
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
    },
  ),
  part(HANDED, NEEDS, (needs) => needs as Needs),
  { provide: DOCUMENT, useValue: () => openApi(OPERATIONS) },
  part(
    CONTROL,
    {
      needs: HANDED,
      acts: Acts,
      known: KnownNames,
      operators: OperatorStore,
      gauges: StoreGauges,
      load: BotLoad,
    },
    ({ needs, acts, known, operators, gauges, load }): Control => ({
      operations: bind(OPERATIONS, needs, acts, known),
      known,
      operatorOf: (tokenHash) => operators.byTokenHash(tokenHash),
      isBusy: () => load.isBusy(),
      readGauges: () => gauges.read(),
    }),
  ),
];

/** What people and supervisors ask: the control API of the command line, and health. Orders are taken from when every part they need is made. */
@Module({
  imports: [ForgeModule, RulesModule, PipelineModule, HousekeepingModule, InsightModule],
  controllers: [HealthController],
  providers: PARTS,
})
export class ApiModule {
  constructor(@Inject(CONTROL) service: Control, current: CurrentControl) {
    current.service = service;
  }
}
