import type { Unfit } from '../rules/language/catalogue.js';
import type { WrittenParams } from './define-action.js';
import { inBoth, valueOf } from './support/unfit.js';
import { say } from './reasons.js';
import { defineAction, textOf, changed, conflict, there, toWrite, unchanged, type Decision } from './define-action.js';
import { bearsMark, withMark, withoutMark, normalizeColor } from './support/compare.js';
import { flag, line, optional, type ParamsOf, text, texts } from './support/params.js';
import { readAll, orMissing, whereAllowed } from '../forge/forge-client.js';
import { bearersOf } from './support/label-bearers.js';
import { chosenFirst, chosenOf, differenceOf, idsOf } from './support/same-name.js';
import { idsIn, placeOf, shownWithIssues } from './support/recovery.js';
import { each, label } from './support/objects.js';
import type { Label } from '../core/objects/tracker.js';
import { isSameName, mixedWord, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

/** A column of this width on PostgreSQL and MySQL. */
const MAX_DESCRIPTION = 255;

const params = {
  name: text('name, compared without spaces around it', {
    max: 255,
    check: (name) => (name.trim() === '' ? 'must not be empty' : null),
  }),
  color: text('colour as #rrggbb or #rgb', {
    check: (color) => (normalizeColor(color) === null ? 'must be a colour such as #d73a4a' : null),
  }),
  description: optional(line('description. Default: not compared', { max: MAX_DESCRIPTION })),
  exclusive: optional(flag('only one label of its scope at a time; means something only for names with a slash')),
  is_archived: optional(flag('archived: kept, but no longer offered')),
  renamed_from: optional(
    texts('earlier names: the bot renames a label of such a name when this one does not exist; issues keep it', {
      max: 20,
    }),
  ),
  keep: optional(flag('leave an existing label of this name alone')),
};

type WantedLabel = ParamsOf<typeof params>;

interface LabelChange {
  /** Null = a new one. */
  readonly existing: Label | null;
  readonly differs: string;
  /** How many labels bear the name. */
  readonly count: number;
}

/**
 * Servers accept a second label of the same name: only the list tells, the organization's own included, and after a lost answer only once
 * the settle time is over. What differs is edited, and sent whole: a field that is left out may be set back by the server (`is_archived`).
 */
export const ensureLabel = defineAction({
  name: 'label.ensure',
  summary: 'Make sure the repository has a label, with these settings',
  target: 'repository',
  params,
  operations: ['createLabel'],
  whereOffered: ['listLabels', 'listOrgLabels', 'updateLabel'],
  looksBy: ['listLabels'],
  readsAfterCall: ['listIssues'],
  right: RIGHTS.tracker,
  naturalKey: 'name',
  keyOf: ({ name }) => objectName(textOf(name)),
  object: ({ name }) => label(name),
  names: ({ renamed_from }) => each(renamed_from, label),
  unclear: (inputs) => inBoth(inputs, 'name', 'renamed_from') ?? unclear(inputs),
  raises: [],
  effect: { makes: { kind: 'label', param: 'name' } },
  example: { name: 'kind/bug', color: '#d73a4a', exclusive: true },
  about: ({ name }) => ({ what: 'label', name: objectName(name) }),

  async look({ forge, place, call }, { name }) {
    const own = await readAll(forge, 'listLabels', place);
    const inherited = await whereAllowed(forge.listOrgLabels, () =>
      orMissing(readAll(forge, 'listOrgLabels', { org: place.owner })),
    );
    const isFresh = (one: Label): boolean => isSameName(one.name, name) && !idsIn(call?.snapshot).has(one.id ?? '');
    const uses =
      call !== null && own.filter(isFresh).length > 1
        ? await whereAllowed(forge.listIssues, (listIssues) => bearersOf({ listIssues }, place))
        : undefined;
    // Uses: null = not looked at, or issues cannot be listed.
    return { own, inherited: inherited ?? [], uses: uses ?? null };
  },

  compare({ wanted, seen }): Decision<LabelChange> {
    if (seen === undefined) return toWrite({ existing: null, differs: '', count: 0 }, { makes: true });
    const { own, inherited } = seen;
    const bearers = [...own, ...inherited].filter((one) => isSameName(one.name, wanted.name));
    const about = { what: 'label', name: objectName(wanted.name), count: bearers.length };
    const isAsWanted = (one: Label): boolean => labelDifference(one, wanted) === '';
    const best = chosenOf(bearers, isAsWanted);
    if (best && isAsWanted(best)) return there(say('found.there', about), { ids: idsOf(bearers.filter(isAsWanted)) });
    if (best && wanted.keep) return unchanged(say('found.there', about));
    const mine = chosenOf(bearers.filter((one) => own.includes(one)));
    const existing = mine ?? (best === undefined ? ofOtherName(own, wanted) : undefined);
    if (best && !existing) {
      return conflict(
        say('found.other', { ...about, differs: labelDifference(best, wanted), stays: 'of-organization' }),
      );
    }
    const count = bearers.length;
    if (!existing) return toWrite({ existing: null, differs: '', count }, { makes: true, remember: { ids: [] } });
    const differs = differenceOf(existing.name, wanted.name, labelDifference(existing, wanted));
    const edits = existing.id ?? '';
    return toWrite({ existing, differs, count }, { edits, differs, remember: { ids: idsOf(bearers), edits } });
  },

  async write({ forge, place, mark }, wanted, { existing, differs, count }) {
    const name = objectName(wanted.name);
    const about = { what: 'label', name };
    if (existing !== null) {
      const id = existing.id ?? '';
      if (!forge.updateLabel) return conflict(say('found.other', { ...about, count, differs, stays: 'forge-cannot' }));
      await forge.updateLabel({ ...place, id, body: whole(existing, wanted) });
      return changed(say('made.changed', { ...about, differs, count }), { detail: { edited: id } });
    }
    const { renamed_from: _was, keep: _keep, ...rest } = wanted;
    const description = withMark(wanted.description, mark, MAX_DESCRIPTION);
    const body = { ...rest, ...(description === undefined ? {} : { description }), name, color: colorOf(wanted) };
    const made = await forge.createLabel({ ...place, body });
    return changed(say('made.created', about), { objectId: made.id });
  },

  recover: {
    absolute: true,
    unread: 'doubled',
    // A repository has no events about its labels.
    matcher: shownWithIssues('labels', 'name', (ofEvent, wanted) =>
      labelDifference(ofEvent as Label, wanted as unknown as WantedLabel),
    ),
    duplicates: {
      removal: 'deleteLabel',
      list: ({ own, uses }, { name }, mark) =>
        own
          .filter((one) => isSameName(one.name, name))
          .map(({ id, description }) => ({
            id: id ?? '',
            isRemovable: bearsMark(description, mark) && uses !== null && !uses.has(id ?? ''),
          })),
      remove: async ({ forge, target }, id) => forge.deleteLabel?.({ ...placeOf(target), id }),
    },
  },
});

/** What works when it runs, and means nothing. */
function unclear(inputs: WrittenParams): Unfit | null {
  const name = valueOf(inputs, 'name');
  const mixed = typeof name === 'string' ? mixedWord(name) : null;
  if (mixed !== null)
    return { reason: say('params.mixed-letters', { word: mixed }), param: 'name', isValue: true, isWarning: true };
  return valueOf(inputs, 'exclusive') === true && typeof name === 'string' && !name.includes('/')
    ? { reason: say('params.no-scope', { name }), param: 'exclusive', hint: `name: kind/${name}`, isWarning: true }
    : null;
}

/** The one to rename: names in the order the rule gives them. */
function ofOtherName(labels: readonly Label[], { renamed_from: names = [] }: WantedLabel): Label | undefined {
  return names.flatMap((old): Label[] => chosenFirst(labels.filter((label) => isSameName(label.name, old)))).at(0);
}

/** Names of the fields that differ; empty = it is as wanted. */
function labelDifference(label: Label, wanted: WantedLabel): string {
  return [
    normalizeColor(label.color ?? '') === normalizeColor(wanted.color) ? '' : `color (${label.color ?? 'none'})`,
    wanted.description === undefined || withoutMark(label.description) === withoutMark(wanted.description)
      ? ''
      : 'description',
    wanted.exclusive === undefined || (label.exclusive ?? false) === wanted.exclusive ? '' : 'exclusive',
    wanted.is_archived === undefined || (label.is_archived ?? false) === wanted.is_archived ? '' : 'is_archived',
  ]
    .filter((field) => field !== '')
    .join(', ');
}

/** Every field: what the rule says, and what is there already where it says nothing. */
function whole(there: Label, wanted: WantedLabel) {
  const isSameText =
    wanted.description === undefined || withoutMark(there.description) === withoutMark(wanted.description);
  return {
    name: objectName(wanted.name),
    color: colorOf(wanted),
    description: isSameText ? (there.description ?? '') : wanted.description,
    exclusive: wanted.exclusive ?? there.exclusive ?? false,
    is_archived: wanted.is_archived ?? there.is_archived ?? false,
  };
}

function colorOf({ color }: WantedLabel): string {
  return `#${normalizeColor(color)}`;
}
