import { Global, Module } from '@nestjs/common';
import { LOOKUP_CATALOGUE } from '../rules/catalogue.port.js';
import { lookupCatalogue } from './lookups/index.js';

/** What the rules know about actions and lookups. */
@Global()
@Module({ providers: [{ provide: LOOKUP_CATALOGUE, useFactory: lookupCatalogue }], exports: [LOOKUP_CATALOGUE] })
export class ActionsModule {}
