import { RIGHTS } from '../core/rights.js';
import type { Label } from '../forge/resources/label.js';
import { defineAction, textOf } from './define-action.js';
import { labelDifference, labelRecovery } from './label-ensure.recovery.js';
import { withMark } from './support/mark.js';
import { changed, conflict, unchanged } from './support/outcome.js';
import { flag, optional, text, type ParamsOf } from './support/params.js';
import { readAll } from './support/read-all.js';
import { normalizeColor } from './support/same.js';
import { orMissing, whereAllowed, whereOffered } from './support/where-offered.js';

const params = {
  name: text({ summary: 'name, compared without spaces around it', max: 255, check: (name) => (name.trim() === '' ? 'must not be empty' : null) }),
  color: text({ summary: 'colour as #rrggbb or #rgb', check: (color) => (normalizeColor(color) === null ? 'must be a colour such as #d73a4a' : null) }),
  description: optional(text({ summary: 'description; left out = not compared' })),
  exclusive: optional(flag({ summary: 'only one label of its scope at a time; means something only for names with a slash' })),
  is_archived: optional(flag({ summary: 'kept, but not offered any more' })),
};

/** Servers accept a second label of the same name (reliability F1), so existing ones are read first, the organization's own included. */
export const ensureLabel = defineAction({
  name: 'label.ensure',
  summary: 'Make sure the repository has a label',
  target: 'repository',
  params,
  operations: ['createLabel'],
  whereOffered: ['listLabels', 'listOrgLabels'],
  right: RIGHTS.tracker,
  naturalKey: 'name',
  keyOf: ({ name }) => textOf(name).trim(),
  raises: [],
  example: { name: 'kind/bug', color: '#d73a4a', exclusive: true },

  recover: labelRecovery,

  async ensure({ target, forge, recall, remember, mark }, wanted) {
    const { owner, name: repo } = target;
    const name = wanted.name.trim();
    const own = await whereOffered(forge.listLabels, () => readAll(forge, 'listLabels', { owner, repo }));
    if (own === undefined) {
      const memory = await recall();
      if (memory?.isSameWish) return unchanged(`label ${name} was made before (this forge lists no labels)`, memory.detail);
      if (memory) return conflict(`label ${name} was made before with other settings, and this forge can neither list nor change labels`, memory.detail);
    } else {
      const inherited = await whereAllowed(forge.listOrgLabels, () => orMissing(readAll(forge, 'listOrgLabels', { org: owner })));
      const bearers = [...own, ...(inherited ?? [])].filter((label) => label.name?.trim() === name);
      if (bearers.length > 0) return compare(name, bearers, wanted);
    }
    if (own !== undefined) remember({ ids: [] });
    const { color: _, description, ...rest } = wanted;
    const told = withMark(description, mark);
    const made = await forge.createLabel({
      owner,
      repo,
      body: { ...rest, ...(told === undefined ? {} : { description: told }), name, color: `#${normalizeColor(wanted.color)}` },
    });
    return changed(`label ${name} created`, { objectId: made.id });
  },
});

function compare(name: string, bearers: readonly Label[], wanted: ParamsOf<typeof params>) {
  const differences = bearers.map((label) => labelDifference(label, wanted));
  const others = bearers.length > 1 ? ` (${bearers.length} labels bear this name)` : '';
  if (differences.includes('')) return unchanged(`label ${name} is there${others}`);
  return conflict(`label ${name} is there with another ${differences[0]}${others}`);
}
