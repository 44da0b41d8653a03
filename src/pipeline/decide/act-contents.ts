import type { ActRead } from '../../core/act-fields.js';
import type { EventRepository } from '../../core/event.js';
import { isJsonObject, type Json, type JsonObject, stringifyJson } from '../../core/json.js';
import { Misfit, isZeroSha } from '../../events/event-fact.js';
import { pullRequestFields } from '../../events/normalize/pull-request.js';
import { filesOf } from '../../events/normalize/push.js';
import { reviewWords } from '../../events/normalize/review.js';
import { readTaskRow } from '../../events/normalize/task.js';
import { readBody, repositoryOf, definedFields } from '../../events/read-fields.js';
import { isSame, objectAt, textAt, timeOf, type ActContext } from './act-context.js';
import { entriesOf, isLabelPutOn, type TimelineEntry } from './act-entries.js';
import { feedFactOf, reviewOf, statusesOf } from './act-reads.js';

/** Fields of the event as the forge shows them. */
export type Contents = JsonObject;
type Read = (context: ActContext) => Promise<Contents | null | undefined>;

/** What a read of the forge says of the event; what it has no word for is absent. Undefined = this forge, or this token, has no such read. */
export async function readContents(
  context: ActContext,
  read: Exclude<ActRead, 'act' | 'event' | 'repository'>,
): Promise<Contents | undefined> {
  const contents = await READS[read](context);
  // A row of the feed tells a part of what the object has: number, title, the words of a comment.
  return contents ?? (await fromFeed(context)) ?? undefined;
}

const READS: Readonly<Record<Exclude<ActRead, 'act' | 'event' | 'repository'>, Read>> = {
  issue: async (context) => {
    const issue = dataOf(await context.issue());
    return issue && { issue };
  },
  pull_request: async (context) => {
    const pull = dataOf(await context.pull());
    return (
      pull && definedFields({ ...pullRequestFields(pull), after: textAt(objectAt(pull, 'head'), 'sha') || undefined })
    );
  },
  comment: async (context) => {
    const comment = dataOf(await context.comment());
    return comment && { comment, is_pull: textAt(comment, 'pull_request_url') !== '' };
  },
  review: async (context) => {
    const review = await reviewOf(context);
    const body = review?.body ?? '';
    return (
      review && {
        review: { ...reviewWords(context.event.kind), content: body, body, user: dataOf(review.user) ?? null },
      }
    );
  },
  status: async (context) => {
    const [row] = (await statusesOf(context)) ?? [];
    const status = dataOf(row);
    if (!status) return undefined;
    const { id, context: name, status: state, description, target_url, created_at, updated_at } = status;
    const { sha = null } = context.event.data;
    return {
      sha,
      status: definedFields({ id, sha, context: name, state, description, target_url, created_at, updated_at }),
    };
  },
  timeline,
  feed: async (context) => {
    const contents = await fromFeed(context);
    if (!contents || context.event.kind !== 'push') return contents;
    // The row has a part of the address alone.
    const { compare_url: _, ...row } = contents;
    return { ...row, ...(await pushed(context, contents)) };
  },
  commits,
  branch: async (context) => {
    const commit = (await context.branch())?.commit;
    return commit && definedFields({ sha: commit.id ?? undefined });
  },
  release: async (context) => {
    const release = dataOf(await context.release());
    return release && { release, tag: textAt(release, 'tag_name'), derived: { became_public: release.draft !== true } };
  },
  run: async (context) => {
    const workflowRun = dataOf(await context.run());
    if (!workflowRun) return undefined;
    const { repository: _, ...run } = workflowRun;
    return definedFields({ run, sha: run.head_sha, branch: textAt(run, 'head_branch') || undefined });
  },
  job: async (context) => {
    const id = textAt(objectAt(context.event.data, 'task'), 'job_id');
    const job = dataOf((await context.jobs())?.jobs?.find((one) => one.id === id));
    if (!job) return taskRow(context);
    const { id: job_id, ...rest } = job;
    const task = definedFields({ job_id, ...rest, conclusion: job.conclusion ?? undefined });
    return definedFields({ task, sha: job.head_sha, branch: textAt(job, 'head_branch') || undefined });
  },
};

async function taskRow(context: ActContext): Promise<Contents | undefined> {
  const { repo, event } = context;
  for (const row of (await context.tasks())?.workflow_runs ?? []) {
    const fact = readTaskRow(dataOf(row) ?? {}, repo.id, repo);
    if (!(fact instanceof Misfit) && fact.factKey === event.factKey) return fact.data;
  }
  return undefined;
}

async function fromFeed(context: ActContext): Promise<Contents | null | undefined> {
  const fact = await feedFactOf(context);
  return fact && isSame(context.actor, fact.actor) ? fact.data : undefined;
}

/** What a person did to the labels, the assignees, the milestone, the title or the reviewers, by the entries of the act in the history. */
async function timeline(context: ActContext): Promise<Contents | undefined> {
  const { event } = context;
  const entries = (await entriesOf(context)) ?? [];
  const [entry] = entries;
  if (!entry) return undefined;
  const changes = definedFields({
    title: entry.type === 'change_title' ? { from: entry.old_title ?? '' } : undefined,
    ref: entry.type === 'change_target_branch' ? { from: textOf(entry['old_ref']) } : undefined,
  });
  const derived = definedFields({ ...derivedOf(entry, entries), ...(await leftDraft(context, entry)) });
  const isRequest = entry.type === 'review_request';
  return definedFields({
    changes: Object.keys(changes).length > 0 ? changes : undefined,
    derived: knownFields(derived, objectAt(event.data, 'derived')),
    requested_reviewer: isRequest ? (dataOf(entry.assignee) ?? undefined) : undefined,
  });
}

function derivedOf(entry: TimelineEntry, entries: readonly TimelineEntry[]): Record<string, Json | undefined> {
  if (entry.type === 'label') {
    const names = (isOn: boolean): string[] => namesOf(entries, ({ label }) => label?.name, isLabelPutOn, isOn);
    return { labels_added: names(true), labels_removed: names(false) };
  }
  if (entry.type === 'assignees') {
    const isOn = (one: TimelineEntry): boolean => one['removed_assignee'] !== true;
    return {
      assignees_added: namesOf(entries, ({ assignee }) => assignee?.login, isOn, true),
      assignees_removed: namesOf(entries, ({ assignee }) => assignee?.login, isOn, false),
    };
  }
  return entry.type === 'milestone'
    ? { milestone_before: entry.old_milestone?.title ?? null, milestone_after: entry.milestone?.title ?? null }
    : {};
}

/** Names whose newest entry says that they were put on, or taken off. */
function namesOf(
  entries: readonly TimelineEntry[],
  nameOf: (entry: TimelineEntry) => string | null | undefined,
  isOn: (entry: TimelineEntry) => boolean,
  wanted: boolean,
): string[] {
  const newest = new Map(entries.map((entry) => [nameOf(entry) ?? '', isOn(entry)]));
  return [...newest].flatMap(([name, on]) => (name !== '' && on === wanted ? [name] : [])).sort();
}

/** A title lost its prefix, and the pull request is no draft now. */
async function leftDraft(context: ActContext, entry: TimelineEntry): Promise<{ left_draft?: boolean }> {
  if (entry.type !== 'change_title' || !context.event.kind.startsWith('pull_request.')) return {};
  const [before, after] = [(entry.old_title ?? '').trim(), (entry.new_title ?? '').trim()];
  const isShorter = before.length > after.length && before.endsWith(after);
  return { left_draft: isShorter && (await context.pull())?.draft === false };
}

/** What the event does not know stays unknown. */
function knownFields(proven: JsonObject, claimed: JsonObject | null): JsonObject | undefined {
  if (!claimed) return undefined;
  return Object.fromEntries(Object.entries(proven).filter(([name]) => claimed[name] !== undefined));
}

/** What the row of a push has no word for: whether its ref is new, where it stood before, that it is gone, and the whole address of the difference. */
async function pushed(context: ActContext, row: Contents): Promise<Contents> {
  const { event, actor } = context;
  const deleted = row.deleted === true;
  const ref = textAt(row, 'ref');
  const atMs = timeOf((await feedFactOf(context))?.at);
  const isNew = (await context.feed())?.some(
    (fact) =>
      /^(?:branch|tag)\.created$/.test(fact.kind) &&
      textAt(fact.data, 'ref') === ref &&
      isSame(actor, fact.actor) &&
      Math.abs((timeOf(fact.at) ?? 0) - (atMs ?? 0)) <= SAME_ACT_MS,
  );
  const claimed = textAt(event.data, 'before');
  const comparedFrom = /([0-9a-f]{40}|[0-9a-f]{64})\.\.\.?[0-9a-f]{40,64}$/.exec(textAt(row, 'compare_url'))?.[1];
  const page = textOf((await context.repository())?.html_url);
  const [, range] = textAt(row, 'compare_url').split('/compare/');
  const compare_url = page !== '' && range !== undefined ? `${page}/compare/${range}` : undefined;
  const before = isNew ? (isZeroSha(claimed) ? claimed : undefined) : comparedFrom;
  // As many zeros as the hashes of the repository have digits: the row of a deleted tag does not say how many.
  const after = textAt(event.data, 'after');
  return definedFields({
    created: isNew === true,
    deleted,
    before,
    after: deleted && isZeroSha(after) ? after : undefined,
    compare_url,
    pusher: objectAt(event.data, 'pusher') ? { ...actor, username: actor.login } : undefined,
  });
}

/** The rows of one push are written by one call. */
const SAME_ACT_MS = 2_000;

/** The commits that the forge holds under the hashes which its feed, or the object itself, names. */
async function commits(context: ActContext): Promise<Contents | null | undefined> {
  const { event } = context;
  if (event.kind === 'status.set') {
    const commit = await payloadCommit(context, { id: textAt(event.data, 'sha') });
    return commit && { commit };
  }
  const contents = await fromFeed(context);
  if (!contents) return contents;
  // A deleted ref has no commits, and no head.
  if (contents.deleted === true) return definedFields({ ...contents, head_commit: null });
  const rows = Array.isArray(contents.commits) ? contents.commits.filter(isJsonObject) : [];
  if (typeof contents.total_commits === 'number' && contents.total_commits > rows.length) {
    const read = await context.files({ ...contents, ...(await pushed(context, contents)) });
    if (read) return read;
  }
  const all: JsonObject[] = [];
  for (const row of rows) {
    const commit = await payloadCommit(context, row);
    // Without that read the row's own words are left, and nothing tells the files.
    if (!commit) return definedFields({ commits: contents.commits, head_commit: contents.head_commit });
    all.push(commit);
  }
  const head = objectAt(contents, 'head_commit');
  return definedFields({
    commits: all,
    head_commit: head ? (all.find(({ id }) => id === head.id) ?? (await payloadCommit(context, head))) : undefined,
    ...filesOf(all, contents.total_commits),
  });
}

/** A commit as deliveries tell it: its hash names its contents, so that nobody can have changed them. */
async function payloadCommit(context: ActContext, { timestamp, id }: JsonObject): Promise<JsonObject | undefined> {
  const answer = dataOf(await context.commit(String(id))) ?? null;
  const commit = objectAt(answer, 'commit');
  if (!answer || !commit) return undefined;
  const person = (role: 'author' | 'committer'): JsonObject =>
    definedFields({
      name: objectAt(commit, role)?.name,
      email: objectAt(commit, role)?.email,
      username: textAt(objectAt(answer, role), 'login'),
    });
  const files = Array.isArray(answer.files) ? answer.files.filter(isJsonObject) : [];
  const paths = (status: RegExp): string[] =>
    files.filter((file) => status.test(textAt(file, 'status'))).map((file) => textAt(file, 'filename'));
  return definedFields({
    id,
    message: commit.message,
    url: answer.html_url,
    author: person('author'),
    committer: person('committer'),
    verification: commit.verification,
    timestamp: timestamp ?? objectAt(commit, 'author')?.date,
    added: paths(/^added$/),
    modified: paths(/^(?:modified|changed)$/),
    removed: paths(/^(?:removed|deleted)$/),
  });
}

/** The repository as events tell it; null where the forge has no such read. */
export async function readRepository(context: ActContext): Promise<EventRepository | null> {
  return repositoryOf(dataOf(await context.repository()) ?? undefined);
}

/** An answer of the forge in the form in which events hold it. */
function dataOf(answer: unknown): JsonObject | undefined {
  const data = answer === null || answer === undefined ? null : readBody(stringifyJson(answer));
  return data === null || data instanceof Misfit ? undefined : data;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
