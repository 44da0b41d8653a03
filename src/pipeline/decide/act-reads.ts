import { isSameLogin } from '../../actions/support/compare.js';
import { EVENT_TYPES } from '../../core/event-types.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventActor, EventRepository, ForgeEvent } from '../../core/event.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { type ForgeClient, listAll, orMissing, whereAllowed } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';
import type { Issue } from '../../core/objects/tracker.js';
import type { ActCode, ActProof } from './act-proof.js';
import type { ForgeAccess } from '../execute/forge-access.js';

/** Most time between an act and its delivery, either way: forges deliver within seconds, and clocks differ by minutes. */
const WINDOW_MS = 3_600_000;
const FEED_PAGE = 50;
/** A feed with more rows than this within the window is not searched to its end. */
const FEED_PAGES = 4;
/** A list about one issue, pull request or commit that is longer than this confirms nothing: anybody may make it long. */
const LIST_PAGES = 40;

/** The events that a row of the feed tells. */
export type ReadRow = (
  row: object,
  org: string,
) => ReadonlyArray<Pick<ForgeEvent, 'kind' | 'factKey' | 'factAt' | 'actor' | 'data'>>;

/** A read that can tell of an act; undefined = this forge, or this token, cannot make it. */
type Read = (context: ActContext) => Promise<ActProof | undefined>;

/** An act as a delivery tells of it, and where to read about it. */
export interface ActContext {
  readonly access: ForgeAccess;
  readonly event: ForgeEvent;
  readonly actor: EventActor;
  readonly repo: EventRepository;
  readonly readRow: ReadRow;
}

/** In the order in which they are tried: the object itself, the history of its issue, the feed of the organization. */
export function readsOf(kind: EventKind): readonly Read[] {
  const own = OWN_READS[kind] ?? [];
  return (EVENT_TYPES.get(kind)?.feed.length ?? 0) > 0 ? [...own, inFeed] : own;
}

/** Kinds without a row here, and without one in the feed, cannot be proven: nothing tells who edited a comment or changed a wiki page. */
const OWN_READS: Readonly<Partial<Record<EventKind, readonly Read[]>>> = {
  'comment.created': [comment],
  'issue.opened': [opening],
  'issue.closed': [timeline('close')],
  'issue.reopened': [timeline('reopen')],
  'issue.edited': [timeline('change_title')],
  'issue.assigned': [timeline('assignees')],
  'issue.unassigned': [timeline('assignees')],
  'issue.labeled': [timeline('label')],
  'issue.labels_cleared': [timeline('label')],
  'issue.milestoned': [timeline('milestone')],
  'issue.demilestoned': [timeline('milestone')],
  'pull_request.opened': [opening],
  'pull_request.closed': [timeline('close')],
  'pull_request.reopened': [timeline('reopen')],
  'pull_request.merged': [merge],
  'pull_request.edited': [timeline('change_title', 'change_target_branch')],
  'pull_request.ready_for_review': [timeline('change_title')],
  'pull_request.synchronized': [timeline('pull_push')],
  'pull_request.assigned': [timeline('assignees')],
  'pull_request.unassigned': [timeline('assignees')],
  'pull_request.labeled': [timeline('label')],
  'pull_request.labels_cleared': [timeline('label')],
  'pull_request.milestoned': [timeline('milestone')],
  'pull_request.demilestoned': [timeline('milestone')],
  'pull_request.review_requested': [timeline('review_request')],
  'pull_request.review_request_removed': [timeline('review_request')],
  'review.approved': [review('APPROVED')],
  'review.rejected': [review('REQUEST_CHANGES')],
  'review.commented': [review('COMMENT')],
  'status.set': [status],
  'workflow.requested': [run, task],
  'workflow.started': [run, task],
  'workflow.finished': [run, task],
  'workflow.recovered': [run, task],
  'task.queued': [run, task],
  'task.waiting': [run, task],
  'task.started': [run, task],
  'task.finished': [run, task],
};

async function comment({ access, event, actor, repo }: ActContext): Promise<ActProof | undefined> {
  const told = objectAt(event.data, 'comment');
  const id = textAt(told, 'id');
  const found = await whereAllowed(
    offered(access, 'getComment'),
    async (get) => (await orMissing(get({ owner: repo.owner, repo: repo.name, id }))) ?? null,
  );
  if (found === undefined) return undefined;
  const issue = [found?.issue_url, found?.pull_request_url]
    .find((url) => url)
    ?.split('/')
    .pop();
  if (found === null || issue !== textAt(event.data, 'number'))
    return unproven('act.not_found', `the forge holds no comment ${id} on #${textAt(event.data, 'number')}`);
  if (!isSame(actor, found.user)) return otherAuthor(actor, found.user, `comment ${id}`);
  if (found.body !== textAt(told, 'body'))
    return unproven('act.other_text', `comment ${id} has other words than the delivery`);
  // Somebody else may have put the words into the author's mouth.
  if (timeOf(found.created_at) === null || timeOf(found.created_at) !== timeOf(found.updated_at))
    return unproven('act.other_text', `comment ${id} was edited`);
  return provenAt(found.created_at, event, proven('comment', actor));
}

async function opening(context: ActContext): Promise<ActProof | undefined> {
  const { event, actor } = context;
  const found = await readIssue(context);
  if (found === undefined) return undefined;
  const what = `#${textAt(event.data, 'number')}`;
  if (found === null) return unproven('act.not_found', `there is no ${what}`);
  return isSame(actor, found.user)
    ? provenAt(found.created_at, event, proven('issue', actor))
    : otherAuthor(actor, found.user, what);
}

/** The issue or pull request of the event; null = there is none. */
export function readIssue({ access, event, repo }: ActContext): Promise<Issue | null | undefined> {
  const index = textAt(event.data, 'number');
  return whereAllowed(offered(access, 'getIssue'), (get) =>
    orMissing(get({ owner: repo.owner, repo: repo.name, index })),
  );
}

async function merge({ access, event, actor, repo }: ActContext): Promise<ActProof | undefined> {
  const index = textAt(event.data, 'number');
  const found = await whereAllowed(offered(access, 'getPull'), (get) =>
    orMissing(get({ owner: repo.owner, repo: repo.name, index })),
  );
  if (found === undefined) return undefined;
  if (found?.merged !== true) return unproven('act.not_found', `#${index} is not merged`);
  return isSame(actor, found.merged_by)
    ? provenAt(found.merged_at, event, proven('pull_request', actor))
    : otherAuthor(actor, found.merged_by, `the merge of #${index}`);
}

function review(state: string): Read {
  return async ({ access, event, actor, repo }) => {
    const index = textAt(event.data, 'number');
    const all = await whereAllowed(offered(access, 'listReviews'), () =>
      orMissing(
        listAll(access.client, 'listReviews', { owner: repo.owner, repo: repo.name, index }, { maxPages: LIST_PAGES }),
      ),
    );
    if (all === undefined) return undefined;
    const body = textAt(objectAt(event.data, 'review'), 'body');
    const fitting = (all ?? []).filter(
      (one) => one.state === state && one.dismissed !== true && isNear(one.submitted_at, event),
    );
    const theirs = fitting.filter(({ user }) => isSame(actor, user));
    if (theirs.some((one) => (one.body ?? '') === body)) return proven('review', actor);
    if (theirs.length > 0)
      return unproven('act.other_text', `the review of #${index} has other words than the delivery`);
    return fitting[0]
      ? otherAuthor(actor, fitting[0].user, `the review of #${index}`)
      : unproven('act.not_found', `the forge holds no such review of #${index}`);
  };
}

/** What is no object of its own stands in the history of the issue, with who did it. */
function timeline(...types: string[]): Read {
  return async ({ access, event, actor, repo }) => {
    const index = textAt(event.data, 'number');
    const since = new Date(event.storedAt.getTime() - WINDOW_MS).toISOString();
    const all = await whereAllowed(offered(access, 'listTimeline'), () =>
      orMissing(
        listAll(
          access.client,
          'listTimeline',
          { owner: repo.owner, repo: repo.name, index, since },
          { maxPages: LIST_PAGES },
        ),
      ),
    );
    if (all === undefined) return undefined;
    const fitting = (all ?? []).filter((entry) => types.includes(entry.type ?? '') && isNear(entry.created_at, event));
    if (fitting.some(({ user }) => isSame(actor, user))) return proven('timeline', actor);
    const [other] = fitting.slice(-1);
    return other
      ? otherAuthor(actor, other.user, `the history of #${index}`)
      : unproven('act.not_found', `the history of #${index} has no such act`);
  };
}

async function status({ access, event, actor, repo }: ActContext): Promise<ActProof | undefined> {
  const [ref, told] = [textAt(event.data, 'sha'), objectAt(event.data, 'status')];
  const all = await whereAllowed(offered(access, 'listStatuses'), () =>
    orMissing(
      listAll(access.client, 'listStatuses', { owner: repo.owner, repo: repo.name, ref }, { maxPages: LIST_PAGES }),
    ),
  );
  if (all === undefined) return undefined;
  const fitting = (all ?? []).filter(
    (one) =>
      one.context === textAt(told, 'context') && one.status === textAt(told, 'state') && isNear(one.created_at, event),
  );
  if (fitting.some(({ creator }) => isSame(actor, creator))) return proven('status', actor);
  // Of a status that a workflow set the forge tells no creator.
  if (fitting.some(({ creator }) => !creator)) return { proven: true, by: 'status', actor: null };
  return fitting[0]
    ? otherAuthor(actor, fitting[0].creator, 'the status')
    : unproven('act.not_found', 'the forge holds no such status');
}

async function run({ access, event, actor, repo }: ActContext): Promise<ActProof | undefined> {
  const id = textAt(objectAt(event.data, 'run'), 'id') || textAt(objectAt(event.data, 'task'), 'run_id');
  if (id === '') return undefined;
  const found = await whereAllowed(offered(access, 'getRun'), (get) =>
    orMissing(get({ owner: repo.owner, repo: repo.name, run: id })),
  );
  if (found === undefined) return undefined;
  if (found === null) return unproven('act.not_found', `there is no run ${id}`);
  const who = [found.trigger_actor, found.actor].filter((one) => one !== null && one !== undefined);
  if (who.length === 0) return { proven: true, by: 'run', actor: null };
  return who.some((one) => isSame(actor, one)) ? proven('run', actor) : otherAuthor(actor, who[0], `run ${id}`);
}

/** A list of tasks tells that a job ran, and nothing about who started it. */
async function task({ access, event, repo }: ActContext): Promise<ActProof | undefined> {
  const sha = textAt(event.data, 'sha');
  const page = await whereAllowed(offered(access, 'listActionTasks'), (list) =>
    orMissing(list({ owner: repo.owner, repo: repo.name, limit: FEED_PAGE })),
  );
  if (page === undefined) return undefined;
  const rows = page?.workflow_runs ?? [];
  return rows.some((row) => row.head_sha === sha)
    ? { proven: true, by: 'task', actor: null }
    : unproven('act.not_found', 'the forge lists no job of this commit');
}

/** The feed tells most acts with who did them; it hides people who hide themselves. */
async function inFeed({ access, event, actor, readRow }: ActContext): Promise<ActProof | undefined> {
  let other: EventActor | null = null;
  for (let page = 1; page <= FEED_PAGES; page += 1) {
    const rows = await whereAllowed(offered(access, 'listOrgFeed'), (list) =>
      orMissing(list({ org: event.org, page, limit: FEED_PAGE })),
    );
    if (rows === undefined) return undefined;
    for (const row of rows ?? []) {
      const fact = readRow(row, event.org).find(
        ({ kind, factKey }) => kind === event.kind && factKey === event.factKey,
      );
      if (!fact || !isNear(row.created, event)) continue;
      if (isSame(actor, fact.actor))
        return isSameWords(fact, event)
          ? proven('feed', actor)
          : unproven('act.other_text', 'the feed has another text than the delivery');
      other ??= fact.actor;
    }
    if ((rows ?? []).length < FEED_PAGE || !isNear(rows?.at(-1)?.created, event)) break;
  }
  return other ? otherAuthor(actor, other, 'the feed') : unproven('act.not_found', 'the feed has no such act');
}

function isSameWords(fact: Pick<ForgeEvent, 'data'>, { kind, data }: ForgeEvent): boolean {
  return (
    kind !== 'comment.created' ||
    textAt(objectAt(fact.data, 'comment'), 'body') === textAt(objectAt(data, 'comment'), 'body')
  );
}

interface Person {
  readonly id?: string | null | undefined;
  readonly login?: string | null | undefined;
}

export interface ClaimedPerson extends Person {
  /** The login once more, as users have it in bodies; empty or absent = the body has none. */
  readonly username?: string;
}

/** Number and login must both agree: filters look at logins, and a login may be given to another account. */
export function isSame(claimed: ClaimedPerson, told: Person | null | undefined): boolean {
  const names = [claimed.login, ...(claimed.username ? [claimed.username] : [])];
  return !!told?.id && claimed.id === told.id && names.every((name) => isSameLogin(name, told.login));
}

export function proven(by: string, actor: EventActor): ActProof {
  return { proven: true, by, actor };
}

/** A delivery that tells another time than the forge tells again of an act of then, which its own time would keep out (`retention.max_age`). */
function provenAt(time: string | null | undefined, { factAt }: ForgeEvent, proof: ActProof): ActProof {
  return factAt !== null && timeOf(time) === factAt.getTime()
    ? proof
    : unproven('act.not_found', 'the forge shows another time than the delivery');
}

export function unproven(code: ActCode, reason: string): ActProof {
  return { proven: false, code, reason };
}

export function otherAuthor(claimed: Person, told: Person | null | undefined, what: string): ActProof {
  return unproven(
    'act.other_author',
    `the delivery names ${claimed.login ?? 'nobody'}, and the forge names ${told?.login ?? 'somebody else'} for ${what}`,
  );
}

function isNear(time: string | null | undefined, { storedAt }: ForgeEvent): boolean {
  const atMs = timeOf(time);
  return atMs !== null && Math.abs(atMs - storedAt.getTime()) <= WINDOW_MS;
}

/** Milliseconds; null where no time is told. */
function timeOf(time: string | null | undefined): number | null {
  const atMs = Date.parse(time ?? '');
  return Number.isNaN(atMs) ? null : atMs;
}

function offered<Name extends OperationName>(access: ForgeAccess, name: Name): ForgeClient[Name] | undefined {
  return access.offers(name) ? access.client[name] : undefined;
}

function objectAt(from: JsonObject | null, name: string): JsonObject | null {
  const value: Json | undefined = from?.[name];
  return value !== undefined && isJsonObject(value) ? value : null;
}

function textAt(from: JsonObject | null, name: string): string {
  const value = from?.[name];
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : '';
}

/** Undefined = the event does not name one. */
export function personAt(data: JsonObject, path: string): ClaimedPerson | undefined {
  const found = path.split('.').reduce<JsonObject | null>(objectAt, data);
  return found
    ? { id: textAt(found, 'id'), login: textAt(found, 'login'), username: textAt(found, 'username') }
    : undefined;
}
