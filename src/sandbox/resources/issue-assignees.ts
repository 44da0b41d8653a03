import { created, forbiddenEmpty, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import { canRead, permissionOn } from '../permissions.js';
import type { Handlers } from '../handler.js';
import type { Issue, User, World } from '../world.js';
import { addEntry } from './comment.js';
import { issueOf, mayWrite, touch } from './issue-of.js';
import { renderIssue } from './issue-view.js';

const member = { part: 'tracker', login: true } as const;

/** Assigns those who are new, takes off those who are not named, then tells each change: every delivery shows the final set. */
export function setAssignees(world: World, by: User, issue: Issue, named: readonly User[]): void {
  const wanted = world.quirks.assigneesOfOneEdit === 'by user' ? [...named].sort((a, b) => Number(a.id - b.id)) : named;
  const tells = [
    ...wanted.filter((user) => !issue.assignees.includes(user.id)).map((user) => putOn(world, by, issue, user)),
    ...issue.assignees
      .filter((id) => !wanted.some((user) => user.id === id))
      .map((id) => takeOff(world, by, issue, world.user(id))),
  ];
  for (const tell of tells) tell();
}

function assign(world: World, by: User, issue: Issue, assignee: User): void {
  if (!issue.assignees.includes(assignee.id)) putOn(world, by, issue, assignee)();
}

function unassign(world: World, by: User, issue: Issue, assignee: User): void {
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

/** Somebody who can be assigned here; undefined otherwise. */
export function assignable(call: RepoCall, name: string): User | undefined {
  const user = call.world.userByName(name);
  if (!user) return undefined;
  const permission = permissionOn(call.world, user, call.repo);
  return canRead(permission, 'repo.issues') || canRead(permission, 'repo.pulls') ? user : undefined;
}

/** @throws Refusal 422 for somebody unknown */
export function assigneesOf(call: RepoCall, names: readonly string[]): User[] {
  return names.map((name) => {
    const user = assignable(call, name);
    if (!user) throw unprocessable(`Assignee does not exist: [name: ${name}]`);
    return user;
  });
}

function changeAssignees(call: RepoCall, one: typeof assign): object {
  const { assignees = [] } = bind(call, { assignees: field.texts() });
  const issue = issueOf(call);
  if (!mayWrite(call, issue)) throw forbiddenEmpty();
  for (const user of assigneesOf(call, assignees)) one(call.world, doer(call), issue, user);
  return renderIssue(call.view, issue);
}

export const assigneeHandlers: Handlers = {
  addIssueAssignees: onRepository(member, (call) => created(changeAssignees(call, assign))),
  removeIssueAssignees: onRepository(member, (call) => ok(changeAssignees(call, unassign))),
};
