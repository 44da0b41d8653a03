import { defineAction, textOf, changed, refused, there, toWrite, type Decision } from './define-action.js';
import { say } from './reasons.js';
import { commitId, id } from './support/params.js';
import { issue } from './support/objects.js';
import { isAbout } from './support/compare.js';
import { idsIn } from './support/recovery.js';
import { idsOf } from './support/same-name.js';
import { orMissing, readAll } from '../forge/forge-client.js';
import type { Pull, Review } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

interface SeenReviews {
  /** Null = there is no such pull request. */
  readonly pull: Pull | null;
  /** Number of the bot's own account. */
  readonly self: string | null;
  /** The bot's own approvals of the commit, oldest first. */
  readonly approvals: readonly Review[];
}

/**
 * Approves the one commit that the rule saw. A server takes every approval as a further review and dismisses the one before, so the reviews are read
 * first, and after a lost answer: one of this account for this commit is the effect. An approval that somebody dismissed is not given again. Whether it
 * counts is the forge's affair: only those of people whom the protection of the base names do.
 */
export const approveReview = defineAction({
  name: 'review.approve',
  summary: 'Approve a pull request at one commit',
  target: 'repository',
  params: {
    number: id('number of the pull request'),
    sha: commitId('head commit that is approved, such as ${{ event.sha }}'),
  },
  operations: ['createReview', 'listReviews', 'getPull', 'getSelf'],
  whereOffered: [],
  power: 'review.approve',
  right: RIGHTS.code,
  asksAct: true,
  naturalKey: 'number',
  itemBy: ['number', 'sha'],
  keyOf: ({ number, sha }) => `${textOf(number)} ${textOf(sha)}`,
  object: ({ number }) => issue(number),
  names: () => [],
  raises: ['review.approved'],
  example: { number: '12', sha: '0123456789abcdef0123456789abcdef01234567' },
  about: ({ number }) => ({ what: 'approval', number }),

  async look({ forge, place }, { number, sha }): Promise<SeenReviews> {
    const pull = await orMissing(forge.getPull({ ...place, index: number }));
    if (pull === null) return { pull, self: null, approvals: [] };
    const { id: self } = await forge.getSelf({});
    const reviews = await readAll(forge, 'listReviews', { ...place, index: number });
    const approvals = reviews.filter(
      ({ user, state, commit_id }) => self && user?.id === self && state === 'APPROVED' && commit_id === sha,
    );
    return { pull, self: self ?? null, approvals };
  },

  compare({ wanted: { number, sha }, seen: { pull, self, approvals }, call }): Decision<null> {
    if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
    const before = idsIn(call?.snapshot);
    const ours = approvals.filter(({ id, dismissed }) => dismissed !== true || (call && !before.has(id ?? '')));
    if (ours.length > 0) return there(say('found.approved', { number, sha }), { ids: idsOf(ours) });
    if (pull.state !== 'open') return refused(say('found.state', { what: 'pull request', number, state: 'closed' }));
    if (pull.head?.sha !== sha) return refused(say('cannot.merge.head', { number, sha: pull.head?.sha ?? 'nothing' }));
    if (self !== null && pull.user?.id === self) return refused(say('cannot.approve.own', { number }));
    return toWrite(null, { makes: true, remember: { ids: idsOf(approvals) } });
  },

  async write({ forge, place }, { number, sha }) {
    const body = { event: 'APPROVED', commit_id: sha };
    const { official } = await forge.createReview({ ...place, index: number, body });
    return changed(say('made.approved', { number, sha, counts: official !== false }));
  },

  recover: {
    matcher: { echoes: ['review.approved'], isEcho: ({ data }, { params }) => isAbout(data, params) },
  },
});
