import type { EventRepository } from '../core/event.js';

/** A repository that a row of an organization's feed named. */
export interface FeedRepository {
  readonly id: string;
  readonly name: string;
}

/** What a reading of the feed tells about repositories: those of the organization, and numbers of those that went to another owner. */
export interface FeedRepositories {
  readonly own: readonly FeedRepository[];
  readonly movedAway: readonly string[];
}

/** Repositories of an organization as arrivals told of them. It serves forges that neither list repositories nor find them by number. */
export abstract class SeenRepositories {
  /**
   * As the stored events told them, the newest telling of each number, without those that an event says were deleted or transferred away. A
   * delivery can name any number: a caller asks `named`, or the forge, whose they are.
   */
  abstract list(forge: string, org: string): Promise<EventRepository[]>;
  /** Those that rows of the organization's feed named. */
  abstract named(forge: string, org: string): Promise<FeedRepository[]>;
  abstract keepNamed(forge: string, org: string, feed: FeedRepositories): Promise<void>;
}
