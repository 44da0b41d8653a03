import { portToken } from '../core/part.js';
import type { LookupFacts } from './language/catalogue.js';

/** What the rules know about lookups, by name. */
export const LOOKUP_CATALOGUE = portToken<ReadonlyMap<string, LookupFacts>>('LookupCatalogue');
