import { ownValue } from './table.js';
import type { ObjectType } from './data-types.js';
import { isDelivered, isShownOfPulls } from './event-sources.js';
import { EVENT_TYPES } from './event-types.js';
import type { ForgeEvent } from './event.js';
import { isJsonObject, type Json, type JsonObject } from './json.js';

type Told = Pick<ForgeEvent, 'kind' | 'source' | 'actor' | 'repo' | 'data'>;

/**
 * In the data of an event: what was learned of it after its first source, as names of its fields, and `delivery` where a delivery told it as well.
 * No field of the forge begins with this sign, and rules do not see it.
 */
export const LEARNED = '@learned';
export const DELIVERY = 'delivery';

/** The event itself, and one commit of a push, as places of unknown fields; every other place is the way to an object: `issue`, `repo`, `commits[].author`. */
export const EVENT_PLACE = '';
export const COMMIT_PLACE = 'commits[]';
/** Persons of a commit. A row of the feed tells their names and addresses, and not their accounts. */
const PERSONS = ['author', 'committer'] as const;

/** Names of fields by the place where they are missing. */
export type UnknownFields = ReadonlyMap<string, ReadonlySet<string>>;

/** Whether what the event says rests on a delivery, whose body anybody may have written who knows the secret of a hook. */
export function isClaimed({ source, data }: Pick<ForgeEvent, 'source' | 'data'>): boolean {
  return source === 'webhook' || learnedOf(data).has(DELIVERY);
}

/** What was learned of an event after its first source. */
export function learnedOf(data: JsonObject): ReadonlySet<string> {
  const names = ownValue(data, LEARNED);
  return new Set(Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []);
}

/** The data with what was learned: it stands in the place of what is missing alone. `from`: names of objects that are whole now, or `DELIVERY`. */
export function withLearned(data: JsonObject, learned: JsonObject, from: readonly string[]): JsonObject {
  const { files, files_complete: isComplete, ...rest } = data;
  // Files of some of the commits are not the files of the push.
  const own = withoutUndefined({ ...rest, ...(isComplete === false ? {} : { files, files_complete: isComplete }) });
  const merged: JsonObject = { ...learned, ...own };
  for (const [name, value] of Object.entries(learned)) {
    const ownPart = own[name];
    if (isJsonObject(value) && ownPart !== undefined && isJsonObject(ownPart)) merged[name] = { ...value, ...ownPart };
  }
  const learnedCommits = new Map(commitsOf(learned).map((commit) => [commit.id, commit]));
  if (learnedCommits.size > 0)
    merged.commits = commitsOf(merged).map((commit) => withPersons(commit, learnedCommits.get(commit.id)));
  merged[LEARNED] = [...new Set([...learnedOf(data), ...from])];
  return merged;
}

/** A commit with what was learned of it; its persons are whole only together. */
function withPersons(commit: JsonObject, learned: JsonObject = {}): JsonObject {
  const merged: JsonObject = { ...learned, ...commit };
  for (const person of PERSONS) {
    const [own, more] = [commit[person] ?? null, learned[person] ?? null];
    if (isJsonObject(own) && isJsonObject(more)) merged[person] = { ...more, ...own };
  }
  return merged;
}

type Learning = Pick<ForgeEvent, 'actor' | 'repo' | 'data'>;

/** What an arrival that tells the event once more tells of it beyond what is known. */
export function withTold(
  event: Learning,
  arrival: Pick<Learning, 'actor' | 'data'>,
  from: readonly string[],
): Learning {
  const isNewActor = event.actor === null && arrival.actor !== null;
  const data = withLearned(event.data, arrival.data, [...from, ...(isNewActor ? ['actor'] : [])]);
  return { ...event, actor: event.actor ?? arrival.actor, data };
}

/** What was read of an event in the light of what was known then. */
export function withRead(event: Learning, earlier: Pick<Learning, 'data' | 'repo'>): Learning {
  const repo = event.repo && earlier.repo ? { ...earlier.repo, ...event.repo } : event.repo;
  return { ...event, repo, data: withLearned(event.data, earlier.data, [...learnedOf(earlier.data)]) };
}

/** Without what is undefined. */
function withoutUndefined(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

const cache = new WeakMap<object, UnknownFields>();

/**
 * What an event does not know: fields of its kind that its sources leave out. They are missing, which does not mean that they are empty. Pure.
 */
export function unknownFields(event: Told): UnknownFields {
  let fields = cache.get(event);
  if (!fields) cache.set(event, (fields = findUnknown(event)));
  return fields;
}

/** Whether the event does not know this field: `branch`, `issue.labels`. */
export function isUnknown(event: Told, path: string): boolean {
  const dot = path.lastIndexOf('.');
  const place = dot < 0 ? EVENT_PLACE : path.slice(0, dot);
  return (
    unknownFields(event)
      .get(place)
      ?.has(path.slice(dot + 1)) ?? false
  );
}

/** What every server tells of a repository, an issue and a pull request, and rules look at most. */
const OF_REPOSITORY = ['private', 'fork', 'mirror', 'archived', 'default_branch', 'topics'];
const OF_ISSUE = ['title', 'body', 'state', 'user', 'labels', 'assignees', 'milestone'];
const FILE_LISTS = ['added', 'modified', 'removed'];

/** Fields of the event itself that deliveries of a kind tell where they apply, and entries never. */
const WHERE_IT_APPLIES: ReadonlyArray<readonly [field: string, kinds: RegExp]> = [
  ['changes', /^(?:issue|pull_request)\.edited$/],
  ['commit_id', /^(?:issue|pull_request)\.closed$/],
  ['pull_request', /^task\./],
  ['sha', /^push$/],
];

/** Of these a ref that is gone has none. */
const OF_COMMIT = new Set(['sha', 'head_commit']);

function findUnknown(event: Told): UnknownFields {
  const { kind, source, data, repo, actor } = event;
  const type = EVENT_TYPES.get(kind)?.type;
  const unknown = new Map<string, Set<string>>();
  if (!type || kind === 'unrecognized') return unknown;
  const learned = learnedOf(data);
  const isTold = source === 'webhook' || learned.has(DELIVERY);
  const miss = (place: string, fields: Iterable<string>): void => {
    for (const field of fields) {
      const at = unknown.get(place);
      if (at) at.add(field);
      else unknown.set(place, new Set([field]));
    }
  };
  const lacks = (object: JsonObject, fields: readonly string[]): string[] =>
    fields.filter((field) => !Object.hasOwn(object, field));

  const missPersons = (at: string, commit: JsonObject): void => {
    for (const person of PERSONS) {
      const account = commit[person] ?? null;
      if (isJsonObject(account) && !Object.hasOwn(account, 'username')) miss(`${at}${person}`, ['username']);
    }
  };

  for (const [object, { type: of }] of Object.entries(type.fields)) {
    const value = ownValue(data, object);
    if (of.kind !== 'object' || value === undefined || !isJsonObject(value) || learned.has(object)) continue;
    if (object === 'files' || object === 'derived' || object === 'changes') continue;
    miss(object, lacks(value, isTold ? alwaysTold(object) : leftOut(event, object, of)));
  }
  const { files: _, ...own } = type.fields;
  const missing = Object.keys(own).filter((field) => !Object.hasOwn(data, field));
  for (const field of missing) {
    if (OF_SUBJECT.has(field) || (OF_COMMIT.has(field) && data.deleted === true)) continue;
    const isTheirs = WHERE_IT_APPLIES.some(([name, kinds]) => name === field && kinds.test(kind));
    if (isDelivered(kind, field) || (!isTold && isTheirs)) miss(EVENT_PLACE, [field]);
  }
  for (const [field, source] of OF_SUBJECT)
    if (isDelivered(kind, field) && !tellsOfSubject(data, source)) miss(EVENT_PLACE, [field]);
  if (!actor && !isTold) miss(EVENT_PLACE, ['actor']);
  if (repo && !learned.has('repo')) miss('repo', lacks(repo as JsonObject, OF_REPOSITORY));
  if (kind === 'push') {
    const isPart = data.files_complete === false || !Object.hasOwn(data, 'files');
    if (isPart) miss('files', FILE_LISTS);
    if (isPart || data.files_complete === undefined) miss(EVENT_PLACE, ['files_complete']);
    for (const commit of commitsOf(data)) {
      miss(COMMIT_PLACE, lacks(commit, FILE_LISTS));
      missPersons(`${COMMIT_PLACE}.`, commit);
    }
    const head = data.head_commit ?? null;
    if (isJsonObject(head)) missPersons('head_commit.', head);
  }
  return unknown;
}

function alwaysTold(object: string): readonly string[] {
  if (object === 'issue' || object === 'pull_request') return OF_ISSUE;
  return object === 'head_commit' ? FILE_LISTS : [];
}

/** Of an object of an event that polling read, what its list or row does not show. */
function leftOut({ source }: Told, object: string, type: ObjectType): readonly string[] {
  const fields = Object.keys(type.fields);
  if (source !== 'lists') return fields;
  return object === 'pull_request' ? fields.filter((field) => !isShownOfPulls(field)) : [];
}

/** Fields of the event that are short for one of its pull request or issue. */
export const OF_SUBJECT: ReadonlyMap<string, string> = new Map([
  ['labels', 'labels'],
  ['author', 'user'],
]);

function tellsOfSubject(data: JsonObject, field: string): boolean {
  return [data.pull_request, data.issue].some(
    (one) => one !== undefined && isJsonObject(one) && ownValue(one, field) !== undefined,
  );
}

/** The commits that a push shows. */
export function commitsOf(data: JsonObject): JsonObject[] {
  const commits: Json | undefined = data.commits;
  return Array.isArray(commits) ? commits.filter(isJsonObject) : [];
}
