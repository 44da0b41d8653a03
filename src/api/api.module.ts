import { Module } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Encryptor } from '../core/encryptor.js';
import { OperatorStore } from '../core/operator-store.port.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeModule } from '../forge/forge.module.js';
import { ErasureStore } from '../housekeeping/erase/erasure-store.port.js';
import { PersonErasure } from '../housekeeping/erase/person-erasure.js';
import { HousekeepingModule } from '../housekeeping/housekeeping.module.js';
import { BotLoad } from '../insight/bot-load.js';
import { InsightModule } from '../insight/insight.module.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { RulesModule } from '../rules/rules.module.js';
import { Acts } from './acts.js';
import { BOUND_OPERATIONS, BoundOperations } from './bound-operations.js';
import { CurrentControl } from './current-control.js';
import { HealthController } from './health.controller.js';
import { IdStore } from './id-store.port.js';
import { KnownNames } from './operations/known-names.js';
import { Orders } from './operations/orders.js';
import { RecentDeliveries } from './operations/recent-deliveries.js';
import { Ids, Orgs } from './operations/shared.js';
import { StoreGauges } from './store-gauges.js';

const PROVIDERS = [
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
  Acts,
  RecentDeliveries,
  KnownNames,
  Orders,
  StoreGauges,
  BOUND_OPERATIONS,
];

/** What people and supervisors ask: the control API of the command line, and health. Orders are taken from when every part they need is made. */
@Module({
  imports: [ForgeModule, RulesModule, PipelineModule, HousekeepingModule, InsightModule],
  controllers: [HealthController],
  providers: PROVIDERS,
})
export class ApiModule {
  constructor(
    current: CurrentControl,
    operations: BoundOperations,
    knownNames: KnownNames,
    operators: OperatorStore,
    load: BotLoad,
    gauges: StoreGauges,
  ) {
    current.service = {
      operations,
      knownNames,
      operatorOf: (tokenHash) => operators.byTokenHash(tokenHash),
      isBusy: () => load.isBusy(),
      readGauges: () => gauges.read(),
    };
  }
}
