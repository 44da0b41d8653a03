import { defineAction, textOf, changed, conflict, notYet, toWrite, unchanged, type Decision } from './define-action.js';
import { say } from './reasons.js';
import { choice, commitId, flag, id, optional, text, whole, referring } from './support/params.js';
import {
  compareInQueue,
  leavesNext,
  mergedOn,
  untested,
  lookInQueue,
  noteOf,
  snapshotOf,
  writeInQueue,
  type Change,
} from './support/merge-queue.js';
import { isQueueStatus, judge, readReviews, statusesOf, type SeenPull } from './support/merge-state.js';
import { readAll, isRefused, orMissing } from '../forge/forge-client.js';
import type { SentEffect } from './support/recovery.js';
import { plansIn } from './support/planned-merge.js';
import { isAbout } from './support/compare.js';
import { valueOf } from './support/unfit.js';
import { ifNamed, issue, label } from './support/objects.js';
import { ForgeError } from '../core/errors.js';
import type { ForgeEvent } from '../core/event.js';
import type { EventKind } from '../core/event-kinds.js';
import { isJsonObject } from '../core/json.js';
import { RIGHTS } from '../core/rights.js';

/** With the waits between them, about twenty seconds; a check takes a few. */
const CALLS_WHILE_CHECKED = 3;

/** What a protected branch asks beyond the rule, as Gitea says it; Forgejo puts it behind `reason:`. */
const PROTECTION_ASKS =
  /required status checks|enough approvals|requested changes|official review requests|behind the base branch/i;

const RAISED_BY_QUEUE: ReadonlySet<EventKind> = new Set(['pull_request.synchronized', 'comment.created', 'status.set']);

const QUEUE_OPERATIONS = [
  'updatePullBranch',
  'listCommits',
  'getCommit',
  'createComment',
  'listComments',
  'createStatus',
] as const;

const METHODS = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const;

const params = {
  number: id('number of the pull request'),
  sha: commitId('head commit that may be merged'),
  method: optional(choice('merge (default), rebase, rebase-merge, squash or fast-forward-only', { words: METHODS })),
  label: referring('label', optional(text('label that it must have'))),
  approvals: optional(whole('approvals of this commit by people other than its author. Default: 1', { max: 20 })),
  checks: optional(
    flag(
      'whether the statuses of the commit must be green; by the forge: whether the base must require some. Default: true',
    ),
  ),
  delete_branch: optional(flag('delete its branch after the merge')),
  update: optional(
    flag(
      'a merge queue of the target branch: in its turn the branch is brought up to date by a merge, its checks run, and this head is merged',
    ),
  ),
  checks_within: optional(
    whole('with update: minutes after the update in which the checks must end, or it leaves the queue. Default: 60', {
      min: 1,
      max: 4_320,
    }),
  ),
  by: optional(
    choice('bot (default), or forge: its own automatic merge is planned, and made once the required checks succeed', {
      words: ['bot', 'forge'],
    }),
  ),
};

/**
 * All that speaks for the merge is read again right before it, about the one commit that the rule saw; the forge gets that commit too. The
 * forge says 405 "try again later" both while its conflict check runs and when the branches conflict. `mergeable` is false in both cases for
 * some seconds, so it is believed only when it still says so after several calls.
 *
 * Approvals, checks and the label may come in any order: what is missing is waited for, as long as the head stays.
 *
 * With `by: forge` the call plans the forge's own automatic merge, and the effect is the plan, which only the timeline shows. Servers keep no commit with a
 * plan: what is pushed later is merged too. Where the base requires no checks they wait for none (Gitea merges at once), so that is refused unless the rule says `checks: false`.
 *
 * With `update: true` it has a place in the merge queue of its target, from the look on at which nothing but the checks is missing. In its turn each look makes one
 * write: an update of the branch, later the merge; or, when it leaves, the comment that says why. Whatever was lost on the way, the next look finds it.
 */
export const mergePullRequest = defineAction({
  name: 'pull_request.merge',
  summary: 'Merge a pull request once it is labelled, approved and green, at exactly this commit',
  target: 'repository',
  params,
  operations: ['mergePull', 'getPull', 'listReviews', 'getCombinedStatus', 'listTimeline', 'getBranch'],
  whereOffered: QUEUE_OPERATIONS,
  requiresWith: { param: 'update', operations: QUEUE_OPERATIONS },
  onTheWay: ['updatePullBranch', 'createComment', 'createStatus'],
  right: RIGHTS.code,
  asksAct: true,
  naturalKey: 'number',
  keyOf: ({ number }) => textOf(number),
  object: ({ number }) => issue(number),
  names: ({ label: wanted }) => ifNamed(wanted, label),
  unfit: (inputs) => {
    const isQueued = inputs['update'] !== undefined && valueOf(inputs, 'update') !== false;
    return isQueued && valueOf(inputs, 'by') === 'forge'
      ? { reason: say('params.exclude', { names: ['update', 'by: forge'] }), param: 'update' }
      : null;
  },
  // What was taken back meanwhile (pull_request.unqueue) is not merged by an older wish.
  overwrites: true,
  raises: [
    'pull_request.merged',
    'push',
    'branch.deleted',
    'pull_request.synchronized',
    'comment.created',
    'status.set',
  ],
  awaits: [
    'status.set',
    'workflow.finished',
    'workflow.recovered',
    'task.finished',
    'push',
    'review.approved',
    'review.rejected',
    'review.commented',
    'review.dismissed',
    'pull_request.labeled',
    'pull_request.synchronized',
    'pull_request.ready_for_review',
    'pull_request.closed',
    'pull_request.merged',
  ],
  effect: {
    mayRaise: (kind, inputs) => {
      const needs =
        kind === 'branch.deleted' ? 'delete_branch' : RAISED_BY_QUEUE.has(kind) ? ('update' as const) : undefined;
      return needs === undefined || (inputs[needs] !== undefined && valueOf(inputs, needs) !== false);
    },
    // The commits of a rebase name neither the pull request nor its head.
    isKnown: (kind, inputs) => kind !== 'push' || valueOf(inputs, 'method') !== 'rebase',
  },
  example: { number: '12', sha: '0123456789abcdef0123456789abcdef01234567', label: 'merge/ready', approvals: 1 },
  about: ({ number }) => ({ what: 'pull request', number }),

  /** One read after the other, as long as nothing speaks against it. */
  async look(context, wanted): Promise<SeenPull> {
    const { forge, place, call, isOurs, lastMade } = context;
    const where = { ...place, index: wanted.number };
    const pull = await orMissing(forge.getPull(where));
    if (wanted.update === true) return lookInQueue(context, wanted, pull);
    const plans =
      wanted.by === 'forge' && pull?.state === 'open'
        ? plansIn(await readAll(forge, 'listTimeline', where))
        : undefined;
    const isUndone = plans?.takenBackBy && isOurs(plans.takenBackBy) !== true && (await lastMade()) !== null;
    const basis = { pull, ...(plans && { plans: { ...plans, isUndone: isUndone === true } }) };
    if (call || judge(wanted, basis, call)) return basis;
    const seen = { ...basis, ...(await readReviews(context, wanted)) };
    if (wanted.checks === false || judge(wanted, seen, call)) return seen;
    if (wanted.by === 'forge') {
      const base = await forge.getBranch({ ...place, branch: pull?.base?.ref ?? '' });
      // Without a name of one, servers wait for nothing where no status is there yet.
      const { enable_status_check: isOn, status_check_contexts: names } = base;
      return { ...seen, requiresChecks: isOn === true && (names ?? []).length > 0 };
    }
    const { checks } = await statusesOf(forge, { ...place, ref: wanted.sha });
    return { ...seen, checks };
  },

  compare({ wanted, seen, call }): Decision<Change> {
    if (seen.queue) return compareInQueue(wanted, seen, seen.queue, call);
    const change = { does: 'merge', head: wanted.sha, tested: null } as const;
    return judge(wanted, seen, call) ?? toWrite(change, { remember: snapshotOf(change, seen) });
  },

  async write(
    { forge, place, earlierCalls },
    { number, sha, method = 'merge', delete_branch: deleteBranch, by },
    change,
  ) {
    const where = { ...place, index: number };
    if (change.does !== 'merge') return writeInQueue(forge, where, { number, sha }, change);
    const { head, tested } = change;
    const noted = tested?.noted;
    const after = {
      ...(deleteBranch === undefined ? {} : { delete_branch_after_merge: deleteBranch }),
      ...(by === 'forge' ? { merge_when_checks_succeed: true } : {}),
    };
    try {
      await forge.mergePull({ ...where, body: { do: method, head_commit_id: head, ...after } });
    } catch (error) {
      // The first plan stays, with its method.
      if (by === 'forge' && isRefused(error, 409)) return unchanged(say('found.planned', { number }));
      if (isRefused(error, 409)) {
        const reason = say('cannot.merge.conflict', { number });
        return noted ? leavesNext(noted, reason) : conflict(reason);
      }
      if (!isRefused(error, 405)) throw error;
      const { forgeMessage = '' } = error.facts;
      if (PROTECTION_ASKS.test(forgeMessage)) {
        const reason = say('cannot.merge.protected', { number, said: forgeMessage });
        // What people must do first holds up nobody behind it.
        return noted
          ? notYet(reason, noteOf({ ...noted, isReady: /behind the base/i.test(forgeMessage) }))
          : notYet(reason);
      }
      if (!/try again later/i.test(forgeMessage)) throw error;
      const now = await forge.getPull(where);
      if (now.merged === true) return unchanged(say('found.state', { what: 'pull request', number, state: 'merged' }));
      // A head that has all of its base cannot conflict with it.
      if (now.mergeable === false && earlierCalls >= CALLS_WHILE_CHECKED && !noted)
        return conflict(say('cannot.merge.conflict', { number }));
      throw new ForgeError('not-sent', say('cannot.merge.checking', { number }), {
        operation: 'mergePull',
        status: 405,
        detail: 'checking',
      });
    }
    if (tested && forge.getCommit) {
      const pull = await forge.getPull(where);
      const between = await mergedOn({ getCommit: forge.getCommit }, place, pull, { head, tip: tested.tip });
      if (between !== null) return changed(untested(number, pull, between));
    }
    const made = { number, method, sha: head };
    return changed(by === 'forge' ? say('made.planned', made) : say('made.merged', made));
  },

  recover: {
    matcher: {
      echoes: [
        'pull_request.merged',
        'push',
        'branch.deleted',
        'pull_request.synchronized',
        'comment.created',
        'status.set',
      ],
      isEcho: (event, sent) => {
        const does = sent.snapshot?.['does'] ?? 'merge';
        if (event.kind === 'comment.created') return does === 'tell' && isAbout(event.data, sent.params);
        if (event.kind === 'status.set') return isQueueStatus(event) && event.data['sha'] === sent.snapshot?.['head'];
        if (event.kind === 'pull_request.synchronized') return does === 'update' && isAbout(event.data, sent.params);
        if (event.kind === 'push' && does === 'update')
          return (
            event.data['branch'] === (sent.snapshot?.['branch'] ?? null) &&
            event.data['before'] === (sent.snapshot?.['head'] ?? null)
          );
        if (does !== 'merge') return false;
        if (event.kind === 'pull_request.merged') return isAbout(event.data, sent.params);
        if (event.kind === 'push') return isPushOfMerge(event, sent);
        return sent.params['delete_branch'] === true && event.data['branch'] === (sent.snapshot?.['branch'] ?? null);
      },
    },
  },
});

/** It brings the head that was wanted, or its last commit names the pull request as forges write it. A rebase writes neither. */
function isPushOfMerge({ data }: ForgeEvent, { params, snapshot }: SentEffect): boolean {
  const base = snapshot?.['base'] ?? null;
  if (typeof data['branch'] !== 'string' || (base !== null && data['branch'] !== base)) return false;
  const commits = [data['head_commit'], ...(Array.isArray(data['commits']) ? data['commits'] : [])]
    .map((commit) => commit ?? null)
    .filter(isJsonObject);
  const head = snapshot?.['head'] ?? params['sha'];
  if (data['after'] === head || commits.some((commit) => commit['id'] === head)) return true;
  const [title = ''] = textOf(commits[0]?.['message']).split('\n');
  const number = (/^Merge pull request '.*' \(#(\d+)\) from /.exec(title) ?? /\(#(\d+)\)$/.exec(title))?.[1];
  return number !== undefined && number === textOf(params['number']);
}
