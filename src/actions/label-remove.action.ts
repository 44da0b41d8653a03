import { defineAction, textOf, changed, conflict, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { text } from './support/params.js';
import { readAll, whereOffered } from '../forge/forge-client.js';
import { bearersOf } from './support/label-bearers.js';
import { decideRemoval, defineRecovery, placeOf } from './support/recovery.js';
import { label } from './support/objects.js';
import { isSameName, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

/** Whether one of the name is there; taking away what is away already does no harm, so it is looked at once more before a further call. */
const labelRemoval = defineRecovery<{ readonly name: string }, boolean>({
  reads: ['listLabels'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { name }) {
    const labels = await whereOffered(forge.listLabels, () => readAll(forge, 'listLabels', placeOf(target)));
    return labels === undefined ? null : labels.some((label) => isSameName(label.name, name));
  },

  decide: ({ wanted, seen }) => decideRemoval('label', wanted.name.trim(), { seen }),
});

/** Only what was made from here is taken away again, and only while no issue bears it: whoever made or uses a label may rely on it. */
export const removeLabel = defineAction({
  name: 'label.remove',
  summary: 'Remove a label that the bot made and no issue has',
  target: 'repository',
  params: {
    name: text({
      summary: 'name, compared without spaces around it',
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
  example: { name: 'kind/chore' },

  recover: labelRemoval,

  async ensure({ target, forge, made }, wanted) {
    const where = { owner: target.owner, repo: target.name };
    const name = objectName(wanted.name);
    const bearers = (await readAll(forge, 'listLabels', where)).filter((label) => isSameName(label.name, name));
    const about = { what: 'label', name };
    if (bearers.length === 0) return unchanged(say('found.absent', about));
    const ours = await made();
    const own = bearers.find(({ id }) => ours.has(id ?? ''));
    if (!own) return conflict(say('found.not-ours', about));
    const users = (await bearersOf(forge, where)).get(own.id ?? '') ?? 0;
    if (users > 0) return conflict(say('found.in-use', { ...about, count: users }));
    await forge.deleteLabel({ ...where, id: own.id ?? '' });
    return changed(say('made.removed', about), { detail: { removed: own.id ?? '' } });
  },
});
