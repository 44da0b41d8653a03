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

const issueShape = z.object({
  action: z.string().min(1),
  issue: z.object({ id: idLike, number: numberLike, title: z.string() }),
  repository: repositoryShape,
  sender: userShape,
});

/** One event type each, all with the same body: which one a body belongs to is told by its action alone. */
const ACTIONS_OF = {
  issues: ['opened', 'closed', 'reopened', 'edited', 'deleted'],
  issue_assign: ['assigned', 'unassigned'],
  issue_label: ['label_updated', 'label_cleared'],
  issue_milestone: ['milestoned', 'demilestoned'],
} as const;

const KIND_OF: Readonly<Record<string, EventKind>> = tableOf({
  opened: 'issue.opened',
  closed: 'issue.closed',
  reopened: 'issue.reopened',
  edited: 'issue.edited',
  deleted: 'issue.deleted',
  assigned: 'issue.assigned',
  unassigned: 'issue.unassigned',
  label_updated: 'issue.labeled',
  label_cleared: 'issue.labels_cleared',
  milestoned: 'issue.milestoned',
  demilestoned: 'issue.demilestoned',
});

export const issueFamily: Family = {
  deliveries: Object.fromEntries(
    Object.entries(ACTIONS_OF).map(([eventType, actions]): [string, DeliveryReader] => [
      eventType,
      {
        owns: ['issue'],
        shape: issueShape,
        actions,
        siblingActions: Object.values(ACTIONS_OF).flat(),
        read: readIssue,
      },
    ]),
  ),
  rows: {
    create_issue: (feed) => readRow(feed, 'opened', 'open'),
    close_issue: (feed) => readRow(feed, 'closed', 'closed'),
    reopen_issue: (feed) => readRow(feed, 'reopened', 'open'),
  },
};

function readIssue(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  const issue = afterTheAct(objectOf(body.issue), body.action);
  const kind = KIND_OF[textOf(body.action)];
  if (!repo || !issue || !kind) return new Misfit('no issue event');
  return {
    kind,
    factKey: factKeyOf(repo.id, kind, idOf(issue.number)),
    factAt:
      kind === 'issue.opened'
        ? firstTime(issue.created_at)
        : firstTime(kind === 'issue.closed' ? issue.closed_at : null, issue.updated_at),
    actor: actorOf(body.sender),
    repo,
    data: definedFields({
      action: body.action,
      number: issue.number,
      issue,
      changes: body.changes,
      commit_id: body.commit_id,
    }),
  };
}

/** Rows of closing and reopening tell no title. */
function readRow(feed: FeedRow, action: 'opened' | 'closed' | 'reopened', state: string): EventFact[] | Misfit {
  const parts = readContentParts(feed.content);
  const number = readNumber(parts);
  if (number === null) return new Misfit('the row of an issue holds no number');
  const kind = `issue.${action}` as const;
  const issue = definedFields({ number, state, title: parts[1] || undefined });
  return [
    { kind, factKey: factKeyOf(feed.repoId, kind, String(number)), ...feed.common, data: { action, number, issue } },
  ];
}
