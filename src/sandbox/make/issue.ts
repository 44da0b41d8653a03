import type { Comment, EntryDetail, Issue, Label, Milestone, Pull, Repository, Seconds, User, World } from '../world.js';
import { scopeOf } from './label.js';

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
  world.issues.set(issue.id, issue);
  world.changed(wish.pull ? 'pull' : 'issue', issue.id, 'created');
  const tellAssignees = (): void => {
    for (const assignee of wish.assignees ?? []) world.happened(by, { kind: 'issue.assigned', repo, issue, assignee });
  };
  const assignedFirst = world.habits.newIssue === 'assigned' && !wish.pull;
  if (assignedFirst) tellAssignees();
  world.happened(by, { kind: 'issue.opened', repo, issue });
  if (issue.labels.size > 0) world.happened(by, { kind: 'issue.labeled', repo, issue });
  if (wish.milestone) world.happened(by, { kind: 'issue.milestoned', repo, issue });
  if (!assignedFirst) tellAssignees();
  return issue;
}

/** Of exclusive labels of one scope the last stays. */
export function withoutRivals(labels: readonly Label[]): Label[] {
  return labels.filter((label, i) => scopeOf(label) === '' || !labels.slice(i + 1).some((later) => scopeOf(later) === scopeOf(label)));
}

export function touch(world: World, issue: Issue): void {
  issue.updatedAt = world.now();
  world.changed(issue.pull ? 'pull' : 'issue', issue.id, 'updated');
}

/** An entry of the timeline that is no text of a person. */
export function addEntry(world: World, by: User, issue: Issue, kind: Comment['kind'], detail: EntryDetail = {}, body = ''): Comment {
  const entry: Comment = {
    id: world.nextId('comment'),
    issueId: issue.id,
    kind,
    posterId: by.id,
    body,
    createdAt: world.now(),
    updatedAt: world.now(),
    assets: [],
    detail,
  };
  world.comments.set(entry.id, entry);
  return entry;
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

/** Told only when it changes. */
export function setMilestone(world: World, by: User, issue: Issue, milestone: Milestone | null): void {
  const oldMilestoneId = issue.milestoneId;
  if (oldMilestoneId === (milestone?.id ?? null)) return;
  issue.milestoneId = milestone?.id ?? null;
  touch(world, issue);
  addEntry(world, by, issue, 'milestone', { milestoneId: issue.milestoneId, oldMilestoneId });
  world.happened(by, { kind: milestone ? 'issue.milestoned' : 'issue.demilestoned', repo: world.repo(issue.repoId), issue });
}

/** Assigns those who are new, takes off those who are not named, then tells each change: every delivery shows the final set. */
export function setAssignees(world: World, by: User, issue: Issue, wanted: readonly User[]): void {
  const tells = [
    ...wanted.filter((user) => !issue.assignees.includes(user.id)).map((user) => putOn(world, by, issue, user)),
    ...issue.assignees.filter((id) => !wanted.some((user) => user.id === id)).map((id) => takeOff(world, by, issue, world.user(id))),
  ];
  for (const tell of tells) tell();
}

export function assign(world: World, by: User, issue: Issue, assignee: User): void {
  if (!issue.assignees.includes(assignee.id)) putOn(world, by, issue, assignee)();
}

export function unassign(world: World, by: User, issue: Issue, assignee: User): void {
  if (issue.assignees.includes(assignee.id)) takeOff(world, by, issue, assignee)();
}

/** @returns what tells it */
function putOn(world: World, by: User, issue: Issue, assignee: User): () => void {
  issue.assignees.push(assignee.id);
  touch(world, issue);
  addEntry(world, by, issue, 'assignees', { assigneeId: assignee.id });
  return () => world.happened(by, { kind: 'issue.assigned', repo: world.repo(issue.repoId), issue, assignee });
}

/** @returns what tells it */
function takeOff(world: World, by: User, issue: Issue, assignee: User): () => void {
  issue.assignees = issue.assignees.filter((id) => id !== assignee.id);
  touch(world, issue);
  addEntry(world, by, issue, 'assignees', { assigneeId: assignee.id, isRemoval: true });
  return () => world.happened(by, { kind: 'issue.unassigned', repo: world.repo(issue.repoId), issue, assignee });
}

/** The entry is the one that the feed refers to. */
export function setState(world: World, by: User, issue: Issue, state: 'open' | 'closed'): void {
  if (issue.state === state) return;
  issue.state = state;
  issue.closedAt = state === 'closed' ? world.now() : 0;
  touch(world, issue);
  const entry = addEntry(world, by, issue, state === 'closed' ? 'close' : 'reopen');
  world.happened(by, { kind: state === 'closed' ? 'issue.closed' : 'issue.reopened', repo: world.repo(issue.repoId), issue, entry });
}

export function deleteIssue(world: World, by: User, issue: Issue): void {
  const repo = world.repo(issue.repoId);
  world.happened(by, { kind: 'issue.deleted', repo, issue });
  world.issues.delete(issue.id);
  const comments = new Set([...world.comments.values()].filter((one) => one.issueId === issue.id).map((one) => one.id));
  for (const id of comments) world.comments.delete(id);
  for (const review of world.reviews.values()) if (review.issueId === issue.id) world.reviews.delete(review.id);
  world.changed(issue.pull ? 'pull' : 'issue', issue.id, 'deleted');
}
