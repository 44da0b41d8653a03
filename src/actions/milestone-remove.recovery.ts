import { decideRemoval } from './label-remove.recovery.js';
import { readAll } from './support/read-all.js';
import { defineRecovery, placeOf } from './support/recovery.js';
import { whereOffered } from './support/where-offered.js';

/** As with labels: the list of all milestones, closed ones included, tells. */
export const milestoneRemoval = defineRecovery<{ readonly title: string }, boolean>({
  reads: ['listMilestones'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { title }) {
    const all = await whereOffered(forge.listMilestones, () =>
      readAll(forge, 'listMilestones', { ...placeOf(target), state: 'all' }),
    );
    return all === undefined ? null : all.some((milestone) => milestone.title?.trim() === title.trim());
  },

  decide: ({ wanted, seen }) => decideRemoval('milestone', wanted.title.trim(), { seen }),
});
