import { Module } from '@nestjs/common';
import { Messenger } from '../core/message.js';
import { ForgeModule } from '../forge/forge.module.js';
import { ServiceMessenger } from '../notify/service-messenger.js';
import { RevisionStatus } from '../rules/revisions/rule-status.js';
import { RulesModule } from '../rules/rules.module.js';
import { DecidingModule } from './deciding.module.js';
import { IntentToEffect } from './execute.js';
import { Budgets, KnownMembers } from './execute/budget-keeper.js';
import { EffectTools } from './execute/effect-tools.js';
import { Executor, IntentHands } from './execute/executor.js';
import { ForgeHealth } from './execute/forge-access.js';
import { TargetResolver } from './execute/prepare-effect.js';
import { Rehearser } from './execute/rehearse.js';
import { Settler, UnknownOutcomes } from './execute/settle.js';
import { ReadingModule } from './reading.module.js';
import { OutcomeRecovery } from './recover.js';
import { StorePoll } from './store-poll.js';

/** From what is wanted to the call, and to what became of it. */
@Module({
  imports: [ForgeModule, RulesModule, ReadingModule, DecidingModule],
  providers: [
    TargetResolver,
    { provide: Messenger, useClass: ServiceMessenger },
    EffectTools,
    ForgeHealth,
    { provide: UnknownOutcomes, useClass: OutcomeRecovery },
    Settler,
    KnownMembers,
    Budgets,
    RevisionStatus,
    IntentToEffect,
    IntentHands,
    Executor,
    Rehearser,
    StorePoll,
  ],
  exports: [Budgets, Executor, Rehearser, StorePoll],
})
export class ExecutingModule {}
