import { offsetMinutes } from '../render/time.js';
import type { Issue, Milestone, Repository, Seconds, World } from '../world.js';

export interface MilestoneWish {
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
  world.milestones.set(milestone.id, milestone);
  world.changed('milestone', milestone.id, 'created');
  return milestone;
}

/** By due date (none first), then title as bytes, then age. */
export function byDueDate(a: Milestone, b: Milestone): number {
  return a.dueOn - b.dueOn || Buffer.compare(Buffer.from(a.title), Buffer.from(b.title)) || Number(a.id - b.id);
}

/** The same, but those without a due date stand last. */
export function undatedLast(a: Milestone, b: Milestone): number {
  return Number(a.dueOn === 0) - Number(b.dueOn === 0) || byDueDate(a, b);
}

export function issuesIn(world: World, milestone: Milestone): Issue[] {
  return [...world.issues.values()].filter((issue) => issue.milestoneId === milestone.id);
}

/** The last second of the day in the server's zone: an edit moves a due date there. */
export function endOfDay(at: Seconds, zone: string): Seconds {
  const offset = offsetMinutes(at, zone) * 60;
  const local = at + offset;
  const end = local - (local % 86_400) + 86_399;
  return end - offsetMinutes(end - offset, zone) * 60;
}
