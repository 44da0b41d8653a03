import { defineEnsuringAction, textOf, changed, refused, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { flag, id, optional, text } from './support/params.js';
import { isAbout } from './support/compare.js';
import { chosenOf } from './support/same-name.js';
import { readAll, orMissing, whereOffered } from '../forge/forge-client.js';
import {
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { given, issue, milestone } from './support/objects.js';
import type { Issue } from '../core/objects/tracker.js';
import { isSameName, objectName } from '../core/object-name.js';
import { RIGHTS } from '../core/rights.js';

interface WantedMilestoneOf {
  readonly number: string;
  /** Undefined = none. */
  readonly title?: string | undefined;
}

interface SeenMilestoneOf {
  readonly there: boolean;
  /** Null = none. */
  readonly title: string | null;
}

function titleOf(issue: Pick<Issue, 'milestone'>): string | null {
  return issue.milestone?.title ? objectName(issue.milestone.title) : null;
}

/** One field of one issue, absolute. */
const issueMilestoneRecovery = defineRecovery<WantedMilestoneOf, SeenMilestoneOf>({
  reads: ['getIssue'],
  mayRead: [],
  settle: 'whole',
  absolute: true,
  told: {
    echoes: ['issue.milestoned', 'issue.demilestoned', 'pull_request.milestoned', 'pull_request.demilestoned'],
    isEcho: ({ kind, data }, { params }) => {
      if (!isAbout(data, params)) return false;
      if (kind.endsWith('.demilestoned')) return params['title'] === undefined;
      return titleOf((data['issue'] ?? data['pull_request'] ?? {}) as Issue) === objectName(textOf(params['title']));
    },
  },

  async read({ forge, target }, { number }) {
    const issue = await whereOffered(forge.getIssue, (get) => orMissing(get({ ...placeOf(target), index: number })));
    return issue === undefined ? null : { there: issue !== null, title: issue === null ? null : titleOf(issue) };
  },

  decide: decideIssueMilestone,
});

function decideIssueMilestone({ wanted, snapshot, seen }: RecoveryFacts<WantedMilestoneOf, SeenMilestoneOf>): Verdict {
  const goal = wanted.title === undefined ? null : objectName(wanted.title);
  const about = { what: 'milestone', number: wanted.number };
  if (seen === null) return resend(say('found.unreadable', { ...about, then: 'harmless' }));
  if (!seen.there) return settledAs('refused', say('found.gone', { ...about, what: 'issue' }));
  if (seen.title === goal) return done(say('made.milestone', { number: wanted.number, name: goal }));
  if (snapshot !== null && seen.title !== (snapshot['title'] ?? null))
    return settledAs('conflict', say('found.changed-meanwhile', about));
  return resend(say('found.not-yet', about));
}

/** Milestones are found by title, closed ones too; an unknown number would be a 500 (api-behaviour 3.4). Pull requests go by the issue call. */
export const setIssueMilestone = defineEnsuringAction({
  name: 'issue.milestone',
  summary: 'Set or clear the milestone of an issue or pull request',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the issue or pull request' }),
    title: optional(
      text({
        summary: 'title of the milestone. Default: none',
        check: (title) =>
          title.trim() === '' ? 'must not be empty; to take the milestone off, leave title out' : null,
      }),
    ),
    replace: optional(flag({ summary: 'replace another milestone. Default: it stays' })),
  },
  operations: ['updateIssue', 'getIssue', 'listMilestones'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => `${textOf(number)} milestone`,
  object: ({ number }) => issue(number),
  names: ({ title }) => given(title, milestone),
  raises: ['issue.milestoned', 'issue.demilestoned', 'pull_request.milestoned', 'pull_request.demilestoned'],
  example: { number: '12', title: '1.5' },

  recover: issueMilestoneRecovery,

  async ensure({ target, forge, remember }, { number, title, replace = title === undefined }) {
    const place = { owner: target.owner, repo: target.name };
    const issue = await orMissing(forge.getIssue({ ...place, index: number }));
    if (issue === null) return refused(say('cannot.missing', { what: 'issue or pull request', number }));
    const now = titleOf(issue);
    const goal = title === undefined ? null : objectName(title);
    if (now === goal) return unchanged(say('made.milestone', { number, name: goal }));
    if (now !== null && !replace) return unchanged(say('found.milestone', { number, name: now }));
    let milestone = '0';
    if (goal !== null) {
      const found = await readAll(forge, 'listMilestones', { ...place, state: 'all' });
      const best = chosenOf(found.filter((one) => isSameName(one.title, goal)));
      if (!best?.id)
        return refused(say('cannot.missing', { what: 'milestone', name: goal, create: 'milestone.ensure' }));
      milestone = best.id;
    }
    remember({ title: now });
    await forge.updateIssue({ ...place, index: number, body: { milestone: BigInt(milestone) } });
    return changed(say('made.milestone', { number, name: goal }));
  },
});
