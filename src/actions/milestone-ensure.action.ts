import { RIGHTS } from '../core/rights.js';
import type { Milestone } from '../core/objects/tracker.js';
import { defineAction, textOf } from './define-action.js';
import { milestoneDifference, milestoneRecovery } from './milestone-ensure.recovery.js';
import { withMark, withoutMark } from './support/mark.js';
import { changed, conflict, refused, unchanged, type Outcome } from './support/outcome.js';
import { flag, markdown, optional, type ParamsOf, text, texts, time } from './support/params.js';
import { readAll } from './support/read-all.js';
import { dueTime, isSameDay } from './support/same.js';
import { whereOffered } from './support/where-offered.js';

const params = {
  title: text({
    summary: 'title, compared without spaces around it',
    max: 255,
    check: (title) => (title.trim() === '' ? 'must not be empty' : null),
  }),
  description: optional(markdown({ summary: 'description. Default: not compared' })),
  due_on: optional(time({ summary: 'due day, as a time or YYYY-MM-DD; compared by day' })),
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
  whereOffered: ['listMilestones', 'updateMilestone'],
  right: RIGHTS.tracker,
  naturalKey: 'title',
  keyOf: ({ title }) => textOf(title).trim(),
  raises: [],
  example: { title: '1.4', due_on: '2027-01-31', state: 'open' },

  recover: milestoneRecovery,

  async ensure({ target, forge, recall, remember, mark }, wanted) {
    const { owner, name: repo } = target;
    const title = wanted.title.trim();
    if (title === '') return refused('a milestone needs a title');
    // The filter by name means "contains" and ignores case: it only shortens the list.
    const named = wanted.renamed_from === undefined ? { name: title } : {};
    const found = await whereOffered(forge.listMilestones, () =>
      readAll(forge, 'listMilestones', { owner, repo, state: 'all', ...named }),
    );
    if (found === undefined) {
      const memory = await recall();
      if (memory?.isSameWish)
        return unchanged(`milestone ${title} was made before (this forge lists no milestones)`, memory.detail);
      if (memory)
        return conflict(
          `milestone ${title} was made before with other settings, and this forge can neither list nor change milestones`,
          memory.detail,
        );
    } else {
      const bearers = found.filter((milestone) => milestone.title?.trim() === title);
      if (bearers.length > 0 && wanted.keep) return unchanged(`milestone ${title} is there${countOf(bearers)}`);
      if (bearers.some((one) => milestoneDifference(one, wanted) === ''))
        return unchanged(`milestone ${title} is there${countOf(bearers)}`);
      const there = oldest(bearers) ?? ofOtherTitle(found, wanted);
      if (there) return edit(there, bearers);
    }
    if (found !== undefined) remember({ ids: [] });
    const told = withMark(wanted.description, mark);
    const made = await forge.createMilestone({
      owner,
      repo,
      body: {
        ...(told === undefined ? {} : { description: told }),
        title,
        state: wanted.state === 'closed' ? 'closed' : 'open',
        ...(wanted.due_on === undefined ? {} : { due_on: dueTime(wanted.due_on) }),
      },
    });
    return changed(`milestone ${title} created`, { objectId: made.id });

    async function edit(there: Milestone, bearers: readonly Milestone[]): Promise<Outcome> {
      const id = there.id ?? '';
      const before = there.title?.trim() ?? '';
      const told = [before === title ? '' : `renamed from ${before}`, milestoneDifference(there, wanted)]
        .filter((part) => part !== '')
        .join(', ');
      if (forge.updateMilestone === undefined)
        return conflict(`milestone ${title} is there with another ${told}, and this forge cannot change milestones`);
      remember({ ids: bearers.map((milestone) => milestone.id ?? ''), edits: id });
      await forge.updateMilestone({ owner, repo, id, body: whole(there, wanted) });
      return changed(`milestone ${title} changed: ${told}${countOf(bearers)}`, { detail: { edited: id } });
    }
  },
});

/** Every field: what the rule says, and what is there already where it says nothing. */
function whole(there: Milestone, wanted: ParamsOf<typeof params>) {
  const isSameText =
    wanted.description === undefined || withoutMark(there.description) === withoutMark(wanted.description);
  const isSameDue = wanted.due_on === undefined || isSameDay(wanted.due_on, there.due_on);
  const due = isSameDue ? there.due_on : dueTime(wanted.due_on ?? '');
  return {
    title: wanted.title.trim(),
    description: isSameText ? (there.description ?? '') : wanted.description,
    state: (wanted.state ?? there.state) === 'closed' ? ('closed' as const) : ('open' as const),
    ...(due ? { due_on: due } : {}),
  };
}

/** The one to edit where several bear the title. */
function oldest(milestones: readonly Milestone[]): Milestone | undefined {
  return [...milestones].sort((a, b) => Number(BigInt(a.id ?? 0) - BigInt(b.id ?? 0))).at(0);
}

/** The one to rename: titles in the order the rule gives them. */
function ofOtherTitle(
  found: readonly Milestone[],
  { renamed_from: titles = [] }: ParamsOf<typeof params>,
): Milestone | undefined {
  for (const old of titles) {
    const there = oldest(found.filter((milestone) => milestone.title?.trim() === old.trim()));
    if (there) return there;
  }
  return undefined;
}

function countOf(bearers: readonly Milestone[]): string {
  return bearers.length > 1 ? ` (${bearers.length} milestones bear this title)` : '';
}
