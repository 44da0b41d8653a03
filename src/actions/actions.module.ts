import { Global, Module } from '@nestjs/common';
import { LookupCatalogue } from '../rules/catalogue.port.js';
import { lookupCatalogue } from './lookups/index.js';

/** What the rules know about actions and lookups. */
@Global()
@Module({ providers: [{ provide: LookupCatalogue, useFactory: lookupCatalogue }], exports: [LookupCatalogue] })
export class ActionsModule {}
