import type { LookupFacts } from '../../rules/language/catalogue.js';
import type { AnyLookup } from './define-lookup.js';
import { organizationLookups } from './organization-lookups.js';
import { repositoryLookups } from './repository-lookups.js';
import { trackerLookups } from './tracker-lookups.js';

/** Every lookup by its name. */
export const lookups: ReadonlyMap<string, AnyLookup> = new Map(
  [...organizationLookups, ...repositoryLookups, ...trackerLookups].map((lookup) => [
    lookup.name,
    lookup as unknown as AnyLookup,
  ]),
);

/** What the compiler of rules must know about the lookups. */
export function lookupCatalogue(): Map<string, LookupFacts> {
  return new Map(
    [...lookups.values()].map(({ name, summary, params, operations, whereOffered, target, answer }) => [
      name,
      { name, summary, params: { ...params }, operations, instead: whereOffered, target, answer },
    ]),
  );
}
