import { defineAction, textOf, changed, refused, there, toWrite, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { flag, id, optional, text, referring } from './support/params.js';
import { isAbout } from './support/compare.js';
import { chosenOf } from './support/same-name.js';
import { readAll, orMissing } from '../forge/forge-client.js';
import { ifNamed, issue, milestone } from './support/objects.js';
import type { Issue } from '../core/objects/tracker.js';
import { isSameName, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

/** Null = none. */
function titleOf(issue: Pick<Issue, 'milestone'> | null): string | null {
  return issue?.milestone?.title ? objectName(issue.milestone.title) : null;
}

function goalOf({ title }: { readonly title?: string | undefined }): string | null {
  return title === undefined ? null : objectName(title);
}

/** Milestones are found by title, closed ones too; an unknown number would be a 500. Pull requests go by the issue call. */
export const setIssueMilestone = defineAction({
  name: 'issue.milestone',
  summary: 'Set or clear the milestone of an issue or pull request',
  target: 'repository',
  params: {
    number: id('number of the issue or pull request'),
    title: referring(
      'milestone',
      optional(
        text('title of the milestone. Default: none', {
          check: (title) =>
            title.trim() === '' ? 'must not be empty; to take the milestone off, leave title out' : null,
        }),
      ),
    ),
    replace: optional(flag('replace another milestone. Default: it stays')),
  },
  operations: ['updateIssue', 'getIssue', 'listMilestones'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => `${textOf(number)} milestone`,
  object: ({ number }) => issue(number),
  names: ({ title }) => ifNamed(title, milestone),
  raises: ['issue.milestoned', 'issue.demilestoned', 'pull_request.milestoned', 'pull_request.demilestoned'],
  effect: {
    mayRaise: (kind, { title }) => kind.endsWith(title ? '.milestoned' : '.demilestoned'),
    // Without a title the milestone is taken off.
    absent: ['title'],
  },
  example: { number: '12', title: '1.5' },
  about: ({ number }) => ({ what: 'milestone', number }),

  async look({ forge, place }, { number, title, replace = title === undefined }) {
    const issue = await orMissing(forge.getIssue({ ...place, index: number }));
    const now = titleOf(issue);
    const goal = goalOf({ title });
    const isDue = issue !== null && goal !== null && now !== goal && (now === null || replace);
    const all = isDue ? await readAll(forge, 'listMilestones', { ...place, state: 'all' }) : [];
    return { isThere: issue !== null, now, milestone: chosenOf(all.filter((one) => isSameName(one.title, goal))) };
  },

  compare({ wanted: { number, title, replace = title === undefined }, seen: { isThere, now, milestone } }) {
    if (!isThere) return refused(say('cannot.missing', { what: 'issue or pull request', number }));
    const goal = goalOf({ title });
    if (now === goal) return there(say('made.milestone', { number, name: goal }));
    if (now !== null && !replace) return unchanged(say('found.milestone', { number, name: now }));
    if (goal !== null && !milestone?.id)
      return refused(say('cannot.missing', { what: 'milestone', name: goal, create: 'milestone.ensure' }));
    return toWrite(BigInt(milestone?.id ?? '0'), { remember: { before: { title: now } } });
  },

  async write({ forge, place }, { number, title }, milestone) {
    await forge.updateIssue({ ...place, index: number, body: { milestone } });
    return changed(say('made.milestone', { number, name: goalOf({ title }) }));
  },

  recover: {
    unread: 'harmless',
    absolute: true,
    matcher: {
      echoes: ['issue.milestoned', 'issue.demilestoned', 'pull_request.milestoned', 'pull_request.demilestoned'],
      isEcho: ({ kind, data }, { params }) => {
        if (!isAbout(data, params)) return false;
        if (kind.endsWith('.demilestoned')) return params['title'] === undefined;
        return titleOf((data['issue'] ?? data['pull_request'] ?? {}) as Issue) === objectName(textOf(params['title']));
      },
    },
  },
});
