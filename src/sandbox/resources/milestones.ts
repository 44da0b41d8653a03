import { created, noContent, notFound, ok } from '../answer.js';
import { bind, field } from '../body.js';
import type { RepoCall } from '../guards.js';
import { onRepository } from '../guards.js';
import { byDueDate, endOfDay, undatedLast, issuesIn, makeMilestone } from '../make/milestone.js';
import { listed } from '../paging.js';
import type { Handlers } from '../registry.js';
import { renderMilestone } from '../render/milestone.js';
import type { Milestone } from '../world.js';
import { TRACKER } from '../guards.js';

const read = { units: TRACKER } as const;
const write = { units: TRACKER, level: 'write' } as const;
const fields = { title: field.text(), description: field.text(), state: field.text(), due_on: field.time() };

function ofRepo(call: RepoCall): Milestone[] {
  return [...call.world.milestones.values()].filter((milestone) => milestone.repoId === call.repo.id);
}

/** By number, or by title when no milestone has that number. */
function milestoneOf(call: RepoCall): Milestone {
  const wanted = call.params.id ?? '';
  const all = ofRepo(call);
  const found = all.find((one) => String(one.id) === wanted) ?? all.find((one) => one.title === wanted);
  if (!found) throw notFound();
  return found;
}

/** Without a `state` it depends on the server; `name` is part of the title, without regard to case. */
function wantedOf(call: RepoCall): Milestone[] {
  const { milestonesListed, undatedMilestones } = call.profile.tracker;
  const state = call.query.get('state') || milestonesListed;
  const name = (call.query.get('name') ?? '').toLowerCase();
  const isWanted = (one: Milestone): boolean => state === 'all' || one.state === (state === 'closed' ? 'closed' : 'open');
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

function dueAfter({ profile, world }: RepoCall, milestone: Milestone, wanted: number | undefined): number {
  if (profile.tracker.milestoneDue === 'kept, as sent') return wanted ?? milestone.dueOn;
  return wanted === undefined ? 0 : endOfDay(wanted, world.timeZone);
}

function remove(call: RepoCall, milestone: Milestone): void {
  for (const issue of issuesIn(call.world, milestone)) issue.milestoneId = null;
  call.world.milestones.delete(milestone.id);
  call.world.changed('milestone', milestone.id, 'deleted');
}

export const milestoneHandlers: Handlers = {
  createMilestone: onRepository(write, (call) => {
    const { title = '', description, state, due_on } = bind(call, fields);
    return created(renderMilestone(call.view, makeMilestone(call.world, call.repo, { title, description, state, dueOn: due_on })));
  }),
  listMilestones: onRepository(read, (call) => listed(call, wantedOf(call), (one) => renderMilestone(call.view, one))),
  getMilestone: onRepository(read, (call) => ok(renderMilestone(call.view, milestoneOf(call)))),
  updateMilestone: onRepository(write, (call) => ok(renderMilestone(call.view, change(call)))),
  deleteMilestone: onRepository(write, (call) => {
    remove(call, milestoneOf(call));
    return noContent();
  }),
};
