import { z } from 'zod';
import { type EventFact, Misfit, factKeyOf } from '../event-fact.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import {
  type DeliveryReader,
  type Family,
  type FeedRow,
  idLike,
  numberLike,
  repositoryShape,
  userShape,
} from '../family.js';
import { readContentParts, readNumber } from '../feed-content.js';
import { actorOf, firstTime, idOf, objectOf, textOf, definedFields } from '../read-fields.js';
import { REVIEW_MARK } from '../review-rows.js';
import type { ReviewKind } from './review.js';
import { reviewOfRow, discussionKeyOf } from './review.js';
import { tableOf } from '../../core/table.js';

const commentShape = z.object({
  action: z.string().min(1),
  issue: z.object({ id: idLike, number: numberLike, title: z.string() }),
  comment: z.object({ id: idLike, body: z.string() }),
  repository: repositoryShape,
  sender: userShape,
});

const onIssue = commentShape.extend({ is_pull: z.literal(false).nullish(), pull_request: z.null().optional() });
const onPullRequest = commentShape.extend({ is_pull: z.literal(true) });

const ACTIONS = ['created', 'edited', 'deleted'] as const;
const KIND_OF: Readonly<Record<string, EventKind>> = tableOf({
  created: 'comment.created',
  edited: 'comment.edited',
  deleted: 'comment.deleted',
});

/** Comments of a conversation, on issues and pull requests. */
export const commentFamily: Family = {
  deliveries: {
    issue_comment: reader(onIssue),
    pull_request_comment: reader(onPullRequest),
  },
  rows: { comment_issue: (feed) => readRow(feed, false), comment_pull: (feed) => readRow(feed, true) },
};

function reader(shape: z.ZodType): DeliveryReader {
  return { owns: ['issue', 'pull_request', 'comment', 'is_pull'], shape, actions: ACTIONS, read: readComment };
}

function readComment(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  const issue = objectOf(body.issue);
  const comment = objectOf(body.comment);
  const kind = KIND_OF[textOf(body.action)];
  if (!repo || !issue || !comment || !kind) return new Misfit('no comment event');
  const actor = actorOf(body.sender);
  return {
    kind,
    factKey: factKeyOf(repo.id, kind, idOf(comment.id)),
    ...(kind === 'comment.created' && body.is_pull === true
      ? { discussionKey: discussionKeyOf(repo.id, idOf(issue.number), actor?.id ?? '') }
      : {}),
    factAt:
      kind === 'comment.created'
        ? firstTime(comment.created_at)
        : kind === 'comment.edited'
          ? firstTime(comment.updated_at)
          : null,
    actor,
    repo,
    data: definedFields({
      action: body.action,
      number: issue.number,
      issue,
      comment,
      is_pull: body.is_pull === true,
      pull_request: objectOf(body.pull_request) ?? undefined,
      changes: body.changes,
    }),
  };
}

/**
 * A row of a comment. The content's text is cut, so the comment's own body counts while the comment exists. Lines and summary of a
 * review are such rows too: where the poller saw them together, it says so. What is known to be a comment needs no discussion to be found in.
 */
function readRow(feed: FeedRow, isPull: boolean): EventFact[] | Misfit {
  const parts = readContentParts(feed.content);
  const number = readNumber(parts);
  const commentId = idOf(feed.row.comment_id);
  if (number === null || commentId === '' || commentId === '0')
    return new Misfit('the row of a comment holds no number or comment id');
  const review = isPull ? objectOf(feed.row[REVIEW_MARK]) : null;
  if (review) return [reviewOfRow(feed, textOf(review.kind) as ReviewKind, number, textOf(review.body))];
  const existing = objectOf(feed.row.comment);
  const body = existing ? textOf(existing.body) : (parts[1] ?? '');
  // `comment.user` is null in rows: the actor is the author.
  const comment: JsonObject = { ...existing, id: commentId, body, user: objectOf(feed.row.act_user) };
  return [
    {
      kind: 'comment.created',
      factKey: factKeyOf(feed.repoId, 'comment.created', commentId),
      ...(isPull && feed.row[REVIEW_MARK] !== false
        ? {
            discussionKey: discussionKeyOf(feed.repoId, String(number), feed.common.actor?.id ?? ''),
            mayBeReview: true as const,
          }
        : {}),
      ...feed.common,
      data: definedFields({
        action: 'created',
        number,
        issue: { number },
        comment,
        is_pull: isPull,
        pull_request: isPull ? { number } : undefined,
      }),
    },
  ];
}
