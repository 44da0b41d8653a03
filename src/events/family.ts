import type { z } from 'zod';
import type { EventFact, Misfit } from './event-fact.js';
import type { EventRepository } from '../core/event.js';
import type { JsonObject } from '../core/json.js';

/** Top-level keys that say which family a body belongs to. A body that carries one its event type does not own is another event's body. */
export const TELLING_KEYS = [
  'issue',
  'pull_request',
  'comment',
  'release',
  'package',
  'page',
  'forkee',
  'workflow_run',
  'workflow_job',
  'run',
  'review',
  'commits',
  'ref_type',
  'context',
  'is_pull',
  'requested_reviewer',
] as const;
type TellingKey = (typeof TELLING_KEYS)[number];

/** How deliveries of one event type are read. */
export interface DeliveryReader {
  readonly owns: readonly TellingKey[];
  /** Essential fields; extra and missing optional ones are fine. */
  readonly shape: z.ZodType;
  /**
   * Words of `action` that this event type sends. A word that a sibling type (same body shape) sends means another event's body;
   * a word nobody is known to send makes an `unrecognized` event.
   */
  readonly actions?: readonly string[];
  readonly siblingActions?: readonly string[];
  /**
   * After the checks; `body` as `readBody` gives it.
   * @param repo the repository that the body is bound to (bind-tenant.ts): nothing else of the body says what the event is about
   */
  read(body: JsonObject, repo: EventRepository | null, eventType: string): EventFact | Misfit;
}

/** What every feed row tells, read once. */
export interface FeedRow {
  readonly row: JsonObject;
  readonly opType: string;
  readonly repoId: string;
  readonly refName: string;
  readonly content: string;
  readonly common: Pick<EventFact, 'factAt' | 'actor' | 'repo'>;
}

/** How feed rows of one `op_type` are read. A row may tell several events (a pushed tag: the push and the tag's creation). */
export type RowReader = (row: FeedRow) => EventFact[] | Misfit;

/** One family of events: everything that tells it, whatever the source. */
export interface Family {
  readonly deliveries?: Readonly<Record<string, DeliveryReader>>;
  readonly rows?: Readonly<Record<string, RowReader>>;
}
