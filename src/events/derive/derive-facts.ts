import { type Json, type JsonObject, isJsonObject } from '../../core/json.js';
import { tableOf, emptyTable } from '../../core/table.js';
import { type TrackedThing, TRACKED_THINGS } from './tracked-things.js';
import type { EventFact } from '../event-fact.js';
import { idOf, objectOf, textOf } from '../read-fields.js';

/** The object that a fact tells about, as its state is kept under. */
export interface StatedObject {
  /** Decimal string. */
  readonly repoId: string;
  readonly kind: keyof typeof TRACKED_THINGS;
  readonly objectId: string;
}

/** What follows from a fact and the state that was held before it. */
export interface Derived {
  /** `event.derived`; null for kinds of which nothing is derived. */
  readonly facts: JsonObject | null;
  /** The state to hold from now on; null when it stays as it is. */
  readonly state: JsonObject | null;
}

/**
 * The object whose state the fact tells or needs; null when it has none. A job is the same job as long as its name and its branch (or pull
 * request) are: runs come and go.
 */
export function statedObjectOf({ kind, repo, data }: EventFact): StatedObject | null {
  if (!repo) return null;
  const of = (objectKind: StatedObject['kind'], objectId: string): StatedObject | null =>
    objectId === '' ? null : { repoId: repo.id, kind: objectKind, objectId };
  if (kind.startsWith('pull_request.') || kind.startsWith('review.')) return of('pull_request', idOf(data.number));
  if (kind.startsWith('issue.')) return of('issue', idOf(data.number));
  if (kind.startsWith('release.')) return of('release', idOf(objectOf(data.release)?.id));
  return kind === 'task.finished' ? of('job', jobOf(data)) : null;
}

/**
 * What the forge does not say, worked out of what was held before. Pure. An older fact that comes late derives nothing (what stood before it is not
 * held) and changes nothing that a newer one said.
 * @param stored the state as an earlier call gave it; null when none is held
 */
export function deriveFacts(fact: EventFact, stored: JsonObject | null): Derived {
  const things = TRACKED_THINGS[statedKindOf(fact)];
  const earlier = readState(stored);
  const next: Record<string, Held> = tableOf(earlier);
  let facts: Unfinished | null = null;
  for (const thing of things) {
    const at = timeOf(thing, fact);
    const value = thing.read(fact);
    const before = earlier[thing.name];
    if (thing.about.has(fact.kind))
      facts = {
        ...(facts ?? {}),
        ...derivedBy(thing, fact, before && !isOlder(at, before) ? before.value : undefined, value),
      };
    const now = heldAfter(thing, fact, value, before, at);
    if (now) next[thing.name] = now;
  }
  return { facts: facts && withUnknown(facts), state: isEqual(earlier, next) ? null : writeState(next) };
}

/**
 * Whether a fact that a list lets one guess happened at all: what it is about differs from the state held. Pure. Where nothing is held, only its
 * own time can say so; whether an event of it is known already is asked elsewhere.
 * @param stored the state as it was before the list was read
 */
export function isNews(fact: EventFact, stored: JsonObject | null): boolean {
  const { listed } = fact;
  if (!listed) return true;
  if (listed.isBaseline) return false;
  if (listed.change === null) return true;
  const thing = TRACKED_THINGS[statedKindOf(fact)].find(({ name }) => name === listed.change);
  const value = thing?.read(fact);
  if (!thing || value === undefined) return false;
  const before = readState(stored)[thing.name];
  if (!before) return listed.isNewsUnheld;
  return !isEqual(before.value, value) && !isOlder(timeOf(thing, fact), before);
}

function statedKindOf({ kind }: EventFact): StatedObject['kind'] {
  if (kind.startsWith('release.')) return 'release';
  if (kind.startsWith('task.')) return 'job';
  return kind.startsWith('issue.') ? 'issue' : 'pull_request';
}

function timeOf(thing: TrackedThing, fact: EventFact): string | null {
  return (thing.at ? thing.at(fact) : fact.factAt)?.toISOString() ?? null;
}

/** Undefined stands for "not known" until `withUnknown` says so; nothing at all where the fact shows nothing of the thing (a job that was skipped). */
type Unfinished = Readonly<Record<string, Json | undefined>>;

function derivedBy(
  thing: TrackedThing,
  fact: EventFact,
  before: Json | undefined,
  after: Json | undefined,
): Unfinished {
  return after === undefined ? {} : thing.derive(before, after, fact);
}

function withUnknown(facts: Unfinished): JsonObject {
  const names = Object.keys(facts);
  const knownNames = names.filter((name) => facts[name] !== undefined);
  return {
    ...Object.fromEntries(knownNames.map((name) => [name, facts[name] ?? null])),
    not_known: names.filter((name) => facts[name] === undefined),
  };
}

function heldAfter(
  thing: TrackedThing,
  fact: EventFact,
  value: Json | undefined,
  before: Held | undefined,
  at: string | null,
): Held | null {
  const { atFirst } = thing;
  if (before && isOlder(at, before)) return null;
  const since = at ?? before?.at ?? null;
  if (thing.about.has(fact.kind)) return value === undefined ? null : { value, at: since, isTold: true };
  if (before?.isTold) return null;
  // Whatever is told of the thing itself is newer, also where the forge writes the opening down a second later.
  if (atFirst?.toldBy.has(fact.kind)) return { value: atFirst.value, at: null, isTold: true };
  return value === undefined || isEqual(value, before?.value) ? null : { value, at: since, isTold: false };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** '' when what the job ran for is not told: jobs of different branches must not be taken for one. */
function jobOf(data: JsonObject): string {
  const task = objectOf(data.task);
  const name = textOf(task?.name);
  const pullOfRef = /^#(\d+)$/.exec(textOf(task?.head_branch))?.[1];
  const pull = pullOfRef ?? idOf(objectOf(data.pull_request)?.number);
  const ranFor = textOf(data.branch) !== '' ? `branch|${textOf(data.branch)}` : pull !== '' ? `pull|${pull}` : '';
  return name === '' || ranFor === '' ? '' : `${ranFor}|${name}`;
}

/** What is held about one thing of an object: its value, the fact's time that told it (ISO; null = none told), and how. */
interface Held {
  readonly value: Json;
  readonly at: string | null;
  /** A fact about this very thing said so; else it stood in an object that came along with something else. */
  readonly isTold: boolean;
}

/** Everything held about one object, by name. */
type ObjectState = Readonly<Record<string, Held>>;

function readState(stored: JsonObject | null): ObjectState {
  const state: Record<string, Held> = emptyTable();
  for (const [name, entry] of Object.entries(stored ?? {})) {
    if (isJsonObject(entry))
      state[name] = {
        value: entry.value ?? null,
        at: typeof entry.at === 'string' ? entry.at : null,
        isTold: entry.told === true,
      };
  }
  return state;
}

function writeState(state: ObjectState): JsonObject {
  return Object.fromEntries(
    Object.entries(state).map(([name, { value, at, isTold }]) => [name, { value, at, told: isTold }]),
  );
}

/** Facts of one second stand in the order in which they came, and so does what tells no time. */
function isOlder(at: string | null, before: Held): boolean {
  return at !== null && before.at !== null && at < before.at;
}
