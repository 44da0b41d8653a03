import { z } from 'zod';
import { type EventFact, Misfit, factKeyOf } from '../event-fact.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type DeliveryReader, type Family, type FeedRow, repositoryShape, userShape } from '../family.js';
import { readContentParts, readNumber } from '../feed-content.js';
import { actorOf, firstTime, idOf, objectOf, textOf, definedFields } from '../read-fields.js';
import { pullRequestFields, pullRequestObject } from './pull-request.js';

const KIND_OF = {
  pull_request_review_approved: 'review.approved',
  pull_request_review_rejected: 'review.rejected',
  pull_request_review_comment: 'review.commented',
} as const satisfies Record<string, EventKind>;

/** Reviews. Deliveries tell no review id, so a review is named by pull request and reviewer. */
export const reviewFamily: Family = {
  deliveries: Object.fromEntries(
    Object.keys(KIND_OF).map((eventType): [string, DeliveryReader] => [
      eventType,
      {
        owns: ['pull_request', 'review', 'requested_reviewer'],
        shape: z.object({
          action: z.literal('reviewed'),
          pull_request: pullRequestObject,
          review: z.object({ type: z.literal(eventType) }),
          repository: repositoryShape,
          sender: userShape,
        }),
        read: readReview,
      },
    ]),
  ),
  rows: {
    approve_pull_request: (feed) => readRow(feed, 'review.approved'),
    reject_pull_request: (feed) => readRow(feed, 'review.rejected'),
    pull_review_dismissed: readDismissedRow,
  },
};

export type ReviewKind = 'review.approved' | 'review.rejected' | 'review.commented';

/** The words of a delivery for a kind of review. */
export function reviewWords(kind: EventKind): JsonObject {
  const type = Object.entries(KIND_OF).find(([, reviewKind]) => reviewKind === kind)?.[0] ?? null;
  return { type, state: stateOf(kind as ReviewKind) };
}

/** See `EventFact.discussionKey`. */
export function discussionKeyOf(repoId: string, number: string, actorId: string): string {
  return `${factKeyOf(repoId, 'review.commented', number, actorId)}|talk`;
}

function readReview(body: JsonObject, repo: EventRepository | null, eventType: string): EventFact | Misfit {
  const pullRequest = objectOf(body.pull_request);
  const told_ = objectOf(body.review);
  const kind = KIND_OF[eventType as keyof typeof KIND_OF];
  const actor = actorOf(body.sender);
  if (!repo || !pullRequest || !told_ || !kind || !actor) return new Misfit('no review event');
  const content = textOf(told_.content);
  return {
    kind,
    factKey: factKeyOf(repo.id, kind, idOf(pullRequest.number), actor.id),
    discussionKey: discussionKeyOf(repo.id, idOf(pullRequest.number), actor.id),
    factAt: firstTime(pullRequest.updated_at),
    actor,
    repo,
    data: definedFields({
      action: body.action,
      ...pullRequestFields(pullRequest),
      review: { ...told_, body: content, state: stateOf(kind), user: objectOf(body.sender) },
    }),
  };
}

function readRow(feed: FeedRow, kind: 'review.approved' | 'review.rejected'): EventFact[] | Misfit {
  const parts = readContentParts(feed.content);
  const number = readNumber(parts);
  if (number === null) return new Misfit('the row of a review holds no number');
  const existing = objectOf(feed.row.comment);
  return [reviewOfRow(feed, kind, number, existing ? textOf(existing.body) : (parts[1] ?? ''))];
}

/** The review that a row tells: by its own word, or by the rows beside it (`review-rows.ts`). */
export function reviewOfRow(feed: FeedRow, kind: ReviewKind, number: number, body: string): EventFact {
  const actorId = feed.common.actor?.id ?? '';
  return {
    kind,
    factKey: factKeyOf(feed.repoId, kind, String(number), actorId),
    discussionKey: discussionKeyOf(feed.repoId, String(number), actorId),
    ...(feed.opType === 'comment_pull'
      ? { commentKey: factKeyOf(feed.repoId, 'comment.created', idOf(feed.row.comment_id)) }
      : {}),
    ...feed.common,
    data: {
      action: 'reviewed',
      number,
      pull_request: { number },
      review: { content: body, body, state: stateOf(kind), user: objectOf(feed.row.act_user) },
    },
  };
}

/** Written by Forgejo alone, with no delivery beside it: number, reviewer, reason. */
function readDismissedRow(feed: FeedRow): EventFact[] | Misfit {
  const parts = readContentParts(feed.content);
  const [reviewer = '', reason = ''] = parts.length > 2 ? parts.slice(1) : (parts[1] ?? '').split('|');
  const number = readNumber(parts);
  if (number === null) return new Misfit('the row of a review holds no number');
  return [
    {
      kind: 'review.dismissed',
      factKey: factKeyOf(feed.repoId, 'review.dismissed', String(number), idOf(feed.row.comment_id)),
      ...feed.common,
      data: {
        action: 'dismissed',
        number,
        pull_request: { number },
        review: { body: reason, reason, state: 'DISMISSED', user: { login: reviewer } },
      },
    },
  ];
}

/** The words that the API's reviews have. */
function stateOf(kind: ReviewKind): string {
  return kind === 'review.approved' ? 'APPROVED' : kind === 'review.rejected' ? 'REQUEST_CHANGES' : 'COMMENT';
}
