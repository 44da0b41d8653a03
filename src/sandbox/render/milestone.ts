import { issuesIn } from '../make/milestone.js';
import type { Milestone } from '../world.js';
import type { View } from './view.js';
import { shownTime, shownTimeOrNull } from './view.js';

export function renderMilestone(view: View, milestone: Milestone): { open_issues: number; closed_issues: number } {
  const issues = issuesIn(view.world, milestone);
  const shown = {
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
  return shown;
}
