import type { ForgeEvent } from '../core/event.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import type { Milestone } from '../core/objects/tracker.js';
import { decideExtras, editedIn } from './label-ensure.recovery.js';
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
  type Verdict,
} from './support/recovery.js';
import { isSameDay } from './support/same.js';
import { whereOffered } from './support/where-offered.js';

export interface WantedMilestone {
  readonly title: string;
  readonly description?: string | undefined;
  readonly due_on?: string | undefined;
  readonly state?: string | undefined;
  /** Titles it had before, the likeliest first. */
  readonly renamed_from?: readonly string[] | undefined;
}

export interface SeenMilestones {
  /** Milestones of this title, open or closed. */
  readonly bearers: readonly {
    readonly id: string;
    readonly difference: string;
    readonly description: string;
    readonly used: boolean | null;
  }[];
}

/** No key: as with labels, only the list of all milestones, closed ones included, tells (reliability F2). */
export const milestoneRecovery = defineRecovery<WantedMilestone, SeenMilestones>({
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
    const title = wanted.title.trim();
    const found = await whereOffered(forge.listMilestones, () =>
      readAll(forge, 'listMilestones', { ...placeOf(target), state: 'all', name: title }),
    );
    if (found === undefined) return null;
    const bearers = found.filter((milestone) => milestone.title?.trim() === title);
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

export function decideMilestone({ wanted, snapshot, seen }: RecoveryFacts<WantedMilestone, SeenMilestones>): Verdict {
  const title = wanted.title.trim();
  if (seen === null) return askPerson(`this forge lists no milestones, and would take a second milestone ${title}`);
  if (seen.bearers.length === 0) return resend(`milestone ${title} is not there`);
  const fit = seen.bearers.find(({ difference }) => difference === '');
  const edited = editedIn(snapshot);
  if (edited !== null) {
    if (fit)
      return fit.id === edited
        ? done(`milestone ${title} is as wanted`, { detail: { edited } })
        : settledAs('unchanged', `milestone ${title} is there`);
    return resend(`milestone ${title} is not as wanted: ${seen.bearers[0]?.difference ?? ''}`);
  }
  if (!fit)
    return settledAs(
      'conflict',
      `milestone ${title} is there with another ${seen.bearers[0]?.difference ?? 'setting'}`,
    );
  if (!seen.bearers.some(({ id, difference }) => difference === '' && !idsIn(snapshot).has(id)))
    return settledAs('unchanged', `milestone ${title} was there before the call`);
  return done(`milestone ${title} is there`, { objectId: fit.id });
}

/** Of the issue or pull request of the event. */
function milestonesIn({ data }: ForgeEvent): JsonObject[] {
  return ['issue', 'pull_request'].flatMap((what) => {
    const milestone = (data[what] as JsonObject | undefined)?.['milestone'] ?? null;
    return isJsonObject(milestone) ? [milestone] : [];
  });
}

/** Names of the fields that differ; empty = it is as wanted. */
export function milestoneDifference(milestone: Milestone, wanted: WantedMilestone): string {
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
