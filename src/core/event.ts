import type { EventKind } from './event-kinds.js';
import type { JsonObject } from './json.js';

/** Where the first arrival of an event came from. */
export type EventSource = 'webhook' | EntrySource;

/** What polling reads: rows of the feed, rows of the task lists, and issues and releases as their lists show them. */
export const ENTRY_SOURCES = ['feed', 'tasks', 'lists'] as const;
export type EntrySource = (typeof ENTRY_SOURCES)[number];

/** The repository as the arrival told it. Fields that the source does not have are absent. */
export interface EventRepository {
  /** Numeric id of the forge as decimal string. */
  id: string;
  owner: string;
  name: string;
  full_name: string;
  private?: boolean;
  fork?: boolean;
  mirror?: boolean;
  archived?: boolean;
  default_branch?: string;
  html_url?: string;
  topics?: string[];
  /** Unknown and further fields of the API's Repository, as told. */
  [field: string]: unknown;
}

export interface EventActor {
  /** Decimal string; -1 Ghost, -2 the workflow token. */
  id: string;
  login: string;
}

/**
 * The normalized fact in one or more arrivals.
 * `data` holds the kind's own objects under the API's names (`release`, `issue`, `pull_request`, `comment`, `review`, `task`,
 * `run`, `package`, `commits`, …) plus `ref`, `before`, `after`, `branch`, `tag`, `sha`, `number`, `action`, where they apply.
 * Every `id` and `*_id` in it is a decimal string. Rules see `data`'s fields directly below `event`.
 */
export interface ForgeEvent {
  id: string;
  /** Id of the forge in our config. */
  forge: string;
  /** Organization name as configured. */
  org: string;
  kind: EventKind;
  source: EventSource;
  /** Names the fact without any clock value: repository id | kind | object id or ref and sha. */
  factKey: string;
  /** The fact's own time (feed `created`, else the object's times), never ours; null when the fact tells none. */
  factAt: Date | null;
  actor: EventActor | null;
  repo: EventRepository | null;
  data: JsonObject;
  /** When we stored the event. */
  storedAt: Date;
  /** Of an act of the bot: the rule or policy whose effect it is; null or absent = not known. Not stored with the event: the journal knows it. */
  byRule?: string | null;
}
