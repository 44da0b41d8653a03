import { conflict, created, forbiddenEmpty, noContent, ok, Refusal, serverError } from '../answer.js';
import type { Bound } from '../body.js';
import { bind, field } from '../body.js';
import type { RepoCall } from '../guards.js';
import { doer, onRepository } from '../guards.js';
import { assign, changeBody, changeTitle, deleteIssue, makeIssue, setAssignees, setMilestone, setState, touch, unassign } from '../make/issue.js';
import { endOfDay } from '../make/milestone.js';
import { listed } from '../paging.js';
import type { Handlers } from '../registry.js';
import { renderIssue } from '../render/issue.js';
import { renderMilestone } from '../render/milestone.js';
import type { Issue } from '../world.js';
import { assignable, assigneesOf, isPoster, issueOf, labelsByIds, mayWrite, milestoneById } from './issue-of.js';
import { wantedIssues } from './issue-list.js';
import { searchedIssues } from './issue-search.js';
import { TRACKER } from '../guards.js';

const read = { units: TRACKER } as const;
const member = { units: TRACKER, login: true } as const;

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
  if (wish.content_version !== undefined && wish.content_version !== issue.contentVersion) throw conflict('the issue was changed meanwhile');
  if (wish.title) changeTitle(world, by, issue, wish.title);
  if (wish.body !== undefined) changeBody(world, by, issue, wish.body);
  if (isWriter) changeAsWriter(call, issue, wish);
  if (wish.state !== undefined) changeState(call, issue, wish.state);
  return issue;
}

function changeAsWriter(call: RepoCall, issue: Issue, wish: Change): void {
  const { world } = call;
  if (wish.ref !== undefined && wish.ref !== issue.ref) {
    issue.ref = wish.ref;
    touch(world, issue);
  }
  if (wish.due_date !== undefined || wish.unset_due_date) {
    issue.dueOn = wish.unset_due_date || wish.due_date === undefined ? 0 : endOfDay(wish.due_date, world.timeZone);
    touch(world, issue);
  }
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
function changeMilestone(call: RepoCall, issue: Issue, id: bigint): void {
  const milestone = id === 0n ? null : milestoneById(call, id);
  if (milestone === undefined) throw serverError('milestone does not exist');
  setMilestone(call.world, doer(call), issue, milestone);
}

export function changeState(call: RepoCall, issue: Issue, wanted: string): void {
  const state = stateOf(call, wanted);
  if (issue.pull && issue.pull.mergedAt !== 0) throw new Refusal(412, 'cannot change state of this pull request, it was already merged');
  setState(call.world, doer(call), issue, state);
}

function stateOf({ profile }: RepoCall, wanted: string): 'open' | 'closed' {
  if (wanted === 'open' || wanted === 'closed') return wanted;
  if (profile.tracker.unknownState === 'open') return 'open';
  throw new Refusal(profile.tracker.unknownState, `unknown state: ${wanted}`);
}

/** On some servers the milestone that an edit names still counts as before the edit. */
function renderChanged(call: RepoCall): object {
  const wanted = bind(call, changeFields).milestone;
  const milestone = wanted === undefined ? undefined : milestoneById(call, wanted);
  const before = milestone && renderMilestone(call.view, milestone);
  const after = renderIssue(call.view, change(call)) as { milestone: { id: bigint } | null };
  if (!before || after.milestone?.id !== milestone.id || !call.profile.tracker.milestoneCountsLag) return after;
  const { open_issues, closed_issues } = before;
  return { ...after, milestone: { ...after.milestone, open_issues, closed_issues } };
}

export const issueHandlers: Handlers = {
  listIssues: onRepository(read, (call) => listed(call, wantedIssues(call), (issue) => renderIssue(call.view, issue), { link: true })),
  getIssue: onRepository(read, (call) => ok(renderIssue(call.view, issueOf(call)))),
  createIssue: onRepository({ ...member, notArchived: true }, (call) => created(renderIssue(call.view, make(call)))),
  /** 201, not 200. */
  updateIssue: onRepository(member, (call) => created(renderChanged(call))),
  deleteIssue: onRepository({ level: 'admin' }, (call) => {
    deleteIssue(call.world, doer(call), issueOf(call));
    return noContent();
  }),
  searchIssues: (call) => listed(call, searchedIssues(call), (issue) => renderIssue(call.view, issue), { link: true }),
  unlockIssue: onRepository({ level: 'admin' }, (call) => {
    const issue = issueOf(call);
    issue.isLocked = false;
    touch(call.world, issue);
    return noContent();
  }),
  lockIssue: onRepository({ level: 'admin' }, (call) => {
    const issue = issueOf(call);
    issue.isLocked = true;
    touch(call.world, issue);
    return noContent();
  }),
};

export const assigneeHandlers: Handlers = {
  addIssueAssignees: onRepository(member, (call) => {
    const { assignees = [] } = bind(call, { assignees: field.texts() });
    const issue = issueOf(call);
    if (!mayWrite(call, issue)) throw forbiddenEmpty();
    for (const user of assigneesOf(call, assignees)) assign(call.world, doer(call), issue, user);
    return created(renderIssue(call.view, issue));
  }),
  removeIssueAssignees: onRepository(member, (call) => {
    const { assignees = [] } = bind(call, { assignees: field.texts() });
    const issue = issueOf(call);
    if (!mayWrite(call, issue)) throw forbiddenEmpty();
    for (const user of assigneesOf(call, assignees)) unassign(call.world, doer(call), issue, user);
    return ok(renderIssue(call.view, issue));
  }),
};
