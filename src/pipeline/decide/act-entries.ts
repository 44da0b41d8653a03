import { isClaimed } from '../../core/event-knowledge.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { ForgeEvent } from '../../core/event.js';
import { isJsonObject } from '../../core/json.js';
import type { ListItem } from '../../forge/operations.js';
import { isAfter, isNear, isSame, objectAt, textAt, timeOf, type ActContext } from './act-context.js';

export type TimelineEntry = ListItem<'listTimeline'>;
type Fits = (entry: TimelineEntry) => boolean;

const type =
  (...types: readonly string[]): Fits =>
  (entry) =>
    types.includes(entry.type ?? '');
/** Entries of assignees and of review requests say so when they took somebody away. */
const adding =
  (name: string): Fits =>
  (entry) =>
    entry.type === name && entry['removed_assignee'] !== true;
const removing =
  (name: string): Fits =>
  (entry) =>
    entry.type === name && entry['removed_assignee'] === true;

const TRACKER_ENTRIES = {
  closed: type('close'),
  reopened: type('reopen'),
  assigned: adding('assignees'),
  unassigned: removing('assignees'),
  labeled: type('label'),
  labels_cleared: (entry) => entry.type === 'label' && !isLabelPutOn(entry),
  milestoned: (entry) => entry.type === 'milestone' && !!entry.milestone,
  demilestoned: (entry) => entry.type === 'milestone' && !entry.milestone,
} as const satisfies Record<string, Fits>;

/** What is no object of its own stands in the history of the issue, with who did it. */
export const ENTRIES: Readonly<Partial<Record<EventKind, Fits>>> = {
  ...Object.fromEntries(
    Object.entries(TRACKER_ENTRIES).flatMap(([word, fits]) => [
      [`issue.${word}`, fits],
      [`pull_request.${word}`, fits],
    ]),
  ),
  'issue.edited': type('change_title'),
  'pull_request.edited': type('change_title', 'change_target_branch'),
  'pull_request.ready_for_review': type('change_title'),
  'pull_request.synchronized': type('pull_push'),
  'pull_request.review_requested': adding('review_request'),
  'pull_request.review_request_removed': removing('review_request'),
};

/** Whether acts of this kind stand in the history of an issue. */
export function hasEntries(kind: EventKind): boolean {
  return ENTRIES[kind] !== undefined;
}

/** Of a label, an entry says whether it was put on or taken off. */
export function isLabelPutOn(entry: TimelineEntry): boolean {
  return entry.body === '1';
}

/** One call puts on several labels, and takes some off; its entries are written at once. */
const SAME_CALL_MS = 2_000;

/**
 * The entries of the history that show the act of this event, by whom the event names, oldest first: those that have what the event says of it, else those of
 * the call nearest to its time.
 * @returns undefined where the forge has no such read
 */
export async function entriesOf(context: ActContext): Promise<readonly TimelineEntry[] | undefined> {
  const { event, actor } = context;
  const all = await context.timeline();
  if (all === undefined) return undefined;
  const opening = event.kind === 'pull_request.synchronized' ? openingOf(all ?? [], await context.issue()) : null;
  const theirs = near(all ?? [], event).filter((entry) => entry !== opening && isSame(actor, entry.user));
  const free = await context.free(
    theirs,
    (entry) => actOfEntry(entry, event),
    (earlier, entries) =>
      entriesTold(
        earlier,
        entries.filter(({ created_at }) => isAfter(earlier, created_at)),
      ),
  );
  return entriesTold(event, free);
}

/** Forges write an entry of commits when a pull request is opened, too: that is no later push. */
function openingOf(
  entries: readonly TimelineEntry[],
  pull: { readonly created_at?: string | null | undefined } | null | undefined,
): TimelineEntry | null {
  const first = entries.find((entry) => entry.type === 'pull_push');
  const afterMs = (timeOf(first?.created_at) ?? NaN) - (timeOf(pull?.created_at) ?? NaN);
  return first && Math.abs(afterMs) <= SAME_CALL_MS ? first : null;
}

function entriesTold(event: ForgeEvent, entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const atMs = (event.factAt ?? event.storedAt).getTime();
  const awayMs = (entry: TimelineEntry): number => Math.abs((timeOf(entry.created_at) ?? 0) - atMs);
  const nearestFirst = entries.toSorted((one, other) => awayMs(one) - awayMs(other));
  const named = nearestFirst.filter((entry) => isNamed(entry, event) && awayMs(entry) <= SAME_CALL_MS);
  if (named.length > 0 && isOfMany(named[0])) return ofOneCall(named);
  const possible = nearestFirst.filter((entry) => isPossible(entry, event));
  const [best = []] = [named, possible, nearestFirst].filter(({ length }) => length > 0);
  const [nearest] = best;
  if (!nearest) return [];
  return isOfMany(nearest) ? ofOneCall(best.filter(({ created_at }) => created_at === nearest.created_at)) : [nearest];
}

/** Who is shown with an event (a label, an assignee) came or is still there, and who is not shown went or is not there yet. */
function isPossible(entry: TimelineEntry, { data }: ForgeEvent): boolean {
  const subject = objectAt(data, 'issue') ?? objectAt(data, 'pull_request');
  const change = changeOf(entry);
  const names = change && subject?.[change.field];
  if (!change || !Array.isArray(names)) return true;
  const has = names.some((one) => isJsonObject(one) && (one.name ?? one.login) === change.name);
  return has === change.isAdded;
}

/** The label or assignee that an entry adds or takes away, and where an object lists such; null = another entry. */
function changeOf(entry: TimelineEntry): { field: string; name: string | null | undefined; isAdded: boolean } | null {
  if (entry.type === 'label') return { field: 'labels', name: entry.label?.name, isAdded: isLabelPutOn(entry) };
  if (entry.type === 'assignees')
    return { field: 'assignees', name: entry.assignee?.login, isAdded: entry['removed_assignee'] !== true };
  return null;
}

/** One call adds each label and assignee once: what was added, taken away and added again in one second are three acts. */
function ofOneCall(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const first = new Map<string, TimelineEntry>();
  for (const entry of entries) {
    const { name, isAdded } = changeOf(entry) ?? {};
    const key = `${isAdded} ${name}`;
    if (!first.has(key)) first.set(key, entry);
  }
  return [...first.values()];
}

/** Whether one act may make several entries. */
function isOfMany(entry: TimelineEntry | undefined): boolean {
  return /^(?:label|assignees)$/.test(entry?.type ?? '');
}

/** Whether an entry has what the event says of its act. */
function isNamed(entry: TimelineEntry, { data }: ForgeEvent): boolean {
  const derived = objectAt(data, 'derived');
  const names = (field: string, name: string | null | undefined): boolean => {
    const list = derived?.[field];
    return Array.isArray(list) && list.includes(name ?? '');
  };
  switch (entry.type) {
    case 'label':
      return names(isLabelPutOn(entry) ? 'labels_added' : 'labels_removed', entry.label?.name);
    case 'assignees':
      return names(entry['removed_assignee'] === true ? 'assignees_removed' : 'assignees_added', entry.assignee?.login);
    case 'review_request':
      return entry.assignee?.id === textAt(objectAt(data, 'requested_reviewer'), 'id');
    case 'change_title':
      return entry.old_title === textAt(objectAt(objectAt(data, 'changes'), 'title'), 'from');
    default:
      return false;
  }
}

/** Labels that were all taken off are told as labels that changed, or by a word of their own. */
export function actOfEntry({ id }: TimelineEntry, { kind }: ForgeEvent): string {
  const [, word = ''] = kind.split('.');
  return `history ${word === 'labels_cleared' ? 'labeled' : word} ${id}`;
}

export function near(entries: readonly TimelineEntry[], event: ForgeEvent): TimelineEntry[] {
  const fits = ENTRIES[event.kind];
  return entries.filter((entry) => fits?.(entry) && showsChange(entry, event) && isNear(entry.created_at, event));
}

/** An edit is shown by an entry about what was edited: who changed a title did not change the text. */
function showsChange({ type: word }: TimelineEntry, event: ForgeEvent): boolean {
  if (!isOfChanges(event)) return true;
  const changes = objectAt(event.data, 'changes');
  return objectAt(changes, word === 'change_title' ? 'title' : 'ref') !== null;
}

export function isOfChanges(event: ForgeEvent): boolean {
  return event.kind.endsWith('.edited') && isClaimed(event);
}
