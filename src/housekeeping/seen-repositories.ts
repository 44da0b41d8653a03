import type { EventRepository } from '../core/event.js';

export const SEEN_REPOSITORIES = Symbol('SeenRepositories');

/**
 * Repositories of an organization as the stored events told them, the newest telling of each id, without those that an event says were
 * deleted or transferred away. The inventory of last resort, where the forge has no call that lists an organization's repositories.
 */
export interface SeenRepositories {
  list(forge: string, org: string): Promise<EventRepository[]>;
}
