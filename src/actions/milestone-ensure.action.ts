import { inBoth } from './support/unfit.js';
import { say } from './reasons.js';
import { defineAction, textOf, changed, conflict, unchanged, undone, type Outcome } from './define-action.js';
import { withMark, withoutMark, dueTime, isSameDay } from './support/compare.js';
import { flag, markdown, optional, type ParamsOf, text, texts, time } from './support/params.js';
import { readAll, whereOffered } from '../forge/forge-client.js';
import { chosenOf } from './support/same-name.js';
import {
  decideExtras,
  decideNamed,
  defineRecovery,
  placeOf,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { each, milestone } from './support/objects.js';
import type { ForgeEvent } from '../core/event.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import type { Milestone } from '../core/objects/tracker.js';
import { isSameName, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

const params = {
  title: text({
    summary: 'title, compared without spaces around it',
    max: 255,
    check: (title) => (title.trim() === '' ? 'must not be empty' : null),
  }),
  description: optional(markdown({ summary: 'description. Default: not compared' })),
  due_on: optional(
    time({ summary: 'due day, as a time or YYYY-MM-DD; the day as it is written counts, in the zone of the server' }),
  ),
  state: optional(
    text({
      summary: 'open or closed. Default: open for a new one, not compared',
      check: (state) => (/^(open|closed)$/.test(state) ? null : 'must be open or closed'),
    }),
  ),
  renamed_from: optional(
    texts({
      summary:
        'titles it had before: where one of them is there and this one is not, it is renamed, and issues keep it',
      max: 20,
    }),
  ),
  keep: optional(flag({ summary: 'leave an existing milestone of this title alone' })),
};

interface WantedMilestone {
  readonly title: string;
  readonly description?: string | undefined;
  readonly due_on?: string | undefined;
  readonly state?: string | undefined;
  /** Titles it had before, the likeliest first. */
  readonly renamed_from?: readonly string[] | undefined;
}

interface SeenMilestones {
  /** Milestones of this title, open or closed. */
  readonly bearers: readonly {
    readonly id: string;
    readonly difference: string;
    readonly description: string;
    readonly used: boolean | null;
  }[];
}

/** No key: as with labels, only the list of all milestones, closed ones included, tells (reliability F2). */
const milestoneRecovery = defineRecovery<WantedMilestone, SeenMilestones>({
  reads: ['listMilestones'],
  mayRead: [],
  settle: 'whole',
  absolute: true,
  told: {
    shownBy: (event) => milestonesIn(event).map((milestone) => ({ title: milestone['title'] ?? null })),
    fits: (event, params) =>
      milestonesIn(event).some(
        (one) =>
          one['title'] === params['title'] &&
          milestoneDifference({ ...params, ...one } as Milestone, params as never) === '',
      ),
    byAnybody: true,
  },

  async read({ forge, target }, wanted) {
    const title = objectName(wanted.title);
    const found = await whereOffered(forge.listMilestones, () =>
      readAll(forge, 'listMilestones', { ...placeOf(target), state: 'all' }),
    );
    if (found === undefined) return null;
    const bearers = found.filter((milestone) => isSameName(milestone.title, title));
    return {
      bearers: bearers.map((milestone) => ({
        id: milestone.id ?? '',
        difference: milestoneDifference(milestone, wanted),
        description: milestone.description ?? '',
        used: Number(milestone.open_issues ?? 0) + Number(milestone.closed_issues ?? 0) > 0,
      })),
    };
  },

  decide: decideMilestone,

  sweep: {
    removal: 'deleteMilestone',
    decide: ({ seen, ...facts }) => decideExtras('milestone', facts.wanted.title.trim(), facts, seen.bearers),
    remove: async ({ forge, target }, id) => forge.deleteMilestone?.({ ...placeOf(target), id }),
  },
});

export function decideMilestone(facts: RecoveryFacts<WantedMilestone, SeenMilestones>): Verdict {
  return decideNamed('milestone', facts.wanted.title.trim(), facts);
}

/** Of the issue or pull request of the event. */
function milestonesIn({ data }: ForgeEvent): JsonObject[] {
  return ['issue', 'pull_request'].flatMap((what) => {
    const milestone = (data[what] as JsonObject | undefined)?.['milestone'] ?? null;
    return isJsonObject(milestone) ? [milestone] : [];
  });
}

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

/**
 * Servers trim the title and accept a second milestone of the same title (reliability F2); closed ones hide unless asked for. What differs
 * is edited, and sent whole: an edit without a due date clears it.
 */
export const ensureMilestone = defineAction({
  name: 'milestone.ensure',
  summary: 'Make sure the repository has a milestone, with these settings',
  target: 'repository',
  params,
  operations: ['createMilestone'],
  whereOffered: ['listMilestones', 'updateMilestone', 'getRepo'],
  right: RIGHTS.tracker,
  naturalKey: 'title',
  keyOf: ({ title }) => objectName(textOf(title)),
  object: ({ title }) => milestone(title),
  names: ({ renamed_from }) => each(renamed_from, milestone),
  unfit: (given) => inBoth(given, 'title', 'renamed_from'),
  raises: [],
  example: { title: '1.4', due_on: '2027-01-31', state: 'open' },

  recover: milestoneRecovery,

  async ensure({ target, forge, recall, lastMade, remember, mark }, wanted) {
    const { owner, name: repo } = target;
    const title = objectName(wanted.title);
    const about = { what: 'milestone', name: title };
    // No filter by name: each kind of database reads `%`, `\` and the case of letters in it in its own way.
    const found = await whereOffered(forge.listMilestones, () =>
      readAll(forge, 'listMilestones', { owner, repo, state: 'all' }),
    );
    if (found === undefined) {
      const memory = await recall();
      if (memory?.isSameWish) return unchanged(say('found.made-before', about), memory.detail);
      if (memory) return conflict(say('found.made-otherwise', about), memory.detail);
    } else {
      const bearers = found.filter((milestone) => isSameName(milestone.title, title));
      if (bearers.length > 0 && wanted.keep) return unchanged(say('found.there', { ...about, count: bearers.length }));
      const isAsWanted = (one: Milestone): boolean => milestoneDifference(one, wanted) === '';
      const best = chosenOf(bearers, isAsWanted);
      if (best && isAsWanted(best)) return unchanged(say('found.there', { ...about, count: bearers.length }));
      const there = best ?? ofOtherTitle(found, wanted);
      if (there) return edit(there, bearers);
      if (await lastMade()) return undone(say('found.undone', about));
    }
    if (found !== undefined) remember({ ids: [] });
    const told = withMark(wanted.description, mark);
    const due = wanted.due_on === undefined ? undefined : dueTime(wanted.due_on, await timeOfServer());
    const made = await forge.createMilestone({
      owner,
      repo,
      body: {
        ...(told === undefined ? {} : { description: told }),
        title,
        state: wanted.state === 'closed' ? 'closed' : 'open',
        ...(due === undefined ? {} : { due_on: due }),
      },
    });
    return changed(say('made.created', about), { objectId: made.id });

    /** Any time that the server writes tells its zone; of a repository, where no milestone shows one. */
    async function timeOfServer(): Promise<string | null | undefined> {
      const [known] = found ?? [];
      return known?.updated_at ?? (await whereOffered(forge.getRepo, (get) => get({ owner, repo })))?.updated_at;
    }

    async function edit(there: Milestone, bearers: readonly Milestone[]): Promise<Outcome> {
      const id = there.id ?? '';
      const before = objectName(there.title ?? '');
      const differs = [before === title ? '' : `renamed from ${before}`, milestoneDifference(there, wanted)]
        .filter((part) => part !== '')
        .join(', ');
      if (forge.updateMilestone === undefined)
        return conflict(say('found.other', { ...about, differs, stays: 'forge-cannot' }));
      remember({ ids: bearers.map((milestone) => milestone.id ?? ''), edits: id });
      await forge.updateMilestone({ owner, repo, id, body: whole(there, wanted) });
      return changed(say('made.changed', { ...about, differs, count: bearers.length }), { detail: { edited: id } });
    }
  },
});

/** Every field: what the rule says, and what is there already where it says nothing. */
function whole(there: Milestone, wanted: ParamsOf<typeof params>) {
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
  found: readonly Milestone[],
  { renamed_from: titles = [] }: ParamsOf<typeof params>,
): Milestone | undefined {
  for (const old of titles) {
    const there = chosenOf(found.filter((milestone) => isSameName(milestone.title, old)));
    if (there) return there;
  }
  return undefined;
}
