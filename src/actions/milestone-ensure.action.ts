import { inBoth } from './support/unfit.js';
import { say } from './reasons.js';
import { defineAction, textOf, changed, conflict, there, toWrite, unchanged, type Decision } from './define-action.js';
import { bearsMark, withMark, withoutMark, dueTime, isSameDay } from './support/compare.js';
import { flag, markdown, optional, type ParamsOf, text, texts, time } from './support/params.js';
import { readAll, whereOffered } from '../forge/forge-client.js';
import { chosenFirst, chosenOf, differenceOf, idsOf } from './support/same-name.js';
import { placeOf, shownWithIssues } from './support/recovery.js';
import { each, milestone } from './support/objects.js';
import type { Milestone } from '../core/objects/tracker.js';
import { isSameName, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

const params = {
  title: text('title, compared without spaces around it', {
    max: 255,
    check: (title) => (title.trim() === '' ? 'must not be empty' : null),
  }),
  description: optional(markdown('description. Default: not compared')),
  due_on: optional(
    time('due day, as a time or YYYY-MM-DD; the day as it is written counts, in the zone of the server'),
  ),
  state: optional(
    text('open or closed. Default: open for a new one, not compared', {
      check: (state) => (/^(open|closed)$/.test(state) ? null : 'must be open or closed'),
    }),
  ),
  renamed_from: optional(
    texts('titles it had before: where one of them is there and this one is not, it is renamed, and issues keep it', {
      max: 20,
    }),
  ),
  keep: optional(flag('leave an existing milestone of this title alone')),
};

type WantedMilestone = ParamsOf<typeof params>;

interface MilestoneChange {
  /** Null = a new one. */
  readonly existing: Milestone | null;
  readonly differs: string;
  /** How many milestones bear the title. */
  readonly count: number;
  readonly timeOfServer: string | null | undefined;
}

/**
 * Servers trim the title and accept a second milestone of the same title, as with labels; closed ones hide unless asked for. What differs
 * is edited, and sent whole: an edit without a due date clears it.
 */
export const ensureMilestone = defineAction({
  name: 'milestone.ensure',
  summary: 'Make sure the repository has a milestone, with these settings',
  target: 'repository',
  params,
  operations: ['createMilestone'],
  whereOffered: ['listMilestones', 'updateMilestone', 'getRepo'],
  looksBy: ['listMilestones'],
  right: RIGHTS.tracker,
  naturalKey: 'title',
  keyOf: ({ title }) => objectName(textOf(title)),
  object: ({ title }) => milestone(title),
  names: ({ renamed_from }) => each(renamed_from, milestone),
  unclear: (inputs) => inBoth(inputs, 'title', 'renamed_from'),
  raises: [],
  effect: { makes: { kind: 'milestone', param: 'title' } },
  example: { title: '1.4', due_on: '2027-01-31', state: 'open' },
  about: ({ title }) => ({ what: 'milestone', name: objectName(title) }),

  // No filter by name: each kind of database reads `%`, `\` and the case of letters in it in its own way.
  look: ({ forge, place }) => readAll(forge, 'listMilestones', { ...place, state: 'all' }),

  compare({ wanted, seen }): Decision<MilestoneChange> {
    // Any time that the server writes tells its zone.
    const timeOfServer = seen?.[0]?.updated_at;
    if (seen === undefined) return toWrite({ existing: null, differs: '', count: 0, timeOfServer }, { makes: true });
    const bearers = seen.filter(({ title }) => isSameName(title, wanted.title));
    const count = bearers.length;
    const about = { what: 'milestone', name: objectName(wanted.title), count };
    const isAsWanted = (one: Milestone): boolean => milestoneDifference(one, wanted) === '';
    const best = chosenOf(bearers, isAsWanted);
    if (best && isAsWanted(best)) return there(say('found.there', about), { ids: idsOf(bearers.filter(isAsWanted)) });
    if (best && wanted.keep) return unchanged(say('found.there', about));
    const existing = best ?? ofOtherTitle(seen, wanted);
    if (!existing) {
      const remember = { ids: [] };
      return toWrite({ existing: null, differs: '', count, timeOfServer }, { makes: true, remember });
    }
    const differs = differenceOf(existing.title, wanted.title, milestoneDifference(existing, wanted));
    const edits = existing.id ?? '';
    const remember = { ids: idsOf(bearers), edits };
    return toWrite({ existing, differs, count, timeOfServer }, { edits, differs, remember });
  },

  async write({ forge, place, mark }, wanted, { existing, differs, count, timeOfServer }) {
    const title = objectName(wanted.title);
    const about = { what: 'milestone', name: title };
    if (existing !== null) {
      const id = existing.id ?? '';
      if (!forge.updateMilestone)
        return conflict(say('found.other', { ...about, count, differs, stays: 'forge-cannot' }));
      await forge.updateMilestone({ ...place, id, body: whole(existing, wanted) });
      return changed(say('made.changed', { ...about, differs, count }), { detail: { edited: id } });
    }
    const description = withMark(wanted.description, mark);
    const body = {
      ...(description === undefined ? {} : { description }),
      title,
      state: wanted.state === 'closed' ? ('closed' as const) : ('open' as const),
      ...(wanted.due_on === undefined ? {} : { due_on: dueTime(wanted.due_on, await shownTime()) }),
    };
    const made = await forge.createMilestone({ ...place, body });
    return changed(say('made.created', about), { objectId: made.id });

    /** Of the repository, where no milestone shows one. */
    async function shownTime(): Promise<string | null | undefined> {
      return timeOfServer ?? (await whereOffered(forge.getRepo, (get) => get(place)))?.updated_at;
    }
  },

  recover: {
    absolute: true,
    unread: 'doubled',
    matcher: shownWithIssues('milestone', 'title', (ofEvent, wanted) =>
      milestoneDifference(ofEvent as Milestone, wanted as unknown as WantedMilestone),
    ),
    duplicates: {
      removal: 'deleteMilestone',
      list: (seen, { title }, mark) =>
        seen
          .filter((one) => isSameName(one.title, title))
          .map((one) => ({
            id: one.id ?? '',
            isRemovable:
              bearsMark(one.description, mark) && Number(one.open_issues ?? 0) + Number(one.closed_issues ?? 0) === 0,
          })),
      remove: async ({ forge, target }, id) => forge.deleteMilestone?.({ ...placeOf(target), id }),
    },
  },
});

/** Names of the fields that differ; empty = it is as wanted. */
function milestoneDifference(milestone: Milestone, wanted: WantedMilestone): string {
  return [
    wanted.state === undefined || milestone.state === wanted.state ? '' : `state (${milestone.state ?? 'none'})`,
    wanted.due_on === undefined || isSameDay(wanted.due_on, milestone.due_on)
      ? ''
      : `due_on (${milestone.due_on ?? 'none'})`,
    wanted.description === undefined || withoutMark(milestone.description) === withoutMark(wanted.description)
      ? ''
      : 'description',
  ]
    .filter((field) => field !== '')
    .join(', ');
}

/** Every field: what the rule says, and what is there already where it says nothing. */
function whole(there: Milestone, wanted: WantedMilestone) {
  const isSameText =
    wanted.description === undefined || withoutMark(there.description) === withoutMark(wanted.description);
  const isSameDue = wanted.due_on === undefined || isSameDay(wanted.due_on, there.due_on);
  const due = isSameDue ? there.due_on : dueTime(wanted.due_on ?? '', there.due_on ?? there.updated_at);
  return {
    title: objectName(wanted.title),
    description: isSameText ? (there.description ?? '') : wanted.description,
    state: (wanted.state ?? there.state) === 'closed' ? ('closed' as const) : ('open' as const),
    ...(due ? { due_on: due } : {}),
  };
}

/** The one to rename: titles in the order the rule gives them. */
function ofOtherTitle(
  all: readonly Milestone[],
  { renamed_from: titles = [] }: WantedMilestone,
): Milestone | undefined {
  return titles.flatMap((old) => chosenFirst(all.filter(({ title }) => isSameName(title, old)))).at(0);
}
