import { conflict, created, forbiddenEmpty, ok, Refusal, serverError } from '../answer.js';
import { bind, type Bound, field, writtenTime } from '../body.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import { listed } from '../paging.js';
import type { Handlers } from '../handler.js';
import type { Label, Milestone, Pull, Repository, Seconds, User, World } from '../world.js';
import { addEntry } from './comment.js';
import { assignable, assigneesOf, setAssignees } from './issue-assignees.js';
import { withoutRivals } from './issue-labels.js';
import { searchedIssues, wantedIssues } from './issue-list.js';
import { mustRead, isPoster, issueOf, labelsByIds, mayWrite, milestoneById, touch } from './issue-of.js';
import { renderMilestone } from './milestone.js';
import { rfc3339 } from '../render/time.js';
import type { Issue } from '../entities/issue.js';
import { renderIssue } from './issue-view.js';

export interface IssueWish {
  title: string;
  body?: string | undefined;
  ref?: string | undefined;
  labels?: readonly Label[];
  milestone?: Milestone | undefined;
  assignees?: readonly User[];
  dueOn?: Seconds | undefined;
  pull?: Pull;
}

/** An open issue (or pull request) with the next number; told as opened, its labels, milestone and assignees one by one. */
export function makeIssue(world: World, by: User, repo: Repository, wish: IssueWish): Issue {
  repo.lastNumber += 1;
  const issue: Issue = {
    id: world.nextId('issue'),
    repoId: repo.id,
    number: repo.lastNumber,
    posterId: by.id,
    title: wish.title.trim(),
    body: wish.body ?? '',
    state: 'open',
    isLocked: false,
    ref: wish.ref ?? '',
    labels: new Set(withoutRivals(wish.labels ?? []).map((label) => label.id)),
    milestoneId: wish.milestone?.id ?? null,
    assignees: (wish.assignees ?? []).map((user) => user.id),
    createdAt: world.now(),
    updatedAt: world.now(),
    closedAt: 0,
    dueOn: wish.dueOn ?? 0,
    contentVersion: 0,
    assets: [],
    pull: wish.pull ?? null,
  };
  world.add(wish.pull ? 'pull' : 'issue', world.issues, issue);
  if (wish.milestone) addEntry(world, by, issue, 'milestone', { milestoneId: wish.milestone.id, oldMilestoneId: null });
  for (const labelId of issue.labels) addEntry(world, by, issue, 'label', { labelId });
  for (const assigneeId of issue.assignees) addEntry(world, by, issue, 'assignees', { assigneeId });
  const tellAssignees = (): void => {
    for (const assignee of wish.assignees ?? []) world.happened(by, { kind: 'issue.assigned', repo, issue, assignee });
  };
  const assignedFirst = world.quirks.newIssue === 'assigned' && !wish.pull;
  if (assignedFirst) tellAssignees();
  world.happened(by, { kind: 'issue.opened', repo, issue });
  if (issue.labels.size > 0) world.happened(by, { kind: 'issue.labeled', repo, issue });
  if (wish.milestone) world.happened(by, { kind: 'issue.milestoned', repo, issue });
  if (!assignedFirst) tellAssignees();
  return issue;
}

export function changeTitle(world: World, by: User, issue: Issue, title: string): void {
  const oldTitle = issue.title;
  if (title === oldTitle) return;
  issue.title = title;
  touch(world, issue);
  addEntry(world, by, issue, 'title', { oldTitle, newTitle: title });
  world.happened(by, { kind: 'issue.edited', repo: world.repo(issue.repoId), issue, oldTitle });
}

export function changeBody(world: World, by: User, issue: Issue, body: string): void {
  const oldBody = issue.body;
  if (body === oldBody) return;
  issue.body = body;
  issue.contentVersion += 1;
  touch(world, issue);
  world.happened(by, { kind: 'issue.edited', repo: world.repo(issue.repoId), issue, oldBody });
}

/** 0 clears. The end of a date stands in the timeline. */
export function setDueOn(world: World, by: User, issue: Issue, dueOn: Seconds): void {
  if (dueOn === 0 && issue.dueOn !== 0)
    addEntry(world, by, issue, 'deadline-removed', {}, rfc3339(issue.dueOn, world.timeZone).slice(0, 10));
  issue.dueOn = dueOn;
  touch(world, issue);
}

/** Told only when it changes. */
function setMilestone(world: World, by: User, issue: Issue, milestone: Milestone | null): void {
  const oldMilestoneId = issue.milestoneId;
  if (oldMilestoneId === (milestone?.id ?? null)) return;
  issue.milestoneId = milestone?.id ?? null;
  touch(world, issue);
  addEntry(world, by, issue, 'milestone', { milestoneId: issue.milestoneId, oldMilestoneId });
  world.happened(by, {
    kind: milestone ? 'issue.milestoned' : 'issue.demilestoned',
    repo: world.repo(issue.repoId),
    issue,
  });
}

/** The entry is the one that the feed refers to. */
export function setState(world: World, by: User, issue: Issue, state: 'open' | 'closed'): void {
  if (issue.state === state) return;
  issue.state = state;
  issue.closedAt = state === 'closed' ? world.now() : 0;
  touch(world, issue);
  const entry = addEntry(world, by, issue, state === 'closed' ? 'close' : 'reopen');
  world.happened(by, {
    kind: state === 'closed' ? 'issue.closed' : 'issue.reopened',
    repo: world.repo(issue.repoId),
    issue,
    entry,
  });
}

function deleteIssue(world: World, by: User, issue: Issue): void {
  const repo = world.repo(issue.repoId);
  world.happened(by, { kind: 'issue.deleted', repo, issue });
  world.issues.delete(issue.id);
  const comments = new Set([...world.comments.values()].filter((one) => one.issueId === issue.id).map((one) => one.id));
  for (const id of comments) world.comments.delete(id);
  for (const review of world.reviews.values()) if (review.issueId === issue.id) world.reviews.delete(review.id);
  world.changed(issue.pull ? 'pull' : 'issue', issue.id, 'deleted');
}

const read = { part: 'tracker' } as const;
const member = { part: 'tracker', login: true } as const;

const wishFields = {
  title: field.text({ required: true }),
  body: field.text(),
  ref: field.text(),
  assignee: field.text(),
  assignees: field.texts(),
  due_date: field.time(),
  milestone: field.id(),
  labels: field.ids(),
  closed: field.flag(),
};

const changeFields = {
  title: field.text(),
  body: field.text(),
  ref: field.text(),
  assignee: field.text(),
  assignees: field.texts(),
  milestone: field.id(),
  state: field.text(),
  due_date: field.time(),
  unset_due_date: field.flag(),
  content_version: field.int(),
};

/** Labels, milestone, assignees and date of a caller who may not write are ignored without a word. */
function make(call: RepoCall): Issue {
  const { world } = call;
  const wish = bind(call, wishFields);
  const isWriter = mayWrite(call, { pull: null });
  const names = [...(wish.assignees ?? []), ...(wish.assignee ? [wish.assignee] : [])];
  const issue = makeIssue(world, doer(call), call.repo, {
    title: wish.title ?? '',
    body: wish.body,
    ref: wish.ref,
    ...(isWriter
      ? {
          labels: labelsByIds(call, wish.labels ?? []),
          milestone: wish.milestone === undefined ? undefined : milestoneById(call, wish.milestone),
          assignees: assigneesOf(call, names),
          dueOn: wish.due_date === undefined ? undefined : wish.due_date,
        }
      : {}),
  });
  if (wish.closed) setState(world, doer(call), issue, 'closed');
  return issue;
}

type Change = Bound<typeof changeFields>;

/** Whoever wrote it may change title, text and state; the rest needs the right to write. */
function change(call: RepoCall): Issue {
  const { world } = call;
  const by = doer(call);
  const wish = bind(call, changeFields);
  const issue = issueOf(call);
  const isWriter = mayWrite(call, issue);
  if (!isWriter && !isPoster(call, issue.posterId)) throw forbiddenEmpty();
  const isStale = wish.content_version !== undefined && wish.content_version !== issue.contentVersion;
  if (isStale && call.profile.tracker.staleEdit === 'refused') throw conflict('the issue is already changed');
  if (wish.title) changeTitle(world, by, issue, wish.title);
  if (wish.body !== undefined) changeBody(world, by, issue, wish.body);
  if (isWriter) changeAsWriter(call, issue, wish);
  if (wish.state !== undefined) changeState(call, issue, wish.state);
  return issue;
}

/** The last second of the day as the request writes it, in the offset that it writes. */
function endOfDay(text: string): Seconds {
  return Date.parse(text.replace(/T\d\d:\d\d:\d\d(\.\d+)?/, 'T23:59:59')) / 1000;
}

function changeAsWriter(call: RepoCall, issue: Issue, wish: Change): void {
  const { world } = call;
  if (wish.ref !== undefined && wish.ref !== issue.ref) {
    issue.ref = wish.ref;
    touch(world, issue);
  }
  if (wish.unset_due_date) setDueOn(world, doer(call), issue, 0);
  else if (wish.due_date !== undefined) setDueOn(world, doer(call), issue, endOfDay(writtenTime(call, 'due_date')));
  const names = wish.assignees ?? (wish.assignee ? [wish.assignee] : undefined);
  if (names) {
    const users = names.map((name) => assignable(call, name));
    if (users.includes(undefined)) throw serverError('user does not exist');
    setAssignees(
      world,
      doer(call),
      issue,
      users.filter((user) => user !== undefined),
    );
  }
  if (wish.milestone !== undefined) changeMilestone(call, issue, wish.milestone);
}

/** 0 clears; an unknown one is 500, as on a real server. */
export function changeMilestone(call: RepoCall, issue: Issue, id: bigint): void {
  const milestone = id === 0n ? null : milestoneById(call, id);
  if (milestone === undefined) throw serverError('milestone does not exist');
  setMilestone(call.world, doer(call), issue, milestone);
}

export function changeState(call: RepoCall, issue: Issue, wanted: string): void {
  const state = stateOf(call, wanted);
  if (issue.pull && issue.pull.mergedAt !== 0)
    throw new Refusal(412, 'cannot change state of this pull request, it was already merged');
  setState(call.world, doer(call), issue, state);
}

function stateOf({ profile }: RepoCall, wanted: string): 'open' | 'closed' {
  if (wanted === 'open' || wanted === 'closed') return wanted;
  if (profile.tracker.unknownState === 'open') return 'open';
  throw new Refusal(profile.tracker.unknownState, `unknown state: ${wanted}`);
}

/** On some servers the milestone that a call names still counts as before it. */
function renderAfter(call: RepoCall, act: (call: RepoCall) => Issue): object {
  const wanted = bind(call, changeFields).milestone;
  const milestone = wanted === undefined ? undefined : milestoneById(call, wanted);
  const before = milestone && renderMilestone(call.view, milestone);
  const after = renderIssue(call.view, act(call)) as { milestone: { id: bigint } | null };
  if (!before || after.milestone?.id !== milestone.id || !call.profile.tracker.milestoneCountsLag) return after;
  const { open_issues, closed_issues } = before;
  return { ...after, milestone: { ...after.milestone, open_issues, closed_issues } };
}

function lock(call: RepoCall, isLocked: boolean): void {
  const issue = issueOf(call);
  issue.isLocked = isLocked;
  touch(call.world, issue);
}

export const issueHandlers: Handlers = {
  listIssues: onRepository(read, (call) =>
    listed(call, wantedIssues(call), (issue) => renderIssue(call.view, issue), { link: true }),
  ),
  getIssue: onRepository(read, (call) => ok(renderIssue(call.view, mustRead(call, issueOf(call))))),
  createIssue: onRepository({ ...member, units: ['repo.issues'], notArchived: true }, (call) =>
    created(renderAfter(call, make)),
  ),
  /** 201, not 200. */
  updateIssue: onRepository(member, (call) => created(renderAfter(call, change))),
  deleteIssue: onRepository({ level: 'admin' }, (call) => deleteIssue(call.world, doer(call), issueOf(call))),
  searchIssues: (call) => listed(call, searchedIssues(call), (issue) => renderIssue(call.view, issue), { link: true }),
  unlockIssue: onRepository({ level: 'admin' }, (call) => lock(call, false)),
  lockIssue: onRepository({ level: 'admin' }, (call) => lock(call, true)),
};
