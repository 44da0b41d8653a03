import type { ForgeEvent } from '../core/event.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import type { Label } from '../core/objects/tracker.js';
import { withoutMark } from './support/mark.js';
import { readAll } from './support/read-all.js';
import {
  askPerson,
  defineRecovery,
  done,
  idsIn,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Surplus,
  type Verdict,
} from './support/recovery.js';
import { normalizeColor } from './support/same.js';
import { orMissing, whereAllowed, whereOffered } from './support/where-offered.js';

export interface WantedLabel {
  readonly name: string;
  readonly color: string;
  readonly description?: string | undefined;
  readonly exclusive?: boolean | undefined;
  readonly is_archived?: boolean | undefined;
  /** Names it had before, the likeliest first. */
  readonly renamed_from?: readonly string[] | undefined;
}

export interface SeenLabels {
  /** Labels of this name, the organization's own included. */
  readonly bearers: readonly SeenLabel[];
}

export interface SeenLabel {
  readonly id: string;
  readonly isOfRepository: boolean;
  readonly difference: string;
  readonly description: string;
  /** Whether an issue bears it; null = not looked at, or it cannot be told. */
  readonly used: boolean | null;
}

/** No key at all: servers take a second label of the same name (reliability F1), so only the list tells, and only after the settle time. */
export const labelRecovery = defineRecovery<WantedLabel, SeenLabels>({
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
    const isBearer = (label: Label): boolean => label.name?.trim() === wanted.name.trim();
    const ofRepository = own.filter(isBearer);
    const fresh = ofRepository.filter(({ id }) => !idsIn(snapshot).has(id ?? ''));
    const used = fresh.length > 1 ? await usedLabels() : null;
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

    /** Ids of labels on the issues that bear this name; null where issues cannot be listed. */
    async function usedLabels(): Promise<Set<string> | null> {
      const issues = await whereAllowed(forge.listIssues, () =>
        readAll(forge, 'listIssues', { owner, repo, state: 'all', labels: wanted.name.trim() }),
      );
      if (issues === undefined) return null;
      return new Set(issues.flatMap((issue) => (issue.labels ?? []).map((label) => label.id ?? '')));
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

/** Labels that an issue or pull request of the event bears: a repository has no events about its labels. */
function labelsIn({ data }: ForgeEvent): JsonObject[] {
  return ['issue', 'pull_request'].flatMap((what) => {
    const labels = (data[what] as JsonObject | undefined)?.['labels'];
    return Array.isArray(labels) ? labels.filter(isJsonObject) : [];
  });
}

export function decideLabel({ wanted, snapshot, seen }: RecoveryFacts<WantedLabel, SeenLabels>): Verdict {
  const name = wanted.name.trim();
  if (seen === null) return askPerson(`this forge lists no labels, and would take a second label ${name}`);
  if (seen.bearers.length === 0) return resend(`label ${name} is not there`);
  const fit = seen.bearers.find(({ difference }) => difference === '');
  const edited = editedIn(snapshot);
  if (edited !== null) {
    if (fit)
      return fit.id === edited
        ? done(`label ${name} is as wanted`, { detail: { edited } })
        : settledAs('unchanged', `label ${name} is there`);
    return resend(`label ${name} is not as wanted: ${seen.bearers[0]?.difference ?? ''}`);
  }
  if (!fit)
    return settledAs('conflict', `label ${name} is there with another ${seen.bearers[0]?.difference ?? 'setting'}`);
  if (!seen.bearers.some(({ id, difference }) => difference === '' && !idsIn(snapshot).has(id)))
    return settledAs('unchanged', `label ${name} was there before the call`);
  return done(`label ${name} is there`, { objectId: fit.id });
}

/** Number of what the call was to change; null = it was to make one. */
export function editedIn(snapshot: JsonObject | null): string | null {
  const id = snapshot?.['edits'];
  return typeof id === 'string' ? id : null;
}

/** The one to rename: names in the order the rule gives them. */
export function ofOtherName(
  labels: readonly Label[],
  { renamed_from: names = [] }: Pick<WantedLabel, 'renamed_from'>,
): Label | undefined {
  return names
    .flatMap((old) =>
      labels.filter((label) => label.name?.trim() === old.trim()).sort((a, b) => compareIds(a.id ?? '', b.id ?? '')),
    )
    .at(0);
}

export interface Extra {
  readonly id: string;
  readonly description: string;
  readonly used: boolean | null;
}

/** Two of ours: the oldest stays; a younger one goes when it bears our mark and nobody uses it, else a person is told. */
export function decideExtras(
  what: string,
  name: string,
  { snapshot, mark, marks }: { snapshot: RecoveryFacts<unknown, unknown>['snapshot']; mark: string; marks: boolean },
  bearers: readonly Extra[],
): Surplus {
  const known = idsIn(snapshot);
  const fresh = bearers.filter(({ id }) => !known.has(id)).sort((a, b) => compareIds(a.id, b.id));
  if (fresh.length < 2) return { is: 'fine' };
  const younger = fresh.slice(1);
  const removable = younger.filter(({ description, used }) => marks && description.endsWith(mark) && used === false);
  if (removable.length === younger.length) {
    return {
      is: 'remove',
      reason: `${fresh.length} ${what}s ${name} appeared; the younger bears our mark and is not used`,
      ids: removable.map(({ id }) => id),
    };
  }
  return {
    is: 'alert',
    reason: `${fresh.length} ${what}s ${name} appeared (numbers ${fresh.map(({ id }) => id).join(', ')}): keep one, delete the others`,
  };
}

function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** Names of the fields that differ; empty = it is as wanted. */
export function labelDifference(label: Label, wanted: WantedLabel): string {
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
