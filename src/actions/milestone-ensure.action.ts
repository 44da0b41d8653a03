import { RIGHTS } from '../core/rights.js';
import type { Milestone } from '../forge/resources/milestone.js';
import { defineAction, textOf } from './define-action.js';
import { milestoneDifference, milestoneRecovery } from './milestone-ensure.recovery.js';
import { withMark } from './support/mark.js';
import { changed, conflict, refused, unchanged } from './support/outcome.js';
import { optional, text, time, type ParamsOf } from './support/params.js';
import { readAll } from './support/read-all.js';
import { dueTime } from './support/same.js';
import { whereOffered } from './support/where-offered.js';

const params = {
  title: text({ summary: 'title, compared without spaces around it', max: 255, check: (title) => (title.trim() === '' ? 'must not be empty' : null) }),
  description: optional(text({ summary: 'description; left out = not compared' })),
  due_on: optional(time({ summary: 'due day, as a time or as YYYY-MM-DD; compared by day' })),
  state: optional(
    text({
      summary: 'open or closed; left out = open when made, not compared',
      check: (state) => (/^(open|closed)$/.test(state) ? null : 'must be open or closed'),
    }),
  ),
};

/** Servers trim the title and accept a second milestone of the same title (reliability F2); closed ones hide unless asked for. */
export const ensureMilestone = defineAction({
  name: 'milestone.ensure',
  summary: 'Make sure the repository has a milestone',
  target: 'repository',
  params,
  operations: ['createMilestone'],
  whereOffered: ['listMilestones'],
  right: RIGHTS.tracker,
  naturalKey: 'title',
  keyOf: ({ title }) => textOf(title).trim(),
  raises: [],
  example: { title: '1.4', due_on: '2027-01-31', state: 'open' },

  recover: milestoneRecovery,

  async ensure({ target, forge, recall, remember, mark }, wanted) {
    const { owner, name: repo } = target;
    const title = wanted.title.trim();
    if (title === '') return refused('a milestone needs a title');
    // The filter by name means "contains" and ignores case: it only shortens the list.
    const found = await whereOffered(forge.listMilestones, () => readAll(forge, 'listMilestones', { owner, repo, state: 'all', name: title }));
    if (found === undefined) {
      const memory = await recall();
      if (memory?.isSameWish) return unchanged(`milestone ${title} was made before (this forge lists no milestones)`, memory.detail);
      if (memory)
        return conflict(`milestone ${title} was made before with other settings, and this forge can neither list nor change milestones`, memory.detail);
    } else {
      const bearers = found.filter((milestone) => milestone.title?.trim() === title);
      if (bearers.length > 0) return compare(title, bearers, wanted);
    }
    if (found !== undefined) remember({ ids: [] });
    const told = withMark(wanted.description, mark);
    const made = await forge.createMilestone({
      owner,
      repo,
      body: {
        ...wanted,
        ...(told === undefined ? {} : { description: told }),
        title,
        state: wanted.state === 'closed' ? 'closed' : 'open',
        ...(wanted.due_on === undefined ? {} : { due_on: dueTime(wanted.due_on) }),
      },
    });
    return changed(`milestone ${title} created`, { objectId: made.id });
  },
});

function compare(title: string, bearers: readonly Milestone[], wanted: ParamsOf<typeof params>) {
  const differences = bearers.map((milestone) => milestoneDifference(milestone, wanted));
  const others = bearers.length > 1 ? ` (${bearers.length} milestones bear this title)` : '';
  if (differences.includes('')) return unchanged(`milestone ${title} is there${others}`);
  return conflict(`milestone ${title} is there with another ${differences[0]}${others}`);
}
