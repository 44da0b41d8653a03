import { RIGHTS } from '../core/rights.js';
import type { JsonObject } from '../core/json.js';
import type { Label } from '../core/objects/tracker.js';
import { defineAction, textOf } from './define-action.js';
import { issueLabelRecovery, wantedNames } from './issue-label.recovery.js';
import { labelsByName, scopeOf } from './support/find-labels.js';
import { changed, conflict, refused, unchanged } from './support/outcome.js';
import { id, optional, text, texts } from './support/params.js';
import { orMissing } from './support/where-offered.js';

/**
 * Labels go by number, and only where something differs: servers drop unknown names without a word (a PUT of unknown ones clears all), put
 * every label of a doubled name on, and tell a label event even for a label that is there (api-behaviour 3.2).
 */
export const labelIssue = defineAction({
  name: 'issue.label',
  summary: 'Add labels to an issue or pull request, and remove others',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the issue or pull request' }),
    add: optional(texts({ summary: 'names to add' })),
    remove: optional(texts({ summary: 'names to remove' })),
    set: optional(texts({ summary: 'exactly these names' })),
    within: optional(text({ summary: 'prefix, such as size/: of labels with this prefix only those in add stay' })),
  },
  operations: ['addIssueLabels', 'replaceIssueLabels', 'removeIssueLabel', 'listIssueLabels', 'listLabels'],
  whereOffered: ['listOrgLabels'],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  // Two wishes of other labels on one issue do not hold each other up.
  keyOf: ({ number, add, remove, set, within }) =>
    `${textOf(number)} ${JSON.stringify([names(add), names(remove), set === undefined ? null : names(set), within ?? null])}`,
  raises: ['issue.labeled', 'issue.labels_cleared', 'pull_request.labeled', 'pull_request.labels_cleared'],
  example: { number: '12', add: ['kind/bug'], remove: ['needs/triage'] },

  recover: issueLabelRecovery,

  async ensure({ target, forge, remember }, wanted) {
    const where = { owner: target.owner, repo: target.name, index: wanted.number };
    if (wanted.add === undefined && wanted.remove === undefined && wanted.set === undefined)
      return refused('none of add, remove and set is given');
    const both = (wanted.add ?? []).find((name) => wanted.remove?.includes(name));
    if (both !== undefined) return refused(`${both} is to be put on and taken off`);
    const borne = await orMissing(forge.listIssueLabels(where));
    if (borne === null) return refused(`there is no issue or pull request #${wanted.number}`);
    const now = borne.map(({ name }) => name ?? '');
    const { names: goal, added, removed } = wantedNames(wanted, now);
    if (added.length + removed.length === 0) return unchanged(`#${wanted.number} bears the labels wanted`);
    const known = await labelsByName(forge, { owner: target.owner, repo: target.name });
    const unknown = added.filter((name) => !known.has(name));
    if (unknown.length > 0) return refused(`there is no label ${unknown.join(', ')} (label.ensure makes one)`);
    const labelOf = (name: string): Label | undefined => borne.find((label) => label.name === name) ?? known.get(name);
    const rivals = rivalsIn([...new Set([...(wanted.set ?? []), ...(wanted.add ?? [])])], labelOf);
    if (rivals) return refused(`${rivals.join(' and ')} exclude each other`);
    remember({ labels: now });
    const told = `${[...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`)].join(' ')} on #${wanted.number}`;
    const numbers = (list: readonly string[]): bigint[] => list.map((name) => BigInt(labelOf(name)?.id ?? 0));
    const scopes = new Set(added.map((name) => scopeOf(labelOf(name))));
    const staying = goal.filter(
      (name) => added.includes(name) || scopeOf(labelOf(name)) === null || !scopes.has(scopeOf(labelOf(name))),
    );
    const [only] = removed;
    if (removed.length === 0)
      return judge(await forge.addIssueLabels({ ...where, body: { labels: numbers(added) } }), added, told);
    if (added.length === 0 && removed.length === 1 && now.filter((name) => name === only).length === 1) {
      await forge.removeIssueLabel({ ...where, id: labelOf(only ?? '')?.id ?? '0' });
      return changed(told);
    }
    return judge(await forge.replaceIssueLabels({ ...where, body: { labels: numbers(staying) } }), added, told);
  },
});

/** What the forge took is in its answer. */
function judge(answer: readonly Label[], added: readonly string[], told: string) {
  const missing = added.filter((name) => !answer.some((label) => label.name === name));
  return missing.length === 0 ? changed(told) : conflict(`the forge did not put on ${missing.join(', ')}`);
}

/** Two wanted labels of one exclusive scope: the forge would keep the last one. */
function rivalsIn(names: readonly string[], labelOf: (name: string) => Label | undefined): [string, string] | null {
  const byScope = new Map<string, string>();
  for (const name of names) {
    const scope = scopeOf(labelOf(name));
    if (scope === null) continue;
    const other = byScope.get(scope);
    if (other !== undefined) return [other, name];
    byScope.set(scope, name);
  }
  return null;
}

function names(value: JsonObject[string] | undefined): string[] {
  return (
    Array.isArray(value) ? value.map(String) : value === undefined || value === null ? [] : [textOf(value)]
  ).sort();
}
