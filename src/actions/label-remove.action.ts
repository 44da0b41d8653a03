import { defineAction, textOf, changed, conflict, there, toWrite } from './define-action.js';
import { say } from './reasons.js';
import { text } from './support/params.js';
import { readAll } from '../forge/forge-client.js';
import { bearersOf } from './support/label-bearers.js';
import { label } from './support/objects.js';
import { isSameName, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

/** Only what was made from here is taken away again, and only while no issue bears it: whoever made or uses a label may rely on it. */
export const removeLabel = defineAction({
  name: 'label.remove',
  summary: 'Remove a label that the bot made and no issue has',
  target: 'repository',
  params: {
    name: text('name, compared without spaces around it', {
      max: 255,
      check: (name) => (name.trim() === '' ? 'must not be empty' : null),
    }),
  },
  operations: ['deleteLabel', 'listLabels', 'listIssues'],
  whereOffered: [],
  sharesKeyWith: 'createLabel',
  right: RIGHTS.tracker,
  naturalKey: 'name',
  keyOf: ({ name }) => objectName(textOf(name)),
  object: ({ name }) => label(name),
  names: () => [],
  overwrites: true,
  raises: [],
  effect: { undoes: 'label.ensure' },
  example: { name: 'kind/chore' },

  about: ({ name }) => ({ what: 'label', name: objectName(name) }),

  async look({ forge, place, made, call }, { name }) {
    const bearers = (await readAll(forge, 'listLabels', place)).filter((one) => isSameName(one.name, name));
    const ours = bearers.length === 0 || call ? new Set<string>() : await made();
    // After a lost answer only its effect is looked for: what is there still is judged before the next call.
    const own = call ? bearers[0] : bearers.find(({ id }) => ours.has(id ?? ''));
    const count = own && !call ? ((await bearersOf(forge, place)).get(own.id ?? '') ?? 0) : 0;
    return { isThere: bearers.length > 0, own, count };
  },

  compare({ wanted, seen: { isThere, own, count } }) {
    const about = { what: 'label', name: objectName(wanted.name) };
    if (!isThere) return there(say('found.absent', about));
    if (!own) return conflict(say('found.not-ours', about));
    return count > 0 ? conflict(say('found.in-use', { ...about, count })) : toWrite(own.id ?? '');
  },

  async write({ forge, place }, { name }, id) {
    await forge.deleteLabel({ ...place, id });
    return changed(say('made.removed', { what: 'label', name: objectName(name) }), { detail: { removed: id } });
  },
});
