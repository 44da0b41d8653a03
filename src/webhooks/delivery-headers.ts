import { isJsonObject } from '../core/json.js';
import { tableOf } from '../core/table.js';

/** The headers that the bot stores with a delivery. Never Authorization, never a signature. */
export interface DeliveryHeaders {
  /** '' when the server sends none (Gogs): see `eventTypeFor`. */
  readonly eventType: string;
  /** Family name. Forgejo sends it empty for packages. */
  readonly event: string;
  readonly deliveryId: string;
  readonly targetType: string | null;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Header families, the most trusted first; a server sends several with the same values. */
const FAMILIES = ['x-forgejo', 'x-gitea', 'x-gogs'] as const;

const EVENT_NAME = /^[a-z0-9_.-]{1,64}$/i;
const MAX_ID_CHARS = 200;

/**
 * The family of the first header that names the event.
 * @returns null when no family names one, or the name is invalid
 */
export function readDeliveryHeaders(headers: Headers): DeliveryHeaders | null {
  for (const family of FAMILIES) {
    const eventType = one(headers[`${family}-event-type`]);
    const event = one(headers[`${family}-event`]);
    if (eventType === '' && event === '') continue;
    if (!EVENT_NAME.test(eventType || event) || (event !== '' && !EVENT_NAME.test(event))) return null;
    const target = one(headers[`${family}-hook-installation-target-type`]);
    return {
      eventType,
      event,
      deliveryId: one(headers[`${family}-delivery`]).slice(0, MAX_ID_CHARS),
      targetType: EVENT_NAME.test(target) ? target : null,
    };
  }
  return null;
}

/** Precise names of the events that a family name covers, by the body's `action`. Source: webhooks.md 3 and 5. */
const PRECISE: Readonly<Record<string, string>> = tableOf({
  assigned: 'assign',
  unassigned: 'assign',
  label_updated: 'label',
  label_cleared: 'label',
  milestoned: 'milestone',
  demilestoned: 'milestone',
  synchronized: 'sync',
  review_requested: 'review_request',
  review_request_removed: 'review_request',
});

/**
 * The event type to route on: the Event-Type header, or, when the server sends only the family, the type that family
 * and body imply.
 */
export function eventTypeFor(headers: DeliveryHeaders, body: unknown): string {
  if (headers.eventType !== '') return headers.eventType;
  const action = isJsonObject(body) && typeof body.action === 'string' ? body.action : '';
  const precise = PRECISE[action];
  switch (headers.event) {
    case 'issues':
      return precise ? `issue_${precise}` : 'issues';
    case 'pull_request':
      return precise ? `pull_request_${precise}` : 'pull_request';
    case 'issue_comment':
      return isJsonObject(body) && body.is_pull === true ? 'pull_request_comment' : 'issue_comment';
    case 'pull_request_approved':
      return 'pull_request_review_approved';
    case 'pull_request_rejected':
      return 'pull_request_review_rejected';
    case 'pull_request_comment':
      return 'pull_request_review_comment';
    default:
      return headers.event;
  }
}

function one(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}
