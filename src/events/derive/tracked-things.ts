import type { EventKind } from '../../core/event-kinds.js';
import type { Json, JsonObject } from '../../core/json.js';
import { hashOf } from '../../core/ids.js';
import { isJsonObject, stringifyJson } from '../../core/json.js';
import type { EventFact } from '../event-fact.js';
import { firstTime, objectOf, textOf } from '../read-fields.js';

/** One thing of an object that changes without the forge saying how. */
export interface TrackedThing {
  readonly name: string;
  /** Kinds of facts that are about it, and get what is derived. */
  readonly about: ReadonlySet<EventKind>;
  /** The value that the fact's own object shows; undefined when it shows none. */
  read(fact: EventFact): Json | undefined;
  /** The fact's time, as far as this thing goes; its own where absent. */
  at?(fact: EventFact): Date | null;
  /** The value before the object existed, told by the fact that made it; what it was made with is told by facts of their own. */
  readonly atFirst?: { readonly value: Json; readonly toldBy: ReadonlySet<EventKind> };
  /** @param before undefined when no earlier state is held. A derived name that is undefined is not known. */
  derive(before: Json | undefined, after: Json, fact: EventFact): Readonly<Record<string, Json | undefined>>;
}

const OPENED = kinds('issue.opened', 'pull_request.opened');

const labels: TrackedThing = {
  name: 'labels',
  about: kinds('issue.labeled', 'issue.labels_cleared', 'pull_request.labeled', 'pull_request.labels_cleared'),
  read: (fact) => namesIn(subjectOf(fact), 'labels', 'name'),
  atFirst: { value: [], toldBy: OPENED },
  derive: (before, after) => ({
    labels_added: without(after, before),
    labels_removed: before === undefined ? undefined : without(before, after),
  }),
};

const assignees: TrackedThing = {
  name: 'assignees',
  about: kinds('issue.assigned', 'issue.unassigned', 'pull_request.assigned', 'pull_request.unassigned'),
  read: (fact) => namesIn(subjectOf(fact), 'assignees', 'login'),
  atFirst: { value: [], toldBy: OPENED },
  derive: (before, after) => ({
    assignees_added: without(after, before),
    assignees_removed: before === undefined ? undefined : without(before, after),
  }),
};

const milestone: TrackedThing = {
  name: 'milestone',
  about: kinds('issue.milestoned', 'issue.demilestoned', 'pull_request.milestoned', 'pull_request.demilestoned'),
  read: (fact) => {
    const subject = subjectOf(fact);
    if (subject?.milestone === undefined) return undefined;
    return textOf(objectOf(subject.milestone)?.title) || null;
  },
  atFirst: { value: null, toldBy: OPENED },
  derive: (before, after) => ({ milestone_before: before, milestone_after: after }),
};

const draft: TrackedThing = {
  name: 'draft',
  about: kinds('pull_request.edited', 'pull_request.ready_for_review'),
  read: (fact) => {
    const isDraft = objectOf(fact.data.pull_request)?.draft;
    return typeof isDraft === 'boolean' ? isDraft : undefined;
  },
  derive: (before, after, { kind }) => {
    if (kind === 'pull_request.ready_for_review') return { left_draft: true };
    if (after === true) return { left_draft: false };
    return { left_draft: before === undefined ? undefined : before === true };
  },
};

/** Since when a release is public, null for a draft: publishing a draft sets both its times anew. */
const publicSince: TrackedThing = {
  name: 'public_since',
  about: kinds('release.published', 'release.updated'),
  read: (fact) => {
    const release = objectOf(fact.data.release);
    if (!release) return undefined;
    return release.draft === true
      ? null
      : (firstTime(release.published_at, release.created_at)?.toISOString() ?? undefined);
  },
  at: ({ data }) => {
    const release = objectOf(data.release);
    return release && release.draft !== true ? firstTime(release.published_at, release.created_at) : null;
  },
  derive: (before, after, { kind }) => {
    if (kind === 'release.published') return { became_public: true };
    if (after === null) return { became_public: false };
    return { became_public: before === undefined ? undefined : before === null || String(after) > String(before) };
  },
};

const conclusion: TrackedThing = {
  name: 'conclusion',
  about: kinds('task.finished'),
  // One that was cancelled or skipped says nothing about whether it would have passed.
  read: ({ data }) => {
    const word = textOf(objectOf(data.task)?.conclusion);
    return word === 'success' || word === 'failure' ? word : undefined;
  },
  derive: (before, after) => ({
    previous_conclusion: before,
    failed_after_pass: after !== 'failure' ? false : before === undefined ? undefined : before === 'success',
  }),
};

const NOTHING = kinds();

/** Open or closed; each fact shows it, none derives anything of it. */
const state: TrackedThing = {
  name: 'state',
  about: NOTHING,
  read: (fact) => textOf(subjectOf(fact)?.state) || undefined,
  derive: () => ({}),
};

/** Title and text, as a hash: what is held is compared, never shown. */
const text: TrackedThing = {
  name: 'text',
  about: NOTHING,
  read: (fact) => {
    const release = objectOf(fact.data.release);
    const object = release ?? subjectOf(fact);
    const title = release ? release.name : object?.title;
    // The feed tells titles alone.
    if (typeof title !== 'string' || typeof object?.body !== 'string') return undefined;
    return hashOf(stringifyJson([title, object.body, release?.prerelease ?? null])).slice(0, 32);
  },
  derive: () => ({}),
};

/** What is tracked of each kind of object. A further thing is one line here and one in the event types. */
export const TRACKED_THINGS: Readonly<Record<'issue' | 'pull_request' | 'release' | 'job', readonly TrackedThing[]>> = {
  issue: [labels, assignees, milestone, state, text],
  pull_request: [labels, assignees, milestone, draft, state, text],
  release: [publicSince, text],
  job: [conclusion],
};

function kinds(...names: readonly EventKind[]): ReadonlySet<EventKind> {
  return new Set(names);
}

function subjectOf({ data }: EventFact): JsonObject | null {
  return objectOf(data.pull_request) ?? objectOf(data.issue);
}

/** Sorted; a list that is null is empty, one that is absent is not told. */
function namesIn(subject: JsonObject | null, field: string, name: string): Json | undefined {
  const list = subject?.[field];
  if (list === null) return [];
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((item) => (isJsonObject(item) && textOf(item[name]) !== '' ? [textOf(item[name])] : [])).sort();
}

/** Undefined when one side is not known. */
function without(list: Json, others: Json | undefined): Json | undefined {
  if (!Array.isArray(list) || !Array.isArray(others)) return undefined;
  return list.filter((item) => !others.includes(item));
}
