import { RIGHTS } from '../core/rights.js';
import type { Label } from '../core/objects/tracker.js';
import { defineAction, textOf } from './define-action.js';
import { labelDifference, labelRecovery, ofOtherName } from './label-ensure.recovery.js';
import { withMark, withoutMark } from './support/mark.js';
import { changed, conflict, unchanged, type Outcome } from './support/outcome.js';
import { flag, line, optional, type ParamsOf, text, texts } from './support/params.js';
import { readAll } from './support/read-all.js';
import { normalizeColor } from './support/same.js';
import { orMissing, whereAllowed, whereOffered } from './support/where-offered.js';

const params = {
  name: text({
    summary: 'name, compared without spaces around it',
    max: 255,
    check: (name) => (name.trim() === '' ? 'must not be empty' : null),
  }),
  color: text({
    summary: 'colour as #rrggbb or #rgb',
    check: (color) => (normalizeColor(color) === null ? 'must be a colour such as #d73a4a' : null),
  }),
  description: optional(line({ summary: 'description. Default: not compared', max: 255 })),
  exclusive: optional(
    flag({ summary: 'only one label of its scope at a time; means something only for names with a slash' }),
  ),
  is_archived: optional(flag({ summary: 'archived: kept, but no longer offered' })),
  renamed_from: optional(
    texts({
      summary: 'earlier names: the bot renames a label of such a name when this one does not exist; issues keep it',
      max: 20,
    }),
  ),
  keep: optional(flag({ summary: 'leave an existing label of this name alone' })),
};

/**
 * Servers accept a second label of the same name (reliability F1), so existing ones are read first, the organization's own included. What
 * differs is edited, and sent whole: a field that is left out may be set back by the server (`is_archived`).
 */
export const ensureLabel = defineAction({
  name: 'label.ensure',
  summary: 'Make sure the repository has a label, with these settings',
  target: 'repository',
  params,
  operations: ['createLabel'],
  whereOffered: ['listLabels', 'listOrgLabels', 'updateLabel'],
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
      if (memory?.isSameWish)
        return unchanged(`label ${name} was made before (this forge lists no labels)`, memory.detail);
      if (memory)
        return conflict(
          `label ${name} was made before with other settings, and this forge can neither list nor change labels`,
          memory.detail,
        );
    } else {
      const inherited = await whereAllowed(forge.listOrgLabels, () =>
        orMissing(readAll(forge, 'listOrgLabels', { org: owner })),
      );
      const bearers = [...own, ...(inherited ?? [])].filter((label) => label.name?.trim() === name);
      if (bearers.length > 0 && wanted.keep) return unchanged(`label ${name} is there${countOf(bearers)}`);
      if (bearers.some((label) => labelDifference(label, wanted) === ''))
        return unchanged(`label ${name} is there${countOf(bearers)}`);
      const mine = own.filter((label) => label.name?.trim() === name);
      const there = mine.length > 0 ? oldest(mine) : bearers.length > 0 ? undefined : ofOtherName(own, wanted);
      if (there) return edit(there, bearers);
      if (bearers.length > 0)
        return conflict(
          `label ${name} is one of the organization, with another ${labelDifference(oldest(bearers), wanted)}`,
        );
    }
    if (own !== undefined) remember({ ids: [] });
    const { color: _, description, renamed_from: _was, keep: _keep, ...rest } = wanted;
    const told = withMark(description, mark);
    const made = await forge.createLabel({
      owner,
      repo,
      body: {
        ...rest,
        ...(told === undefined ? {} : { description: told }),
        name,
        color: `#${normalizeColor(wanted.color)}`,
      },
    });
    return changed(`label ${name} created`, { objectId: made.id });

    async function edit(there: Label, bearers: readonly Label[]): Promise<Outcome> {
      const id = there.id ?? '';
      const before = there.name?.trim() ?? '';
      const difference = labelDifference(there, wanted);
      const told = [before === name ? '' : `renamed from ${before}`, difference]
        .filter((part) => part !== '')
        .join(', ');
      if (forge.updateLabel === undefined)
        return conflict(`label ${name} is there with another ${told}, and this forge cannot change labels`);
      remember({ ids: bearers.map((label) => label.id ?? ''), edits: id });
      await forge.updateLabel({ owner, repo, id, body: whole(there, wanted) });
      return changed(`label ${name} changed: ${told}${countOf(bearers)}`, { detail: { edited: id } });
    }
  },
});

/** Every field: what the rule says, and what is there already where it says nothing. */
function whole(there: Label, wanted: ParamsOf<typeof params>) {
  const isSameText =
    wanted.description === undefined || withoutMark(there.description) === withoutMark(wanted.description);
  return {
    name: wanted.name.trim(),
    color: `#${normalizeColor(wanted.color)}`,
    description: isSameText ? (there.description ?? '') : wanted.description,
    exclusive: wanted.exclusive ?? there.exclusive ?? false,
    is_archived: wanted.is_archived ?? there.is_archived ?? false,
  };
}

/** The one to edit where several bear the name. There is at least one. */
function oldest(labels: readonly Label[]): Label {
  return labels.reduce((first, label) => (BigInt(label.id ?? 0) < BigInt(first.id ?? 0) ? label : first));
}

function countOf(bearers: readonly Label[]): string {
  return bearers.length > 1 ? ` (${bearers.length} labels bear this name)` : '';
}
