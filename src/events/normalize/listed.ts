import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type EventFact, Misfit, factKeyOf } from '../event-fact.js';
import { actorOf, firstTime, idOf, objectOf, textOf, definedFields } from '../read-fields.js';

/**
 * What an issue, a pull request or a release tells by how a list shows it now. A list knows no acts, only the object: each fact here is one that would
 * explain it, and becomes an event only where the state held of the object says that something is different (`EventFact.listed`). Who did it is
 * told for the opening alone.
 *
 * The poller writes around the object: `list` (issues or releases), `repository`, `since` (the first start: what happened before is no event) and,
 * on the first look at what was there already, `baseline`.
 */
export function normalizeListed(row: JsonObject, repoId: string, repo: EventRepository | null): EventFact[] | Misfit {
  const object = objectOf(row.object);
  const since = firstTime(row.since);
  if (!object || !since) return new Misfit('the row tells no object of a repository');
  const seen: Seen = { repoId, repo, object, since, isBaseline: row.baseline === true };
  if (row.list === 'issues') return readIssue(seen);
  return row.list === 'releases' ? readRelease(seen) : new Misfit('nobody knows this list');
}

interface Seen {
  readonly repoId: string;
  /** Null where it moved away from the organization. */
  readonly repo: EventRepository | null;
  readonly object: JsonObject;
  readonly since: Date;
  readonly isBaseline: boolean;
}

type Family = 'issue' | 'pull_request';
type Change = 'labels' | 'assignees' | 'milestone' | 'text' | 'state';

function readIssue(seen: Seen): EventFact[] | Misfit {
  const number = idOf(seen.object.number);
  if (number === '') return new Misfit('the issue has no number');
  const pull = objectOf(seen.object.pull_request);
  const isMerged = pull?.merged === true;
  const of: Family = pull ? 'pull_request' : 'issue';
  const changed = firstTime(seen.object.updated_at);
  const closed = firstTime(pull?.merged_at, seen.object.closed_at);
  const isClosed = seen.object.state === 'closed';
  const fact = issueFacts(seen, of, number);
  return [
    ...fact('opened', firstTime(seen.object.created_at), null, true),
    ...(isClosed
      ? fact(isMerged ? 'merged' : 'closed', closed ?? changed, 'state', true)
      : fact('reopened', changed, 'state', false)),
    ...fact('labeled', changed, 'labels', false),
    ...fact(isEmpty(seen.object.assignees) ? 'unassigned' : 'assigned', changed, 'assignees', false),
    ...fact(objectOf(seen.object.milestone) ? 'milestoned' : 'demilestoned', changed, 'milestone', false),
    ...fact('edited', changed, 'text', false),
  ];
}

type IssueWord =
  | 'opened'
  | 'closed'
  | 'merged'
  | 'reopened'
  | 'labeled'
  | 'assigned'
  | 'unassigned'
  | 'milestoned'
  | 'demilestoned'
  | 'edited';

/** Words that deliveries have for what the kinds are called here. */
const ACTION_OF: Readonly<Partial<Record<IssueWord, string>>> = { labeled: 'label_updated', merged: 'closed' };

function issueFacts({ repoId, repo, object, since, isBaseline }: Seen, of: Family, number: string) {
  const { pull_request: pull, repository: _, ...rest } = object;
  const fields =
    of === 'pull_request'
      ? definedFields({ ...rest, ...pick(pull, ['draft', 'merged', 'merged_at', 'html_url']) })
      : rest;
  return (word: IssueWord, at: Date | null, change: Change | null, isNewsUnheld: boolean): EventFact[] => {
    const kind = `${of}.${word}` as EventKind;
    const isSince = at !== null && at.getTime() >= since.getTime();
    if (change === null && !isSince) return [];
    return [
      {
        kind,
        factKey: factKeyOf(repoId, kind, number),
        factAt: at,
        actor: word === 'opened' ? actorOf(object.user) : null,
        repo,
        data: definedFields({ action: ACTION_OF[word] ?? word, number: object.number, [of]: fields }),
        listed: { change, isNewsUnheld: isNewsUnheld && isSince, isBaseline },
      },
    ];
  };
}

function readRelease({ repoId, repo, object, since, isBaseline }: Seen): EventFact[] | Misfit {
  const [tag, id] = [textOf(object.tag_name), idOf(object.id)];
  if (tag === '' || id === '') return new Misfit('the release has no tag or no id');
  const at = firstTime(object.published_at, object.created_at);
  const common = { actor: null, repo };
  const published: EventFact = {
    kind: 'release.published',
    factKey: factKeyOf(repoId, 'release.published', tag),
    factAt: at,
    ...common,
    data: { action: 'published', tag, release: object },
    listed: { change: null, isNewsUnheld: true, isBaseline },
  };
  const updated: EventFact = {
    kind: 'release.updated',
    factKey: factKeyOf(repoId, 'release.updated', id),
    factAt: null,
    ...common,
    data: { action: 'updated', tag, release: object },
    listed: { change: 'text', isNewsUnheld: false, isBaseline },
  };
  const isPublished = object.draft !== true && at !== null && at.getTime() >= since.getTime();
  return [...(isPublished ? [published] : []), updated];
}

function isEmpty(list: unknown): boolean {
  return !Array.isArray(list) || list.length === 0;
}

function pick(value: unknown, names: readonly string[]): JsonObject {
  const object = objectOf(value as JsonObject) ?? {};
  return Object.fromEntries(
    names.filter((name) => object[name] !== undefined).map((name) => [name, object[name] ?? null]),
  );
}
