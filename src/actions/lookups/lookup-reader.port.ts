import type { EventRepository } from '../../core/event.js';
import type { Json } from '../../core/json.js';
import type { OwnershipRefusal } from '../../core/repository-owner.js';
import type { LookupRequest } from '../../rules/language/revision.js';

/** Where a lookup reads. */
export interface LookupScope {
  readonly forge: string;
  readonly org: string;
  readonly repo: EventRepository | null;
  /** Decisions of one pass make identical reads once; absent = each makes its own. */
  readonly pass?: string;
}

/**
 * `notOffered`: it failed because the forge has no such route. `moved`: the forge redirected the call; the repository has another name now.
 * `code`: why the repository may not be read. `cachedAt`: an answer of then (ISO time), given again.
 */
export type LookupAnswer = (
  | { value: Json }
  | { missing: true }
  | { failed: string; notOffered?: true; moved?: true; code?: OwnershipRefusal }
) & {
  cachedAt?: string;
};

/** Makes the reads that decisions ask for. */
export abstract class LookupReader {
  /** @throws ForgeError when the forge cannot be asked now; such a decision is made later */
  abstract read(request: LookupRequest, scope: LookupScope): Promise<LookupAnswer>;
}
