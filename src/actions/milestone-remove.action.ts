import { defineAction, textOf, changed, conflict, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { text } from './support/params.js';
import { readAll, whereOffered } from '../forge/forge-client.js';
import { decideRemoval, defineRecovery, placeOf } from './support/recovery.js';
import { milestone } from './support/objects.js';
import { isSameName, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

/** As with labels: the list of all milestones, closed ones included, tells. */
const milestoneRemoval = defineRecovery<{ readonly title: string }, boolean>({
  reads: ['listMilestones'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { title }) {
    const all = await whereOffered(forge.listMilestones, () =>
      readAll(forge, 'listMilestones', { ...placeOf(target), state: 'all' }),
    );
    return all === undefined ? null : all.some((milestone) => isSameName(milestone.title, title));
  },

  decide: ({ wanted, seen }) => decideRemoval('milestone', wanted.title.trim(), { seen }),
});

/** Only what was made from here is taken away again, and only while nothing belongs to it. */
export const removeMilestone = defineAction({
  name: 'milestone.remove',
  summary:
    'Make sure the repository has no milestone of a title, where that milestone was made from here and no issue belongs to it',
  target: 'repository',
  params: {
    title: text({
      summary: 'title, compared without spaces around it',
      max: 255,
      check: (title) => (title.trim() === '' ? 'must not be empty' : null),
    }),
  },
  operations: ['deleteMilestone', 'listMilestones'],
  whereOffered: [],
  sharesKeyWith: 'createMilestone',
  right: RIGHTS.tracker,
  naturalKey: 'title',
  keyOf: ({ title }) => objectName(textOf(title)),
  object: ({ title }) => milestone(title),
  names: () => [],
  overwrites: true,
  raises: [],
  example: { title: '1.4' },

  recover: milestoneRemoval,

  async ensure({ target, forge, made }, wanted) {
    const where = { owner: target.owner, repo: target.name };
    const title = objectName(wanted.title);
    const bearers = (await readAll(forge, 'listMilestones', { ...where, state: 'all' })).filter((milestone) =>
      isSameName(milestone.title, title),
    );
    const about = { what: 'milestone', name: title };
    if (bearers.length === 0) return unchanged(say('found.absent', about));
    const ours = await made();
    const own = bearers.find(({ id }) => ours.has(id ?? ''));
    if (!own) return conflict(say('found.not-ours', about));
    const issues = Number(own.open_issues ?? 0) + Number(own.closed_issues ?? 0);
    if (issues > 0) return conflict(say('found.in-use', { ...about, count: issues }));
    await forge.deleteMilestone({ ...where, id: own.id ?? '' });
    return changed(say('made.removed', about), { detail: { removed: own.id ?? '' } });
  },
});
