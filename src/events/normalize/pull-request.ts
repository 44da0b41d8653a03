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
import { actorOf, afterTheAct, firstTime, idOf, objectOf, textOf, definedFields } from '../read-fields.js';
import { tableOf } from '../../core/table.js';

/** The pull request itself, as every event about one carries it. */
export const pullRequestObject = z.object({ id: idLike, number: numberLike, title: z.string(), state: z.string() });

const pullRequestShape = z.object({
  action: z.string().min(1),
  pull_request: pullRequestObject,
  repository: repositoryShape,
  sender: userShape,
});

const ACTIONS_OF = {
  pull_request: ['opened', 'closed', 'reopened', 'edited', 'deleted', 'ready_for_review'],
  pull_request_assign: ['assigned', 'unassigned'],
  pull_request_label: ['label_updated', 'label_cleared'],
  pull_request_milestone: ['milestoned', 'demilestoned'],
  pull_request_sync: ['synchronized'],
  pull_request_review_request: ['review_requested', 'review_request_removed'],
} as const;

/** `reviewed` is the reviews' word; their bodies have the same shape plus `review`. */
const SIBLING_ACTIONS = [...Object.values(ACTIONS_OF).flat(), 'reviewed'];

const KIND_OF: Readonly<Record<string, EventKind>> = tableOf({
  opened: 'pull_request.opened',
  closed: 'pull_request.closed',
  reopened: 'pull_request.reopened',
  edited: 'pull_request.edited',
  deleted: 'pull_request.deleted',
  ready_for_review: 'pull_request.ready_for_review',
  synchronized: 'pull_request.synchronized',
  assigned: 'pull_request.assigned',
  unassigned: 'pull_request.unassigned',
  label_updated: 'pull_request.labeled',
  label_cleared: 'pull_request.labels_cleared',
  milestoned: 'pull_request.milestoned',
  demilestoned: 'pull_request.demilestoned',
  review_requested: 'pull_request.review_requested',
  review_request_removed: 'pull_request.review_request_removed',
});

export const pullRequestFamily: Family = {
  deliveries: Object.fromEntries(
    Object.entries(ACTIONS_OF).map(([eventType, actions]): [string, DeliveryReader] => [
      eventType,
      {
        owns: ['pull_request', 'requested_reviewer'],
        shape: pullRequestShape,
        actions,
        siblingActions: SIBLING_ACTIONS,
        read: readPullRequest,
      },
    ]),
  ),
  rows: {
    create_pull_request: (feed) => readRow(feed, 'opened', { state: 'open' }),
    close_pull_request: (feed) => readRow(feed, 'closed', { state: 'closed', merged: false }),
    reopen_pull_request: (feed) => readRow(feed, 'reopened', { state: 'open' }),
    merge_pull_request: (feed) => readRow(feed, 'merged', { state: 'closed', merged: true }),
    auto_merge_pull_request: (feed) => readRow(feed, 'merged', { state: 'closed', merged: true }),
    pull_request_ready_for_review: (feed) => readRow(feed, 'ready_for_review', { draft: false }),
  },
};

/** What every event about a pull request tells beside the object: `branch` is the base, `sha` the head. */
export function pullRequestFields(pullRequest: JsonObject): JsonObject {
  return definedFields({
    number: pullRequest.number,
    pull_request: pullRequest,
    branch: textOf(objectOf(pullRequest.base)?.ref) || undefined,
    sha: textOf(objectOf(pullRequest.head)?.sha) || undefined,
  });
}

function readPullRequest(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  const pullRequest = afterTheAct(objectOf(body.pull_request), body.action);
  const action = textOf(body.action);
  // A merge arrives as `closed`, also an automatic or a manual one.
  const kind = action === 'closed' && pullRequest?.merged === true ? 'pull_request.merged' : KIND_OF[action];
  if (!repo || !pullRequest || !kind) return new Misfit('no pull request event');
  const number = idOf(pullRequest.number);
  const head = textOf(objectOf(pullRequest.head)?.sha);
  return {
    kind,
    factKey:
      kind === 'pull_request.synchronized' ? factKeyOf(repo.id, kind, number, head) : factKeyOf(repo.id, kind, number),
    factAt: factTime(kind, pullRequest),
    actor: actorOf(body.sender),
    repo,
    data: definedFields({
      action: body.action,
      ...pullRequestFields(pullRequest),
      changes: body.changes,
      before: body.before,
      after: body.after,
      requested_reviewer: body.requested_reviewer,
      commit_id: body.commit_id,
    }),
  };
}

function factTime(kind: EventKind, pullRequest: JsonObject): Date | null {
  if (kind === 'pull_request.opened') return firstTime(pullRequest.created_at);
  if (kind === 'pull_request.merged') return firstTime(pullRequest.merged_at, pullRequest.closed_at);
  return firstTime(kind === 'pull_request.closed' ? pullRequest.closed_at : null, pullRequest.updated_at);
}

function readRow(
  feed: FeedRow,
  action: 'opened' | 'closed' | 'reopened' | 'merged' | 'ready_for_review',
  state: JsonObject,
): EventFact[] | Misfit {
  const parts = readContentParts(feed.content);
  const number = readNumber(parts);
  if (number === null) return new Misfit('the row of a pull request holds no number');
  const kind: EventKind = `pull_request.${action}`;
  const pull_request = definedFields({ number, title: parts[1] || undefined, ...state });
  // The word that a delivery of the same fact has.
  const word = action === 'merged' ? 'closed' : action;
  return [
    {
      kind,
      factKey: factKeyOf(feed.repoId, kind, String(number)),
      ...feed.common,
      data: { action: word, number, pull_request },
    },
  ];
}
