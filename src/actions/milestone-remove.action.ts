import { defineAction, textOf, changed, conflict, there, toWrite } from './define-action.js';
import { say } from './reasons.js';
import { text } from './support/params.js';
import { readAll } from '../forge/forge-client.js';
import { milestone } from './support/objects.js';
import { isSameName, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

/** Only what was made from here is taken away again, and only while nothing belongs to it. */
export const removeMilestone = defineAction({
  name: 'milestone.remove',
  summary:
    'Make sure the repository has no milestone of a title, where that milestone was made from here and no issue belongs to it',
  target: 'repository',
  params: {
    title: text('title, compared without spaces around it', {
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
  effect: { undoes: 'milestone.ensure' },
  example: { title: '1.4' },

  about: ({ title }) => ({ what: 'milestone', name: objectName(title) }),

  async look({ forge, place, made, call }, { title }) {
    const all = await readAll(forge, 'listMilestones', { ...place, state: 'all' });
    const bearers = all.filter((one) => isSameName(one.title, title));
    const ours = bearers.length === 0 || call ? new Set<string>() : await made();
    // After a lost answer only its effect is looked for: what is there still is judged before the next call.
    const own = call ? bearers[0] : bearers.find(({ id }) => ours.has(id ?? ''));
    return { isThere: bearers.length > 0, own };
  },

  compare({ wanted, seen: { isThere, own }, call }) {
    const about = { what: 'milestone', name: objectName(wanted.title) };
    if (!isThere) return there(say('found.absent', about));
    if (!own) return conflict(say('found.not-ours', about));
    const count = Number(own.open_issues ?? 0) + Number(own.closed_issues ?? 0);
    return count > 0 && !call ? conflict(say('found.in-use', { ...about, count })) : toWrite(own.id ?? '');
  },

  async write({ forge, place }, { title }, id) {
    await forge.deleteMilestone({ ...place, id });
    return changed(say('made.removed', { what: 'milestone', name: objectName(title) }), { detail: { removed: id } });
  },
});
