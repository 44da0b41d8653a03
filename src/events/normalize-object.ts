import { EVENT_KINDS, type EventKind } from '../core/event-kinds.js';
import type { EventRepository } from '../core/event.js';
import type { Json, JsonObject } from '../core/json.js';
import { tableOf } from '../core/table.js';
import { deriveFacts } from './derive/derive-facts.js';
import { Misfit, type EventFact } from './event-fact.js';
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

/** Kinds of event that an object of this family may be shown as; the act itself leaves no other trace that a rule would need. */
export function kindsOfObject(isPull: boolean): readonly EventKind[] {
  const family = isPull ? 'pull_request.' : 'issue.';
  return EVENT_KINDS.filter(
    (kind) => (kind.startsWith(family) && !kind.endsWith('.deleted')) || kind === 'comment.created',
  );
}

/**
 * The fact that a delivery of this act would tell, made from the object as it is now: the act need not have happened. Whoever opened the object (or wrote
 * the comment, or merged) counts as the person. Pure.
 */
export function factOfObject(kind: EventKind, object: ShownObject, repo: EventRepository): EventFact | Misfit {
  const { issue, pull, comment } = object;
  const [family = '', word = ''] = kind.split('.');
  if (family === 'comment' && !comment) return new Misfit('it has no comment');
  const subject = pull && word === 'merged' ? { ...pull, state: 'closed', merged: true } : (pull ?? issue);
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

function senderOf(word: string, { issue, pull, comment }: ShownObject): Json {
  if (word === 'created') return comment?.user ?? null;
  return (word === 'merged' ? pull?.merged_by : null) ?? issue.user ?? null;
}

function holding(value: Json): JsonObject {
  return { value, at: null, told: true };
}
