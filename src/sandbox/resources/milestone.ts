import type { milestone as apiMilestone } from '../../core/objects/tracker.js';
import { created, notFound, ok } from '../answer.js';
import { bind, field, writtenTime } from '../body.js';
import { onRepository, type RepoCall, TRACKER } from '../guards.js';
import { shownTime, shownTimeOrNull, type Shown, type View } from '../render/view.js';
import { listed } from '../paging.js';
import type { Handlers } from '../handler.js';
import { offsetMinutes } from '../render/time.js';
import type { Issue, Repository, Seconds, World } from '../world.js';
import type { Milestone } from '../entities/repository.js';

interface MilestoneWish {
  title: string;
  description?: string | undefined;
  /** Anything but `closed` is open. */
  state?: string | undefined;
  dueOn?: Seconds | undefined;
}

/** Titles are trimmed, may be empty and need not be unique. */
export function makeMilestone(world: World, repo: Repository, wish: MilestoneWish): Milestone {
  const isClosed = wish.state === 'closed';
  const milestone: Milestone = {
    id: world.nextId('milestone'),
    repoId: repo.id,
    title: wish.title.trim(),
    description: wish.description ?? '',
    state: isClosed ? 'closed' : 'open',
    createdAt: world.now(),
    updatedAt: world.now(),
    closedAt: isClosed ? world.now() : 0,
    dueOn: wish.dueOn ?? 0,
  };
  return world.add('milestone', world.milestones, milestone);
}

/** By due date (none first), then title as bytes, then age. */
function byDueDate(a: Milestone, b: Milestone): number {
  return a.dueOn - b.dueOn || Buffer.compare(Buffer.from(a.title), Buffer.from(b.title)) || Number(a.id - b.id);
}

/** The same, but those without a due date stand last. */
function undatedLast(a: Milestone, b: Milestone): number {
  return Number(a.dueOn === 0) - Number(b.dueOn === 0) || byDueDate(a, b);
}

function issuesIn(world: World, milestone: Milestone): Issue[] {
  return [...world.issues.values()].filter((issue) => issue.milestoneId === milestone.id);
}

/** The last second, in the server's zone, of the day as the request writes it, whatever day that instant is there. */
function endOfWrittenDay(text: string, zone: string): Seconds {
  const end = Date.parse(`${text.slice(0, 10)}T23:59:59Z`) / 1000;
  const near = end - offsetMinutes(end, zone) * 60;
  return end - offsetMinutes(near, zone) * 60;
}

export function renderMilestone(view: View, milestone: Milestone): Shown<typeof apiMilestone> {
  const issues = issuesIn(view.world, milestone);
  return {
    id: milestone.id,
    title: milestone.title,
    description: milestone.description,
    state: milestone.state,
    open_issues: issues.filter((issue) => issue.state === 'open').length,
    closed_issues: issues.filter((issue) => issue.state === 'closed').length,
    created_at: shownTime(view, milestone.createdAt),
    updated_at: shownTime(view, milestone.updatedAt),
    closed_at: shownTimeOrNull(view, milestone.closedAt),
    due_on: shownTimeOrNull(view, milestone.dueOn),
  };
}

const read = {} as const;
const write = { units: TRACKER, level: 'write' } as const;
const fields = { title: field.text(), description: field.text(), state: field.text(), due_on: field.time() };

function ofRepo(call: RepoCall): Milestone[] {
  return [...call.world.milestones.values()].filter((milestone) => milestone.repoId === call.repo.id);
}

/** By number, or by title when no milestone has that number. */
function milestoneOf(call: RepoCall): Milestone {
  const wanted = call.params.id ?? '';
  const all = ofRepo(call);
  const milestone = all.find((one) => String(one.id) === wanted) ?? all.find((one) => one.title === wanted);
  if (!milestone) throw notFound();
  return milestone;
}

/** Without a `state` it depends on the server; `name` is part of the title, without regard to case. */
function wantedOf(call: RepoCall): Milestone[] {
  const { milestonesListed, undatedMilestones } = call.profile.tracker;
  const state = call.query.get('state') || milestonesListed;
  const name = (call.query.get('name') ?? '').toLowerCase();
  const isWanted = (one: Milestone): boolean =>
    state === 'all' || one.state === (state === 'closed' ? 'closed' : 'open');
  return ofRepo(call)
    .filter((one) => isWanted(one) && one.title.toLowerCase().includes(name))
    .sort(undatedMilestones === 'last' ? undatedLast : byDueDate);
}

/** An empty title is ignored. What becomes of the due date depends on the server. */
function change(call: RepoCall): Milestone {
  const { world } = call;
  const wish = bind(call, fields);
  const milestone = milestoneOf(call);
  milestone.title = wish.title || milestone.title;
  milestone.description = wish.description ?? milestone.description;
  milestone.dueOn = dueAfter(call, milestone, wish.due_on);
  if (wish.state !== undefined) {
    const isClosed = wish.state === 'closed';
    if (isClosed !== (milestone.state === 'closed')) milestone.closedAt = isClosed ? world.now() : 0;
    milestone.state = isClosed ? 'closed' : 'open';
  }
  milestone.updatedAt = world.now();
  world.changed('milestone', milestone.id, 'updated');
  return milestone;
}

function dueAfter(call: RepoCall, milestone: Milestone, wanted: Seconds | undefined): Seconds {
  if (call.profile.tracker.milestoneDue === 'kept, as sent') return wanted ?? milestone.dueOn;
  return wanted === undefined ? 0 : endOfWrittenDay(writtenTime(call, 'due_on'), call.world.timeZone);
}

function remove(call: RepoCall, milestone: Milestone): void {
  for (const issue of issuesIn(call.world, milestone)) issue.milestoneId = null;
  call.world.remove('milestone', call.world.milestones, milestone);
}

export const milestoneHandlers: Handlers = {
  createMilestone: onRepository(write, (call) => {
    const { title = '', description, state, due_on } = bind(call, fields);
    return created(
      renderMilestone(call.view, makeMilestone(call.world, call.repo, { title, description, state, dueOn: due_on })),
    );
  }),
  listMilestones: onRepository(read, (call) => listed(call, wantedOf(call), (one) => renderMilestone(call.view, one))),
  getMilestone: onRepository(read, (call) => ok(renderMilestone(call.view, milestoneOf(call)))),
  updateMilestone: onRepository(write, (call) => ok(renderMilestone(call.view, change(call)))),
  deleteMilestone: onRepository(write, (call) => remove(call, milestoneOf(call))),
};
