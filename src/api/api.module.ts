import { Module } from '@nestjs/common';
import { OperatorStore } from '../core/operator-store.port.js';
import { ForgeModule } from '../forge/forge.module.js';
import { HousekeepingModule } from '../housekeeping/housekeeping.module.js';
import { BotLoad } from '../insight/bot-load.js';
import { InsightModule } from '../insight/insight.module.js';
import { PipelineModule } from '../pipeline/pipeline.module.js';
import { RulesModule } from '../rules/rules.module.js';
import { BoundOperations, OPERATION_PROVIDERS } from './bound-operations.js';
import { CurrentControl } from './current-control.js';
import { HealthController } from './health.controller.js';
import { LongCalls } from './long-calls.js';
import { KnownNames } from './operations/known-names.js';
import { ShownOrgs } from './operations/shown-orgs.js';
import { StoreGauges } from './store-gauges.js';

/** What people and supervisors ask: the control API of the command line, and health. Orders are taken from when every part they need is made. */
@Module({
  imports: [ForgeModule, RulesModule, PipelineModule, HousekeepingModule, InsightModule],
  controllers: [HealthController],
  providers: [...OPERATION_PROVIDERS, StoreGauges],
})
export class ApiModule {
  constructor(
    current: CurrentControl,
    operations: BoundOperations,
    longCalls: LongCalls,
    knownNames: KnownNames,
    shownOrgs: ShownOrgs,
    operators: OperatorStore,
    load: BotLoad,
    gauges: StoreGauges,
  ) {
    current.service = {
      operations,
      longCalls,
      knownNames,
      shownOrgs,
      operatorOf: (tokenHash) => operators.byTokenHash(tokenHash),
      isBusy: () => load.isBusy(),
      readGauges: () => gauges.read(),
    };
  }
}
