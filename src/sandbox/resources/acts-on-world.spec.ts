import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Json } from '../../core/json.js';
import { Ledger } from '../ledger.js';
import type { SandboxParts } from '../parts.js';
import { profileOf } from '../profiles.js';
import { type Happening, type Issue, type Pull, type Repository, type Runner, type User, World } from '../world.js';
import { startWorkflows } from '../workflows/start-workflows.js';
import { deleteBranch } from './branch.js';
import { pushToBranch } from './commit.js';
import { setAssignees } from './issue-assignees.js';
import { addLabels, replaceLabels } from './issue-labels.js';
import { makeIssue } from './issue.js';
import { claimJob, finishTask, waitingJob } from './job.js';
import { makeLabel, readColor } from './label.js';
import { makeOrganization } from './organization.js';
import { mergePull } from './pull-merge.js';
import { isConflicting, makePull } from './pull.js';
import { followPulls } from './pull-follow.js';
import { followMirrors, makePushMirror, syncPushMirror } from './push-mirror.js';
import { changeRelease, makeRelease } from './release.js';
import { makeRepository } from './repository.js';
import { requestReview, requestTeamReview, submitReview } from './review.js';
import { createTag } from './tag.js';
import { makeTeam } from './team.js';
import { makeUser } from './user.js';
import { jobsOf, rerunFailedJobs } from './run-start.js';

let world: World;
let ann: User;
let ben: User;
let app: Repository;
let told: Happening['kind'][];

beforeEach(() => {
  world = new World();
  ann = makeUser(world, { login: 'ann', password: 'pw' });
  ben = makeUser(world, { login: 'ben' });
  const acme = makeOrganization(world, { name: 'acme', owner: ann });
  makeTeam(world, { org: acme, name: 'devs', permission: 'write', members: [ben], includesAllRepositories: true });
  app = makeRepository(world, ann, {
    owner: acme,
    name: 'app',
    files: { 'README.md': '# app\n' },
    defaultBranch: 'main',
  });
  told = [];
  world.listen((happening) => told.push(happening.kind));
});

function openPull(branch: string, files: Record<string, string>): Issue & { pull: Pull } {
  pushToBranch(world, ben, app, branch, [{ message: `feat: ${branch}`, files }]);
  return makePull(world, ben, app, {
    headRepo: app,
    headBranch: branch,
    baseBranch: 'main',
    title: branch,
  }) as Issue & { pull: Pull };
}

function parts(): SandboxParts {
  return { world, profile: profileOf('gitea'), ledger: new Ledger(world), admin: ann } as unknown as SandboxParts;
}

describe('sandbox/make', () => {
  it.each([
    ['#ee0701', 'ee0701'],
    ['0AF', '00aaff'],
    [' #00AABB ', '00aabb'],
    ['red', undefined],
    ['#12', undefined],
    ['##123456', undefined],
  ])('reads the color %j as %j', (text, color) => {
    expect(readColor(text)).toBe(color);
  });

  describe('labels on issues', () => {
    const label = (name: string, exclusive = false) =>
      makeLabel(world, ann, { of: app, name, color: '000000', exclusive });

    it('keeps one exclusive label of a scope', () => {
      const issue = makeIssue(world, ann, app, { title: 'x' });
      const [high, low, bug] = [label('prio/high', true), label('prio/low', true), label('bug')];

      addLabels(world, ann, issue, [high, bug]);
      addLabels(world, ann, issue, [low]);

      expect([...issue.labels]).toEqual([bug.id, low.id]);
    });

    it('tells of labels even when nothing changed', () => {
      const bug = label('bug');
      const issue = makeIssue(world, ann, app, { title: 'x', labels: [bug] });
      told.length = 0;

      addLabels(world, ann, issue, [bug]);
      replaceLabels(world, ann, issue, [bug]);

      expect(told).toEqual(['issue.labeled', 'issue.labeled']);
    });
  });

  it('opens an issue and tells its labels, milestone and assignees one by one', () => {
    told.length = 0;

    makeIssue(world, ann, app, {
      title: 'x',
      labels: [makeLabel(world, ann, { of: app, name: 'bug', color: '000000' })],
      assignees: [ann, ben],
    });

    expect(told).toEqual(['label.defined', 'issue.opened', 'issue.labeled', 'issue.assigned', 'issue.assigned']);
  });

  it('assigns who is new and takes off who is not named', () => {
    const issue = makeIssue(world, ann, app, { title: 'x', assignees: [ann] });
    told.length = 0;

    setAssignees(world, ann, issue, [ben]);

    expect(issue.assignees).toEqual([ben.id]);
    expect(told).toEqual(['issue.assigned', 'issue.unassigned']);
  });

  describe('releases', () => {
    const wish = { target: 'main', title: 'One', note: '', isPrerelease: false };

    it('counts a draft as published when publishing makes its tag', () => {
      const release = makeRelease(world, ann, app, { ...wish, tagName: 'v1', isDraft: true });
      told.length = 0;

      changeRelease(world, ann, app, release, { ...wish, tagName: 'v1', isDraft: false });

      expect(told).toEqual(['tag.created', 'release.published']);
    });

    it('counts a draft as updated when its tag was there', () => {
      createTag(world, ann, app, 'v1', app.git.branches.get('main') as string);
      const release = makeRelease(world, ann, app, { ...wish, tagName: 'v1', isDraft: true });
      told.length = 0;

      changeRelease(world, ann, app, release, { ...wish, tagName: 'v1', isDraft: false });

      expect(told).toEqual(['release.updated']);
    });

    it('changes nothing when the target has no commit', () => {
      const release = makeRelease(world, ann, app, { ...wish, tagName: 'v1', isDraft: true });

      expect(() =>
        changeRelease(world, ann, app, release, { ...wish, tagName: 'v2', target: 'nope', isDraft: false }),
      ).toThrow('nope');
      expect(release).toMatchObject({ tagName: 'v1', isDraft: true });
    });
  });

  describe('pull requests', () => {
    it.each([
      ['merge', 2, "Merge pull request 'topic' (#1) from topic into main\n"],
      ['squash', 1, 'topic (#1)\n\nCo-authored-by: ben <ben@example.org>\n'],
      ['rebase', 1, 'feat: topic\n'],
    ] as const)('%s leaves a tip with %i parents', (style, parents, message) => {
      const issue = openPull('topic', { a: 'a\n' });
      pushToBranch(world, ann, app, 'main', [{ message: 'other', files: { b: 'b\n' } }]);

      mergePull(world, ann, issue, { style });

      const tip = app.git.commits.get(app.git.branches.get('main') as string);
      expect(tip?.message).toBe(message);
      expect(tip?.parents).toHaveLength(parents);
      expect([...(tip?.files.keys() ?? [])].sort()).toEqual(['README.md', 'a', 'b']);
      expect(issue).toMatchObject({ state: 'closed', pull: { mergeCommitSha: tip?.sha, mergedById: ann.id } });
    });

    it('tells the merge, the push and the end of the branch', () => {
      const issue = openPull('topic', { a: 'a\n' });
      told.length = 0;

      mergePull(world, ann, issue, { style: 'merge', deleteBranch: true });

      expect(told).toEqual(['pull.merged', 'pushed', 'branch.deleted']);
    });

    it('refuses to fast-forward over other commits', () => {
      const issue = openPull('topic', { a: 'a\n' });
      pushToBranch(world, ann, app, 'main', [{ message: 'other', files: { b: 'b\n' } }]);

      expect(() => mergePull(world, ann, issue, { style: 'fast-forward-only' })).toThrow();
      expect(issue.state).toBe('open');
    });

    it('conflicts when both sides changed a file', () => {
      const issue = openPull('topic', { 'README.md': 'mine\n' });
      pushToBranch(world, ann, app, 'main', [{ message: 'other', files: { 'README.md': 'yours\n' } }]);

      expect(isConflicting(app, issue.pull)).toBe(true);
    });

    it('follows its branches: a push synchronizes, the end of the branch closes', () => {
      followPulls(parts());
      const issue = openPull('topic', { a: 'a\n' });
      told.length = 0;

      const tip = pushToBranch(world, ben, app, 'topic', [{ message: 'more', files: { c: 'c\n' } }]);
      deleteBranch(world, ben, app, 'topic');

      expect(issue).toMatchObject({ state: 'closed', pull: { headSha: tip } });
      expect(told).toEqual(['pushed', 'pull.synchronized', 'branch.deleted', 'issue.closed']);
    });

    it('ends a request for review by the verdict, also that of the team', () => {
      const issue = openPull('topic', { a: 'a\n' });
      const team = [...world.teams.values()].find((one) => one.name === 'devs');
      if (!team) throw new Error('no team');
      requestReview(world, ann, issue, ben);
      requestTeamReview(world, ann, issue, team);

      submitReview(world, ben, issue, { state: 'APPROVED', body: '', comments: [] });

      expect([...world.reviews.values()].map((one) => one.state)).toEqual(['APPROVED']);
      expect(issue.pull.requestedTeams).toEqual([]);
    });
  });

  describe('push mirrors', () => {
    const mirrorTo = (address: string, syncOnCommit = false) =>
      makePushMirror(world, app, {
        remoteAddress: address,
        username: 'ann',
        password: 'pw',
        interval: '0s',
        syncOnCommit,
      });
    let target: Repository;

    beforeEach(() => {
      world.rootUrl = 'http://127.0.0.1:4000';
      target = makeRepository(world, ann, { owner: ann, name: 'target' });
    });

    it('copies branches and tags to a repository of this server', () => {
      createTag(world, ann, app, 'v1', app.git.branches.get('main') as string);

      expect(syncPushMirror(world, mirrorTo('http://127.0.0.1:4000/ann/target.git'))).toBe(true);
      expect([...target.git.branches]).toEqual([...app.git.branches]);
      expect([...target.git.tags.keys()]).toEqual(['v1']);
    });

    it.each([
      ['another server', 'http://127.0.0.1:9/x/y.git', 'Could not connect'],
      ['no such repository', 'http://127.0.0.1:4000/ann/nope.git', 'Authentication failed'],
    ])('keeps what git said: %s', (_, address, words) => {
      const mirror = mirrorTo(address);

      expect(syncPushMirror(world, mirror)).toBe(false);
      expect(mirror.lastError).toContain(words);
      expect(mirror.lastUpdate).toBeGreaterThan(0);
    });

    it('runs after a commit when it was asked to', async () => {
      const attached = followMirrors(parts());
      mirrorTo('http://127.0.0.1:4000/ann/target.git', true);
      const synced = new Promise<void>((resolve) =>
        world.listen((happening) => {
          if (happening.kind === 'branch.created' && happening.repo === target) resolve();
        }),
      );

      const tip = pushToBranch(world, ben, app, 'main', [{ message: 'x', files: { x: 'x' } }]);
      await synced;

      expect(target.git.branches.get('main')).toBe(tip);
      await attached?.close?.();
    });
  });

  describe('workflow runs', () => {
    const file =
      'name: CI\non: [push]\njobs:\n  build: { runs-on: linux, steps: [{ run: make }] }\n  test: { needs: build, runs-on: linux }\n';
    const runner: Runner = { id: 1n, name: 'r', scope: 'instance', labels: ['linux'] };
    const states = (attempt?: number): Json[] => {
      const run = [...world.runs.values()][0];
      return run ? jobsOf(world, run, attempt).map((job) => job.state) : [];
    };
    const work = (result: 'success' | 'failure') => {
      const job = waitingJob(world, runner);
      if (!job) throw new Error('no job waits');
      finishTask(world, claimJob(world, runner, job), result);
    };

    beforeEach(() => {
      world.runners.set(runner.id, runner);
      startWorkflows(parts());
      told.length = 0;
      pushToBranch(world, ben, app, 'main', [{ message: 'ci', files: { '.gitea/workflows/ci.yaml': file } }]);
    });

    it('starts by a push, with one job waiting and one blocked', () => {
      expect(states()).toEqual(['waiting', 'blocked']);
      expect(told).toEqual(['pushed', 'status.set', 'status.set', 'run.requested', 'job.queued', 'job.waiting']);
    });

    it('sets the next job free, and ends with the last', () => {
      work('success');
      expect(states()).toEqual(['success', 'waiting']);

      work('success');
      expect([...world.runs.values()][0]?.state).toBe('success');
      expect(told.slice(-2)).toEqual(['job.finished', 'run.finished']);
    });

    it('skips what needed a failed job', () => {
      work('failure');

      expect(states()).toEqual(['failure', 'skipped']);
      expect([...world.runs.values()][0]?.state).toBe('failure');
    });

    it('runs only what failed in a new attempt, and keeps the old one', () => {
      work('success');
      work('failure');
      const run = [...world.runs.values()][0];
      if (!run) throw new Error('no run');

      rerunFailedJobs(world, ann, app, run);

      expect(states(2)).toEqual(['success', 'waiting']);
      expect(states(1)).toEqual(['success', 'failure']);
      work('success');
      expect(run).toMatchObject({ attempt: 2, state: 'success' });
    });

    it('offers no job to a runner of another scope or without the label', () => {
      expect(waitingJob(world, { ...runner, scope: 'other' })).toBeUndefined();
      expect(waitingJob(world, { ...runner, labels: ['windows'] })).toBeUndefined();
      expect(waitingJob(world, { ...runner, scope: 'acme/app' })).toBeDefined();
    });
  });
});
