import type { Unfit } from '../rules/language/revision.js';
import type { Given } from './define-action.js';
import { inBoth, valueOf } from './support/unfit.js';
import { say } from './reasons.js';
import { defineAction, textOf, changed, conflict, unchanged, undone, type Outcome } from './define-action.js';
import { withMark, withoutMark, normalizeColor } from './support/compare.js';
import { flag, line, optional, type ParamsOf, text, texts } from './support/params.js';
import { readAll, orMissing, whereAllowed, whereOffered } from '../forge/forge-client.js';
import { bearersOf } from './support/label-bearers.js';
import { chosenFirst, chosenOf } from './support/same-name.js';
import {
  decideExtras,
  decideNamed,
  defineRecovery,
  idsIn,
  placeOf,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { each, label } from './support/objects.js';
import type { ForgeEvent } from '../core/event.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import type { Label } from '../core/objects/tracker.js';
import { isSameName, mixedWord, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

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

interface WantedLabel {
  readonly name: string;
  readonly color: string;
  readonly description?: string | undefined;
  readonly exclusive?: boolean | undefined;
  readonly is_archived?: boolean | undefined;
  /** Names it had before, the likeliest first. */
  readonly renamed_from?: readonly string[] | undefined;
}

interface SeenLabels {
  /** Labels of this name, the organization's own included. */
  readonly bearers: readonly SeenLabel[];
}

interface SeenLabel {
  readonly id: string;
  readonly isOfRepository: boolean;
  readonly difference: string;
  readonly description: string;
  /** Whether an issue bears it; null = not looked at, or it cannot be told. */
  readonly used: boolean | null;
}

/** No key at all: servers take a second label of the same name (reliability F1), so only the list tells, and only after the settle time. */
const labelRecovery = defineRecovery<WantedLabel, SeenLabels>({
  reads: ['listLabels'],
  mayRead: ['listOrgLabels', 'listIssues'],
  settle: 'whole',
  absolute: true,
  told: {
    shownBy: (event) => labelsIn(event).map((label) => ({ name: label['name'] ?? null })),
    fits: (event, params) =>
      labelsIn(event).some(
        (label) =>
          label['name'] === params['name'] && labelDifference({ ...params, ...label } as Label, params as never) === '',
      ),
    byAnybody: true,
  },

  async read({ forge, target, snapshot }, wanted) {
    const { owner, repo } = placeOf(target);
    const own = await whereOffered(forge.listLabels, () => readAll(forge, 'listLabels', { owner, repo }));
    if (own === undefined) return null;
    const inherited = await whereAllowed(forge.listOrgLabels, () =>
      orMissing(readAll(forge, 'listOrgLabels', { org: owner })),
    );
    const isBearer = (label: Label): boolean => isSameName(label.name, wanted.name);
    const ofRepository = own.filter(isBearer);
    const fresh = ofRepository.filter(({ id }) => !idsIn(snapshot).has(id ?? ''));
    // Null where issues cannot be listed.
    const used =
      fresh.length > 1
        ? ((await whereAllowed(forge.listIssues, (listIssues) => bearersOf({ listIssues }, { owner, repo }))) ?? null)
        : null;
    return {
      bearers: [
        ...ofRepository.map((label) => seen(label, true, used === null ? null : used.has(label.id ?? ''))),
        ...(inherited ?? []).filter(isBearer).map((label) => seen(label, false, null)),
      ],
    };

    function seen(label: Label, isOfRepository: boolean, isUsed: boolean | null): SeenLabel {
      return {
        id: label.id ?? '',
        isOfRepository,
        difference: labelDifference(label, wanted),
        description: label.description ?? '',
        used: isUsed,
      };
    }
  },

  decide: decideLabel,

  sweep: {
    removal: 'deleteLabel',
    decide: ({ seen, ...facts }) =>
      decideExtras(
        'label',
        facts.wanted.name.trim(),
        facts,
        seen.bearers.filter(({ isOfRepository }) => isOfRepository),
      ),
    remove: async ({ forge, target }, id) => forge.deleteLabel?.({ ...placeOf(target), id }),
  },
});

/** What works when it runs, and means nothing. */
function unclear(given: Given): Unfit | null {
  const name = valueOf(given, 'name');
  const mixed = typeof name === 'string' ? mixedWord(name) : null;
  if (mixed !== null)
    return { reason: say('params.mixed-letters', { word: mixed }), param: 'name', isValue: true, isWarning: true };
  return valueOf(given, 'exclusive') === true && typeof name === 'string' && !name.includes('/')
    ? { reason: say('params.no-scope', { name }), param: 'exclusive', hint: `name: kind/${name}`, isWarning: true }
    : null;
}

/** Labels that an issue or pull request of the event bears: a repository has no events about its labels. */
function labelsIn({ data }: ForgeEvent): JsonObject[] {
  return ['issue', 'pull_request'].flatMap((what) => {
    const labels = (data[what] as JsonObject | undefined)?.['labels'];
    return Array.isArray(labels) ? labels.filter(isJsonObject) : [];
  });
}

export function decideLabel(facts: RecoveryFacts<WantedLabel, SeenLabels>): Verdict {
  return decideNamed('label', facts.wanted.name.trim(), facts);
}

/** The one to rename: names in the order the rule gives them. */
function ofOtherName(
  labels: readonly Label[],
  { renamed_from: names = [] }: Pick<WantedLabel, 'renamed_from'>,
): Label | undefined {
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
  keyOf: ({ name }) => objectName(textOf(name)),
  object: ({ name }) => label(name),
  names: ({ renamed_from }) => each(renamed_from, label),
  unfit: (given) => inBoth(given, 'name', 'renamed_from') ?? unclear(given),
  raises: [],
  example: { name: 'kind/bug', color: '#d73a4a', exclusive: true },

  recover: labelRecovery,

  async ensure({ target, forge, recall, lastMade, remember, mark }, wanted) {
    const { owner, name: repo } = target;
    const name = objectName(wanted.name);
    const about = { what: 'label', name };
    const own = await whereOffered(forge.listLabels, () => readAll(forge, 'listLabels', { owner, repo }));
    if (own === undefined) {
      const memory = await recall();
      if (memory?.isSameWish) return unchanged(say('found.made-before', about), memory.detail);
      if (memory) return conflict(say('found.made-otherwise', about), memory.detail);
    } else {
      const inherited = await whereAllowed(forge.listOrgLabels, () =>
        orMissing(readAll(forge, 'listOrgLabels', { org: owner })),
      );
      const bearers = [...own, ...(inherited ?? [])].filter((label) => isSameName(label.name, name));
      if (bearers.length > 0 && wanted.keep) return unchanged(say('found.there', { ...about, count: bearers.length }));
      const isAsWanted = (label: Label): boolean => labelDifference(label, wanted) === '';
      const best = chosenOf(bearers, isAsWanted);
      if (best && isAsWanted(best)) return unchanged(say('found.there', { ...about, count: bearers.length }));
      const mine = chosenOf(bearers.filter((label) => own.includes(label)));
      const there = mine ?? (best === undefined ? ofOtherName(own, wanted) : undefined);
      if (there) return edit(there, bearers);
      if (best)
        return conflict(
          say('found.other', { ...about, differs: labelDifference(best, wanted), stays: 'of-organization' }),
        );
      if (await lastMade()) return undone(say('found.undone', about));
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
    return changed(say('made.created', about), { objectId: made.id });

    async function edit(there: Label, bearers: readonly Label[]): Promise<Outcome> {
      const id = there.id ?? '';
      const before = objectName(there.name ?? '');
      const difference = labelDifference(there, wanted);
      const differs = [before === name ? '' : `renamed from ${before}`, difference]
        .filter((part) => part !== '')
        .join(', ');
      if (forge.updateLabel === undefined)
        return conflict(say('found.other', { ...about, differs, stays: 'forge-cannot' }));
      remember({ ids: bearers.map((label) => label.id ?? ''), edits: id });
      await forge.updateLabel({ owner, repo, id, body: whole(there, wanted) });
      return changed(say('made.changed', { ...about, differs, count: bearers.length }), { detail: { edited: id } });
    }
  },
});

/** Every field: what the rule says, and what is there already where it says nothing. */
function whole(there: Label, wanted: ParamsOf<typeof params>) {
  const isSameText =
    wanted.description === undefined || withoutMark(there.description) === withoutMark(wanted.description);
  return {
    name: objectName(wanted.name),
    color: `#${normalizeColor(wanted.color)}`,
    description: isSameText ? (there.description ?? '') : wanted.description,
    exclusive: wanted.exclusive ?? there.exclusive ?? false,
    is_archived: wanted.is_archived ?? there.is_archived ?? false,
  };
}
