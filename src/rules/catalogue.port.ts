import type { LookupFacts } from './language/catalogue.js';

/** What the rules know about lookups, by name. */
export abstract class LookupCatalogue {}
export interface LookupCatalogue extends ReadonlyMap<string, LookupFacts> {}
