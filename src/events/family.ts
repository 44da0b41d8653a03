import { z } from 'zod';
import type { EventRepository } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import type { EventFact, Misfit } from './event-fact.js';

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
   * a word nobody is known to send is of an unknown kind.
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

/**
 * The essential fields of what arrivals carry. Everything else may be missing, extra or newer than we know; but without these a body
 * is not what its event type says. Ids are numbers as delivered and decimal strings after `readBody`.
 */
export const idLike = z.union([z.int(), z.bigint(), z.string().regex(/^-?\d{1,40}$/)]);

export const userShape = z.object({ id: idLike, login: z.string().min(1) });

export const ownerShape = z.object({ login: z.string().optional(), username: z.string().optional() });

export const repositoryShape = z.object({
  id: idLike,
  name: z.string().min(1),
  full_name: z.string().regex(/^[^/]+\/[^/]+$/),
  owner: ownerShape,
});

/** SHA-1 or SHA-256 object name. */
export const shaText = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

export const numberLike = z.union([z.int().nonnegative(), z.bigint()]);
