import type { EventKind } from './event-kinds.js';
import { EVENT_TYPES } from './event-types.js';
import type { EventSource } from './event.js';
import { ruleType } from './objects/rule-types.js';
import * as tracker from './objects/tracker.js';
import { ownValue, tableOf } from './table.js';

type Told = Readonly<Record<string, readonly string[]>>;

const ISSUE_ROW: Told = { issue: ['number', 'state'] };
const PULL_ROW: Told = { pull_request: ['number', 'state'] };
/** Rows of closing and reopening tell no title. */
const withTitle = (row: Told): Told =>
  tableOf(Object.fromEntries(Object.entries(row).map(([object, fields]) => [object, [...fields, 'title']])));
const REVIEW_ROW: Told = { pull_request: ['number'], review: ['body', 'state', 'user'] };

/** Of the objects of an event, the fields that a row of the feed always tells. A delivery tells each object whole. */
const FEED_TELLS: Readonly<Record<string, Told>> = tableOf<Told>({
  'issue.opened': withTitle(ISSUE_ROW),
  'issue.closed': ISSUE_ROW,
  'issue.reopened': ISSUE_ROW,
  'comment.created': { issue: ['number'], pull_request: ['number'], comment: ['id', 'body', 'user'] },
  'pull_request.opened': withTitle(PULL_ROW),
  'pull_request.closed': PULL_ROW,
  'pull_request.reopened': PULL_ROW,
  'pull_request.merged': { pull_request: ['number', 'state', 'merged', 'title'] },
  'pull_request.ready_for_review': { pull_request: ['number', 'draft'] },
  'review.approved': REVIEW_ROW,
  'review.rejected': REVIEW_ROW,
  'review.commented': REVIEW_ROW,
  'review.dismissed': REVIEW_ROW,
  'release.published': { release: ['tag_name', 'name', 'draft'] },
} satisfies Partial<Record<EventKind, Told>>);

/** The list of issues shows pull requests as issues, with these fields of their own. */
const SHOWN_OF_PULLS = new Set([
  ...Object.keys(ruleType(tracker.issue).fields),
  'draft',
  'merged',
  'merged_at',
  'html_url',
]);

/** Whether the list of issues shows this field of a pull request. */
export function isShownOfPulls(field: string): boolean {
  return SHOWN_OF_PULLS.has(field);
}

/** Kinds whose deliveries always tell a field that other sources leave out. */
const DELIVERED: Readonly<Record<string, RegExp>> = tableOf({
  labels: /^(?:issue|comment|pull_request|review)\./,
  author: /^(?:issue|comment|pull_request|review)\./,
  branch: /^(?:pull_request|review)\./,
  sha: /^(?:pull_request|review|workflow|task)\.|^(?:branch|tag)\.created$|^status\.set$/,
  before: /^push$/,
  after: /^push$/,
  created: /^push$/,
  deleted: /^push$/,
  compare_url: /^push$/,
  pusher: /^push$/,
  commits: /^push$/,
  total_commits: /^push$/,
  head_commit: /^push$/,
});

/** Whether a delivery of the kind always tells a field of the event. */
export function isDelivered(kind: EventKind, field: string): boolean {
  return ownValue(DELIVERED, field)?.test(kind) ?? false;
}

/** The sources of a kind that leave a field of one of its objects out: `issue`, `labels`. */
export function sourcesWithout(kind: EventKind, object: string, field: string): EventSource[] {
  const type = EVENT_TYPES.get(kind);
  if (!type) return [];
  const lacking: EventSource[] = [];
  const tells = ownValue(FEED_TELLS, kind)?.[object];
  if (type.feed.length > 0 && tells && !tells.includes(field)) lacking.push('feed');
  const isListed = type.lists.length > 0;
  if (isListed && object === 'pull_request' && !SHOWN_OF_PULLS.has(field)) lacking.push('lists');
  // A list shows that something changed, and not by whom.
  if (object === 'actor' && isListed && !kind.endsWith('.opened')) lacking.push('lists');
  if (object === 'actor' && type.tasks.length > 0) lacking.push('tasks');
  return lacking;
}
