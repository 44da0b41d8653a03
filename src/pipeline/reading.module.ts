import { Module } from '@nestjs/common';
import { LookupReader } from '../actions/lookups/lookup-reader.port.js';
import { ForgeModule } from '../forge/forge.module.js';
import { RulesModule } from '../rules/rules.module.js';
import { ActProofs } from './decide/act-proofs.js';
import { BotLookups } from './decide/bot-lookups.js';
import { EventReader } from './decide/event-reader.js';
import { BotAccounts, Forges, ForgesOfConfig, OrgDirectory, OrgsOfConfig } from './execute/forge-access.js';
import { Accounts } from './rule-engine.port.js';

/** What deciding and executing ask of the forges and of the config. */
@Module({
  imports: [ForgeModule, RulesModule],
  providers: [
    { provide: Accounts, useClass: BotAccounts },
    { provide: Forges, useClass: ForgesOfConfig },
    { provide: OrgDirectory, useClass: OrgsOfConfig },
    { provide: LookupReader, useClass: BotLookups },
    EventReader,
    ActProofs,
  ],
  exports: [Accounts, Forges, OrgDirectory, LookupReader, EventReader, ActProofs],
})
export class ReadingModule {}
