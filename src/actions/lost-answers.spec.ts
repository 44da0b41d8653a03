import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import type { JsonObject } from '../core/json.js';
import type { Intent } from '../core/run.js';
import type { AnyAction } from './define-action.js';
import { actions } from './index.js';
import { verdictOf } from './look-compare-write.js';
import type { Verdict } from './support/recovery.js';
import { saying } from '../../test/builders/reasons.js';

const SHA = 'a'.repeat(40);

/** What the comparison makes of what is seen after an open call. */
function decide(
  name: string,
  wanted: object,
  seen: unknown,
  snapshot: JsonObject | null = null,
  equalFailures = 0,
): Verdict {
  const target = { kind: 'repository', id: '7', owner: 'acme', name: 'app' } as never;
  return verdictOf(actions.get(name) as AnyAction, { target }, wanted as never, seen, {
    snapshot,
    sends: 1,
    equalFailures,
    message: null,
    sentAgoMs: 60_000,
    firstSentAt: new Date('2026-11-20T12:00:00Z'),
  });
}

const rerun = (attempt: number | null, before: number | null = 1): Verdict =>
  decide(
    'run.rerun_failed',
    { run: '8' },
    attempt && { run_attempt: attempt },
    before === null ? null : { attempt: before },
  );

/** @param asked null = it is gone */
const requests = (asked: readonly string[] | null, snapshot: JsonObject | null = null): Verdict => {
  const pull = asked && { state: 'open', requested_reviewers: asked.map((login) => ({ login })) };
  return decide('pull_request.request_review', { number: '1' }, { pull, reviews: [] }, snapshot);
};

const START = { workflow: 'n.yml', ref: 'main' };
const RUN = { id: '9', path: 'n.yml@refs/heads/main', event: 'workflow_dispatch', head_branch: 'main' };

/** @param runs that our account started since the call */
const start = (runs: readonly JsonObject[], count: number): Verdict =>
  decide('workflow.dispatch', START, { since: runs, count, snapshot: null });

const merge = (pull: JsonObject | null): Verdict => decide('pull_request.merge', { number: '1', sha: SHA }, { pull });

/** @param plans ids of the plans that the timeline shows; the newest one is open or was taken back. Plan 1 was there before the call. */
const planned = (plans: readonly string[], isOpen: boolean, pull: JsonObject = {}): Verdict => {
  const seen = {
    pull: { state: 'open', merged: false, head: { sha: SHA }, ...pull },
    plans: { ids: plans, isOpen, takenBackBy: isOpen ? null : { id: '3', login: 'ann' } },
  };
  return decide('pull_request.merge', { number: '1', sha: SHA, by: 'forge' }, seen, { ids: ['1'] });
};

/** @param isOpen whether the forge still has a plan */
const unqueue = (isOpen: boolean, pull: JsonObject | null = { state: 'open' }): Verdict =>
  decide('pull_request.unqueue', { number: '1' }, { pull, plans: { ids: ['1'], isOpen, takenBackBy: null } });

const gone = (sha: string | null): Verdict =>
  decide(
    'branch.delete',
    { branch: 'topic', sha: SHA },
    { sha, isDefault: false, isProtected: false, pulls: [] },
    { sha: SHA },
  );

/** @param dismissed of each approval of ours at the commit; null = the pull request is gone */
const approve = (dismissed: readonly boolean[] | null, before: readonly string[] = [], sha = SHA): Verdict => {
  const pull = dismissed && { state: 'open', head: { sha }, user: { id: '2' } };
  const approvals = (dismissed ?? []).map((is, n) => ({ id: String(n + 1), dismissed: is }));
  return decide('review.approve', { number: '1', sha: SHA }, { pull, self: '9', approvals }, { ids: [...before] });
};

const OPEN_PULL = { state: 'open', merged: false, head: { sha: SHA, ref: 'topic' }, base: { ref: 'main' } };
const update = (behind: number | null, pull: JsonObject | null = OPEN_PULL, wanted: object = {}): Verdict =>
  decide('pull_request.update_branch', { number: '1', ...wanted }, { pull, behind }, { head: SHA, branch: 'topic' });

const PORT = { number: '1', to: 'release' };
const MERGED = { number: 1, state: 'closed', merged: true, merge_commit_sha: SHA, base: { ref: 'main' } };
const ORIGIN = { pull: MERGED, branch: 'backport/1-to-release', backport: null };
const NO_BRANCH = { target: 't', tip: null, isOurs: false, hasMerge: false, diff: null, author: null, isAsked: false };

const portBranch = (seen: object, failures = 0): Verdict =>
  decide('backport', PORT, { ...ORIGIN, ...NO_BRANCH, ...seen }, { branch: ORIGIN.branch }, failures);

/** @param seen the pull request of the backport, or comments @param before pull requests that were closed before the call */
const portOpen = (seen: object, before: readonly string[] = []): Verdict =>
  decide(
    'backport.open',
    PORT,
    { ...ORIGIN, obstacle: null, wasThere: false, isDone: false, comments: [], text: '', canAssign: false, ...seen },
    { ids: [...before] },
  );
const portComment = (comments: readonly object[]): Verdict => portOpen({ obstacle: 'conflict', comments });

const portLabel = (names: readonly string[]): Verdict =>
  decide(
    'backport.label',
    { ...PORT, failed: 'failed' },
    {
      ...{ isFailed: true, isTried: false, isLeftOff: false },
      pull: { ...MERGED, labels: names.map((name) => ({ name })) },
      labels: new Map([['failed', { id: '4', name: 'failed' }]]),
    },
  );

describe('actions/lost-answers: what is decided', () => {
  it.each<[string, string, Verdict]>([
    ['a rerun: one attempt more', 'done', rerun(2)],
    ['a rerun: the attempts of before', 'resend', rerun(2, 2)],
    ['a rerun: the run is gone', 'refused', rerun(null)],
    ['a rerun: the run cannot be read', 'person', decide('run.rerun_failed', { run: '8' }, undefined)],
    ['a start: a run of ours began', 'done', start([RUN], 1)],
    ['a start: none began', 'resend', start([], 3)],
    ['a start: more began than were looked at', 'person', start([], 50)],
    ['a start: runs cannot be listed', 'person', decide('workflow.dispatch', START, undefined)],
    ['a request for review: all are asked', 'done', requests(['ann', 'ben'], { goal: ['Ann'] })],
    ['a request for review: one is not', 'resend', requests(['ben'], { goal: ['ann', 'ben'] })],
    ['a request for review: nothing was remembered', 'resend', requests(['ben'])],
    ['a request for review: it is gone', 'refused', requests(null)],
    [
      'a request for review: it cannot be read',
      'resend',
      decide('pull_request.request_review', { number: '1' }, undefined),
    ],
    ['a deleted branch: it is gone', 'done', gone(null)],
    ['a deleted branch: it is where it was', 'resend', gone(SHA)],
    ['a deleted branch: it is there at another commit, whoever made it', 'refused', gone('b'.repeat(40))],
    [
      'a deleted branch: it cannot be read',
      'resend',
      decide('branch.delete', { branch: 'topic', sha: SHA }, undefined),
    ],
    ['an update: the head has all of its base', 'done', update(0)],
    ['an update: the head is behind', 'resend', update(2)],
    ['an update of one head: it is behind, and moved', 'refused', update(2, OPEN_PULL, { sha: 'b'.repeat(40) })],
    ['an update: merged meanwhile', 'done', update(null, { ...OPEN_PULL, state: 'closed', merged: true })],
    ['an update: closed meanwhile', 'refused', update(null, { ...OPEN_PULL, state: 'closed' })],
    ['an update: the pull request is gone', 'refused', update(null, null)],
    ['an update: it cannot be read', 'person', decide('pull_request.update_branch', { number: '1' }, undefined)],
    ['an approval: there is a new one', 'done', approve([false])],
    ['an approval: there is a new one, and somebody dismissed it since', 'done', approve([true])],
    ['an approval: the one that was dismissed before the call is there alone', 'resend', approve([true], ['1'])],
    ['an approval: there is none', 'resend', approve([])],
    ['an approval: there is none, and the head moved', 'refused', approve([], [], 'b'.repeat(40))],
    ['an approval: the pull request is gone', 'refused', approve(null)],
    ['an approval: it cannot be read', 'person', decide('review.approve', { number: '1', sha: SHA }, undefined)],
    ['a plan of the forge: it is there', 'done', planned(['1', '2'], true)],
    ['a plan of the forge: it came, and somebody took it back since', 'done', planned(['1', '2'], false)],
    ['a plan of the forge: none but one of before, which was taken back', 'resend', planned(['1'], false)],
    ['a plan of the forge: it is there, and the head moved', 'done', planned(['2'], true, { head: { sha: 'b' } })],
    ['a plan of the forge: there is none, and the head moved', 'refused', planned([], false, { head: { sha: 'b' } })],
    ['a plan of the forge: merged already', 'done', planned(['2'], true, { state: 'closed', merged: true })],
    ['a plan taken back: there is none', 'done', unqueue(false)],
    ['a plan taken back: it is there', 'resend', unqueue(true)],
    ['a plan taken back: merged meanwhile', 'refused', unqueue(false, { state: 'closed', merged: true })],
    ['a backport: our branch is there', 'done', portBranch({ tip: 'x', isOurs: true })],
    ['a backport: no branch is there', 'resend', portBranch({})],
    ['a backport: no branch is there, and one failure', 'resend', portBranch({}, 1)],
    ['a backport: no branch is there, and two equal failures', 'unchanged', portBranch({}, 2)],
    ['a backport: the branch of somebody is there', 'unchanged', portBranch({ tip: 'x' })],
    ['a backport: its target is gone', 'unchanged', portBranch({ target: null })],
    [
      'a backport: our branch and its pull request are there',
      'done',
      portBranch({ backport: { number: 2, state: 'open' } }),
    ],
    ['a backport: it cannot be read', 'person', decide('backport', PORT, undefined)],
    ['its pull request: there', 'done', portOpen({ backport: { number: 2, state: 'open' } })],
    ['its pull request: there, and closed since', 'done', portOpen({ backport: { number: 2, state: 'closed' } })],
    [
      'its pull request: one alone that was closed before',
      'resend',
      portOpen({ backport: { number: 2, state: 'closed' } }, ['2']),
    ],
    ['its pull request: none', 'resend', portOpen({})],
    ['its pull request: it cannot be read', 'person', decide('backport.open', PORT, undefined)],
    ['its comment: there', 'done', portComment([{ id: '5' }])],
    ['its comment: none', 'resend', portComment([])],
    ['its label: on', 'done', portLabel(['failed'])],
    ['its label: not on', 'resend', portLabel([])],
    ['a merge: merged', 'done', merge({ merged: true, state: 'closed', head: { sha: SHA } })],
    ['a merge: open, at its head', 'resend', merge({ merged: false, state: 'open', head: { sha: SHA } })],
    ['a merge: the head moved', 'refused', merge({ merged: false, state: 'open', head: { sha: 'b' } })],
    ['a merge: closed', 'refused', merge({ merged: false, state: 'closed', head: { sha: SHA } })],
    ['a merge: gone', 'refused', merge(null)],
    ['a merge: it cannot be read', 'person', decide('pull_request.merge', { number: '1', sha: SHA }, undefined)],
  ])('%s => %s', (_, expected, verdict) => {
    expect(verdict.is).toBe(expected);
  });
});

/** Work on it, let the settle time pass, and go on until it ended. */
async function throughLostAnswer(rig: EffectRig, action: string, params: JsonObject): Promise<Intent> {
  const { id, state } = await rig.want(action, params);
  expect(state).toBe('unknown');
  await rig.recover(id);
  rig.clock.advance(60_000);
  return rig.work(id);
}

describe.each([true, false])('actions/lost-answers: an answer is lost, the effect was had: %s', (afterEffect) => {
  it('runs failed jobs again once', async () => {
    const rig = new EffectRig();
    const run = { id: '8', status: 'completed', conclusion: 'failure', run_attempt: 1 };
    rig.forge.answer('getRun', async () => run);
    rig.forge.answer('rerunFailedJobs', async () => void (run.run_attempt += 1));
    rig.forge.failNext('rerunFailedJobs', 'unknown', { status: 502, afterEffect });

    expect((await throughLostAnswer(rig, 'run.rerun_failed', { run: '8' })).state).toBe('done');
    expect([rig.written, run.run_attempt]).toEqual([['rerunFailedJobs'], 2]);
  });

  it('starts a workflow once', async () => {
    const rig = new EffectRig();
    const theirs = {
      path: 'nightly.yml@refs/heads/main',
      event: 'workflow_dispatch',
      head_branch: 'main',
      trigger_actor: { id: '7' },
    };
    const runs: JsonObject[] = [{ ...theirs, id: '20' }];
    rig.forge.answer('getSelf', async () => ({ id: '99', login: 'forgehand' }));
    rig.forge.answer('listRepoRuns', async () => ({ workflow_runs: runs }));
    rig.forge.answer('dispatchWorkflow', async () => {
      runs.unshift({ ...theirs, id: String(21 + runs.length), trigger_actor: { id: '99' } });
      return undefined;
    });
    rig.forge.failNext('dispatchWorkflow', 'unknown', { status: 502, afterEffect });
    const { id, state } = await rig.want('workflow.dispatch', { workflow: 'nightly.yml', ref: 'main' });
    expect(state).toBe('unknown');
    // Others start things too.
    runs.unshift(
      { ...theirs, id: '40' },
      { ...theirs, id: '41', path: 'ci.yml@refs/heads/main', trigger_actor: { id: '99' } },
    );

    await rig.recover(id);
    rig.clock.advance(60_000);

    expect((await rig.work(id)).state).toBe('done');
    expect(rig.written).toEqual(['dispatchWorkflow']);
  });

  it('asks for a review once', async () => {
    const rig = new EffectRig();
    const asked: JsonObject[] = [];
    rig.forge.answer('getPull', async () => ({
      number: 1,
      state: 'open',
      user: { login: 'cy' },
      requested_reviewers: asked,
    }));
    rig.forge.answer('listReviews', async () => []);
    rig.forge.answer('requestReviewers', async (args) => {
      const { reviewers } = (args as { body: { reviewers: string[] } }).body;
      asked.push(...reviewers.map((login) => ({ login })));
      return [];
    });
    rig.forge.failNext('requestReviewers', 'unknown', { status: 502, afterEffect });

    expect(
      (await throughLostAnswer(rig, 'pull_request.request_review', { number: '1', reviewers: ['ann', 'ben'] })).state,
    ).toBe('done');
    expect([rig.written, asked.length]).toEqual([['requestReviewers'], 2]);
  });

  it('merges once, and only the head that was seen', async () => {
    const rig = new EffectRig();
    const pull = {
      number: 1,
      state: 'open',
      merged: false,
      mergeable: true,
      head: { sha: SHA },
      user: { login: 'cy' },
    };
    rig.forge.answer('getPull', async () => pull);
    rig.forge.answer('listReviews', async () => []);
    rig.forge.answer('mergePull', async () => void Object.assign(pull, { merged: true, state: 'closed' }));
    rig.forge.failNext('mergePull', 'unknown', { status: 502, afterEffect });

    expect(
      (await throughLostAnswer(rig, 'pull_request.merge', { number: '1', sha: SHA, approvals: 0, checks: false }))
        .state,
    ).toBe('done');
    expect(rig.forge.writes).toMatchObject([{ operation: 'mergePull', args: { body: { head_commit_id: SHA } } }]);
  });
});

describe('actions/lost-answers: a start of which nothing can be read', () => {
  it('waits for a person, and is not made again', async () => {
    const rig = new EffectRig();
    rig.forge.answer('dispatchWorkflow', async () => undefined);
    rig.forge.failNext('listRepoRuns', 'refused', { status: 403 });
    rig.forge.failNext('getSelf', 'refused', { status: 403 });
    rig.forge.failNext('dispatchWorkflow', 'unknown', { status: 502, afterEffect: true });

    const { id } = await rig.want('workflow.dispatch', { workflow: 'nightly.yml', ref: 'main' });
    await rig.recover(id);

    expect((await rig.work(id)).state).toBe('waiting');
    expect(rig.written).toEqual(['dispatchWorkflow']);
  });
});

describe('actions/lost-answers: the conflict check of a merge', () => {
  const wish = { number: '1', sha: SHA, approvals: 0, checks: false };

  /** A forge that says "try again later" so many times, with `mergeable: false` meanwhile. */
  function aForge(checks: number): { rig: EffectRig; pull: { head: { sha: string } }; calls: () => number } {
    const rig = new EffectRig();
    const pull = {
      number: 1,
      state: 'open',
      merged: false,
      mergeable: false,
      head: { sha: SHA },
      user: { login: 'cy' },
    };
    rig.forge.answer('getPull', async () => pull);
    rig.forge.answer('listReviews', async () => []);
    rig.forge.answer('mergePull', async () => void Object.assign(pull, { merged: true, state: 'closed' }));
    for (let n = 0; n < checks; n += 1)
      rig.forge.failNext('mergePull', 'refused', { status: 405, message: 'Please try again later' });
    return { rig, pull, calls: () => rig.forge.calls.filter((name) => name === 'mergePull').length };
  }

  async function workOn(rig: EffectRig, id: string, times: number): Promise<Intent> {
    let intent = await rig.work(id);
    for (let n = 1; n < times; n += 1) {
      rig.clock.advance(300_000);
      intent = await rig.work(id);
    }
    return intent;
  }

  it.each([1, 3])('is waited for while it runs, whatever `mergeable` says meanwhile: %i times', async (checks) => {
    const { rig, calls } = aForge(checks);
    const id = await rig.plan('pull_request.merge', wish);

    expect((await workOn(rig, id, checks + 1)).state).toBe('done');
    expect(calls()).toBe(checks + 1);
  });

  it('is believed at last: branches that conflict for that long conflict', async () => {
    const { rig, calls } = aForge(20);
    const id = await rig.plan('pull_request.merge', wish);

    expect(await workOn(rig, id, 8)).toMatchObject({
      state: 'conflict',
      reason: saying(expect.stringContaining('conflict')),
    });
    expect(calls()).toBe(4);
  });

  it('is waited for about the head that was seen alone', async () => {
    const { rig, pull, calls } = aForge(1);
    const id = await rig.plan('pull_request.merge', wish);
    await rig.work(id);
    pull.head.sha = 'b'.repeat(40);
    rig.clock.advance(300_000);

    expect(await rig.work(id)).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining('the head of #1 moved')),
    });
    expect(calls()).toBe(1);
  });
});
