import { emptyOf, inBoth, noneOf, valueOf } from './support/unfit.js';
import { say } from './reasons.js';
import type { Unfit } from '../rules/language/catalogue.js';
import type { WrittenParams } from './define-action.js';
import { defineAction, textOf, changed, conflict, refused, there, toWrite, undone } from './define-action.js';
import { isAbout } from './support/compare.js';
import { flag, id, optional, text, texts, referring } from './support/params.js';
import { readAll, orMissing, whereAllowed, type ForgeClient } from '../forge/forge-client.js';
import { labelsByName, rivalsIn, scopeOf } from './support/labels-by-name.js';
import { each, issue, label } from './support/objects.js';
import type { JsonObject } from '../core/json.js';
import type { Label } from '../core/objects/tracker.js';
import { isSameName, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

interface WantedLabels {
  readonly number: string;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
  readonly set?: readonly string[] | undefined;
  readonly within?: string | undefined;
}

/** Names that are to be on an issue which bears `now`; null = as it is. The order of `now` is kept. */
function wantedNames(
  wanted: WantedLabels,
  now: readonly string[],
): { readonly names: readonly string[]; readonly added: readonly string[]; readonly removed: readonly string[] } {
  const add = [...new Set([...(wanted.set ?? []), ...(wanted.add ?? [])])];
  const isTaken = (name: string): boolean => {
    if (add.includes(name)) return false;
    if (wanted.set !== undefined || (wanted.remove ?? []).includes(name)) return true;
    return wanted.within !== undefined && name.startsWith(wanted.within);
  };
  const removed = [...new Set(now.filter(isTaken))];
  const added = add.filter((name) => !now.includes(name));
  return { names: [...now.filter((name) => !isTaken(name)), ...added], added, removed };
}

/** The wish in the spelling of the labels that are there. */
function spelled<Wish extends WantedLabels>(wanted: Wish, now: readonly string[]): Wish {
  const as = (names: readonly string[] | undefined): readonly string[] | undefined =>
    names?.map((name) => now.find((one) => isSameName(one, name)) ?? name);
  return { ...wanted, add: as(wanted.add), remove: as(wanted.remove), set: as(wanted.set) };
}

/** What the call changed is as it wanted. Gitea shows no labels at all where it took some off. */
function isShownBy(data: JsonObject, snapshot: JsonObject | null): boolean {
  const { labels } = (data['issue'] ?? data['pull_request'] ?? {}) as { labels?: unknown };
  const ofDelivery = Array.isArray(labels) ? labels.map((label) => (label as Label).name ?? '') : [];
  const [added, removed] = [names(snapshot?.['added']), names(snapshot?.['removed'])];
  if (ofDelivery.length === 0) return added.length === 0 || removed.length > 0;
  return added.every((name) => ofDelivery.includes(name)) && !removed.some((name) => ofDelivery.includes(name));
}

/** What works when it runs, and says nothing or two things. */
function unclear(inputs: WrittenParams): Unfit | null {
  if (inputs['set'] && (inputs['add'] || inputs['remove']))
    return {
      reason: say('params.alone', { param: 'set' }),
      param: 'set',
      hint: 'leave out set, or add and remove',
    };
  if (inputs['within'] && !inputs['add'])
    return { reason: say('params.needs', { param: 'within', needs: 'add' }), param: 'within' };
  const empty = emptyOf(inputs, ['add', 'remove']);
  if (empty) return { ...empty, hint: 'leave it out, or name a label' };
  const joined = ['add', 'remove', 'set'].find(
    (name) => typeof valueOf(inputs, name) === 'string' && /,\s*\S/.test(String(valueOf(inputs, name))),
  );
  return joined === undefined
    ? null
    : {
        reason: say('params.comma', { param: joined }),
        param: joined,
        isValue: true,
        isWarning: true,
        hint: `a list is written [${String(valueOf(inputs, joined))}]`,
      };
}

/**
 * Labels go by number, and only where something differs: servers drop unknown names without a word (a PUT of unknown ones clears all), put
 * every label of a doubled name on, and tell a label event even for a label that is there.
 */
export const labelIssue = defineAction({
  name: 'issue.label',
  summary: 'Add labels to an issue or pull request, and remove others',
  target: 'repository',
  params: {
    number: id('number of the issue or pull request'),
    add: referring('label', optional(texts('names to add'))),
    remove: optional(texts('names to remove')),
    set: referring('label', optional(texts('exactly these names'))),
    create: optional(flag('make labels that a policy defines, where the repository lacks them')),
    within: optional(text('prefix, such as size/: of labels with this prefix only those in add stay')),
  },
  operations: ['addIssueLabels', 'replaceIssueLabels', 'removeIssueLabel', 'listIssueLabels', 'listLabels'],
  whereOffered: ['listOrgLabels', 'listTimeline'],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  // Two wishes of other labels on one issue do not hold each other up.
  keyOf: ({ number, add, remove, set, within }) =>
    `${textOf(number)} ${JSON.stringify([names(add), names(remove), set === undefined ? null : names(set), within ?? null])}`,
  object: ({ number }) => issue(number),
  names: ({ add, remove, set }) => [add, remove, set].flatMap((list) => each(list, label)),
  unfit: (inputs) => noneOf(inputs, ['add', 'remove', 'set'], 'add: [NAME]') ?? inBoth(inputs, 'add', 'remove'),
  unclear,
  raises: ['issue.labeled', 'issue.labels_cleared', 'pull_request.labeled', 'pull_request.labels_cleared'],
  example: { number: '12', add: ['kind/bug'], remove: ['needs/triage'] },
  about: ({ number }) => ({ what: 'labels', number }),

  async look({ forge, place, lastMade, isOurs }, wanted) {
    const where = { ...place, index: wanted.number };
    const current = await orMissing(forge.listIssueLabels(where));
    const now = (current ?? []).map(({ name }) => name ?? '');
    const missing = wantedNames(spelled(wanted, now), now).added;
    const madeAt = current !== null && missing.length > 0 ? await lastMade() : null;
    const takenOff = madeAt ? await takenOffSince(forge, where, madeAt, isOurs) : new Set<string>();
    const change = changeOf(wanted, now, takenOff);
    const isDue = current !== null && !change.isLeft && change.added.length + change.removed.length > 0;
    return { current, takenOff, labels: isDue ? await labelsByName(forge, place) : new Map<string, Label>() };
  },

  compare({ wanted, seen: { current, takenOff, labels } }) {
    const { number } = wanted;
    if (current === null) return refused(say('cannot.missing', { what: 'issue or pull request', number }));
    const now = current.map(({ name }) => name ?? '');
    const { names: goal, added, removed, wish, leftOff, isLeft } = changeOf(wanted, now, takenOff);
    if (isLeft) return undone(say('found.taken-off', { number, labels: leftOff }));
    if (added.length + removed.length === 0) return there(say('found.as-wanted', { what: 'labels', number }));
    const missing = added.filter((name) => !labels.has(objectName(name)));
    if (missing.length > 0)
      return refused(say('cannot.missing', { what: 'label', name: missing.join(', '), create: 'label.ensure' }));
    const labelOf = (name: string): Label | undefined =>
      current.find((one) => one.name === name) ?? labels.get(objectName(name));
    const rivals = rivalsIn([...new Set([...(wish.set ?? []), ...(wish.add ?? [])])], labelOf);
    if (rivals) return refused(say('cannot.bear-both', { labels: rivals }));
    const scopes = new Set(added.map((name) => scopeOf(labelOf(name))));
    const staying = goal.filter(
      (name) => added.includes(name) || scopeOf(labelOf(name)) === null || !scopes.has(scopeOf(labelOf(name))),
    );
    const numbers = (names: readonly string[]): bigint[] => names.map((name) => BigInt(labelOf(name)?.id ?? 0));
    // Where its name is borne once, one label is taken off by itself.
    const isOne = added.length === 0 && removed.length === 1 && now.filter((name) => name === removed[0]).length === 1;
    return toWrite(
      { added, removed, add: numbers(added), all: numbers(staying), remove: isOne ? numbers(removed)[0] : undefined },
      { remember: { labels: now, added: [...added], removed: [...removed] } },
    );
  },

  async write({ forge, place }, { number }, { added, removed, add, all, remove }) {
    const where = { ...place, index: number };
    const summary = say('made.labels', { number, added, removed });
    if (remove !== undefined) {
      await forge.removeIssueLabel({ ...where, id: String(remove) });
      return changed(summary);
    }
    const answer = await (removed.length === 0
      ? forge.addIssueLabels({ ...where, body: { labels: add } })
      : forge.replaceIssueLabels({ ...where, body: { labels: all } }));
    // What the forge took is in its answer.
    const missing = added.filter((name) => !answer.some((one) => isSameName(one.name, name)));
    return missing.length === 0 ? changed(summary) : conflict(say('found.dropped', { labels: missing }));
  },

  recover: {
    unread: 'harmless',
    matcher: {
      echoes: ['issue.labeled', 'issue.labels_cleared', 'pull_request.labeled', 'pull_request.labels_cleared'],
      isEcho: ({ data }, { params, snapshot }) => isAbout(data, params) && isShownBy(data, snapshot),
    },
  },
});

/** What is to change, without what a person took off. `isLeft`: nothing is left to do then; of a group, whatever the person put on in its place stays too. */
function changeOf(wanted: WantedLabels, now: readonly string[], takenOff: ReadonlySet<string>) {
  const wish = spelled(wanted, now);
  const leftOff = wantedNames(wish, now).added.filter((name) => takenOff.has(name));
  const staying = without(wish, leftOff);
  const change = wantedNames(staying, now);
  const isGroup = change.removed.length === 0 || wish.within !== undefined;
  return { ...change, wish: staying, leftOff, isLeft: leftOff.length > 0 && change.added.length === 0 && isGroup };
}

/** Clocks of forge and store may differ by this much. */
const SKEW_MS = 120_000;

/** Labels that a person took off since then, by the history of the issue. Empty where the forge does not tell it, or who the bot is. */
async function takenOffSince(
  forge: Partial<Pick<ForgeClient, 'listTimeline'>>,
  where: { owner: string; repo: string; index: string },
  madeAt: Date,
  isOurs: (user: { id: string; login: string }) => boolean | null,
): Promise<ReadonlySet<string>> {
  const since = new Date(madeAt.getTime() - SKEW_MS).toISOString();
  const entries = await whereAllowed(forge.listTimeline, () =>
    orMissing(readAll(forge as Pick<ForgeClient, 'listTimeline'>, 'listTimeline', { ...where, since })),
  );
  const last = new Map<string, boolean>();
  for (const { type, label, body, user } of entries ?? []) {
    const name = label?.name;
    if (type !== 'label' || !name) continue;
    const isByPerson = isOurs({ id: user?.id ?? '', login: user?.login ?? '' }) === false;
    // The text of an entry is 1 where the label was put on, and empty where it was taken off.
    last.set(name, body !== '1' && isByPerson);
  }
  return new Set([...last].flatMap(([name, isTakenOff]) => (isTakenOff ? [name] : [])));
}

function without(wanted: WantedLabels, leftOff: readonly string[]): WantedLabels {
  const staying = (names: readonly string[] | undefined): readonly string[] | undefined =>
    names?.filter((name) => !leftOff.includes(name));
  return { ...wanted, add: staying(wanted.add), set: staying(wanted.set) };
}

function names(value: JsonObject[string] | undefined): string[] {
  return (
    Array.isArray(value) ? value.map(String) : value === undefined || value === null ? [] : [textOf(value)]
  ).sort();
}
