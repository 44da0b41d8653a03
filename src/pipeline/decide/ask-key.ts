import { canonicalJson } from '../../core/canonical-json.js';
import { hashOf } from '../../core/ids.js';
import type { LookupRequest } from '../../rules/language/revision.js';

/** What a lookup asks, whatever a rule calls it: equal keys about one repository are one question. Kept with each recorded answer. */
export function askKey({ use, params, each }: Pick<LookupRequest, 'use' | 'params' | 'each'>): string {
  return hashOf(use, canonicalJson(each ?? params)).slice(0, 32);
}
