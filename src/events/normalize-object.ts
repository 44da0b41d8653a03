import { EVENT_KINDS, type EventKind } from '../core/event-kinds.js';
import type { EventRepository } from '../core/event.js';
import type { Json, JsonObject } from '../core/json.js';
import { tableOf } from '../core/table.js';
import { deriveFacts } from './derive/derive-facts.js';
import { Misfit, type EventFact } from './event-fact.js';
import { textOf } from './read-fields.js';
import { DELIVERY_READERS } from './normalize/index.js';

/** An issue or pull request as the forge shows it now. */
export interface ShownObject {
  readonly issue: JsonObject;
  /** Null = it is an issue. */
  readonly pull: JsonObject | null;
  /** Its newest comment; null = it has none, or nobody asked. */
  readonly comment: JsonObject | null;
}

/** Words that deliveries have for what the kinds are called here. */
const ACTION_OF: Readonly<Record<string, string>> = tableOf({
  labeled: 'label_updated',
  labels_cleared: 'label_cleared',
  merged: 'closed',
});

/** What the object lacked before an act that gives it something: all that it has counts as just given. */
const BEFORE: Readonly<Record<string, JsonObject>> = tableOf<JsonObject>({
  labeled: { labels: holding([]) },
  assigned: { assignees: holding([]) },
  milestoned: { milestone: holding(null) },
});

/** Kinds of event after which the object is open, or closed, whatever it is by now. */
const OPEN_AFTER: ReadonlySet<string> = new Set(['opened', 'reopened', 'synchronized', 'ready_for_review']);
const CLOSED_AFTER: ReadonlySet<string> = new Set(['closed', 'merged']);

/** Kinds of event that an object of this family may be shown as; the act itself leaves no other trace that a rule would need. */
export function kindsOfObject(isPull: boolean): readonly EventKind[] {
  const family = isPull ? 'pull_request.' : 'issue.';
  return EVENT_KINDS.filter(
    (kind) => (kind.startsWith(family) && !kind.endsWith('.deleted')) || kind === 'comment.created',
  );
}

/**
 * The fact that a delivery of this act would tell, made from the object as it is now: the act need not have happened. Whoever opened the object (or wrote
 * the comment, or merged) counts as the person. The closing of a merged pull request is its merge. Pure.
 */
export function factOfObject(as: EventKind, object: ShownObject, repo: EventRepository): EventFact | Misfit {
  const { issue, pull, comment } = object;
  const kind = as === 'pull_request.closed' && pull?.merged === true ? 'pull_request.merged' : as;
  const [family = '', word = ''] = kind.split('.');
  if (family === 'comment' && !comment) return new Misfit('it has no comment within a year of its last change');
  const subject = rightAfter(word, pull ?? issue, pull !== null);
  if (word === 'milestoned' && !subject.milestone) return new Misfit('it has no milestone');
  const body: JsonObject = {
    action: ACTION_OF[word] ?? word,
    ...(family === 'comment'
      ? { issue, comment, is_pull: pull !== null, ...(pull ? { pull_request: pull } : {}) }
      : { [family]: subject }),
    sender: senderOf(word, object),
  };
  const reader = DELIVERY_READERS.get(
    family === 'comment' ? 'issue_comment' : family === 'issue' ? 'issues' : 'pull_request',
  );
  const fact = reader?.read(body, repo, '') ?? new Misfit('no event is made from it');
  if (fact instanceof Misfit) return fact;
  const eventFact: EventFact = { ...fact, kind };
  const { facts } = deriveFacts(eventFact, BEFORE[word] ?? null);
  return facts === null ? eventFact : { ...eventFact, data: { ...eventFact.data, derived: facts } };
}

/** The object right after the act, as far as the act itself says. */
function rightAfter(word: string, object: JsonObject, isPull: boolean): JsonObject {
  const { updated_at: changedAt = null } = object;
  if (OPEN_AFTER.has(word)) {
    const open = { ...object, state: 'open', closed_at: null };
    if (!isPull) return open;
    const unmerged = { ...open, merged: false, merged_at: null, merged_by: null };
    return word === 'ready_for_review'
      ? { ...unmerged, draft: false, title: textOf(object.title).replace(WORK_IN_PROGRESS, '') }
      : unmerged;
  }
  if (CLOSED_AFTER.has(word)) {
    const closed = { ...object, state: 'closed', closed_at: object.closed_at ?? changedAt };
    return word === 'merged' ? { ...closed, merged: true, merged_at: object.merged_at ?? changedAt } : closed;
  }
  return word === 'demilestoned' ? { ...object, milestone: null } : object;
}

/** Titles of drafts begin so. */
const WORK_IN_PROGRESS = /^(?:wip:|\[wip\])\s*/i;

function senderOf(word: string, { issue, pull, comment }: ShownObject): Json {
  if (word === 'created') return comment?.user ?? null;
  return (word === 'merged' ? pull?.merged_by : null) ?? issue.user ?? null;
}

function holding(value: Json): JsonObject {
  return { value, at: null, told: true };
}
