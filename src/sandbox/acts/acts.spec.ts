import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../core/json.js';
import { HOOK_EVENTS } from '../deliveries/hook-events.js';
import { makeHook } from '../resources/hook.js';
import { makeLabel } from '../resources/label.js';
import { makeMilestone } from '../resources/milestone.js';
import { makeOrganization } from '../resources/organization.js';
import { makeRepository } from '../resources/repository.js';
import { makeTeam } from '../resources/team.js';
import { makeUser } from '../resources/user.js';
import type { ProfileName } from '../profiles.js';
import { profileOf } from '../profiles.js';
import { type Sandbox, startSandbox } from '../start-sandbox.js';
import { acts } from './index.js';
import { performAct } from './perform-act.js';

let sandbox: Sandbox | undefined;

afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
});

/** `acme/app` with a first commit, a label, a milestone; ann owns, ben and cleo write, dora is a stranger. The hook's deliveries are dropped. */
async function start(profile: ProfileName = 'gitea', branchFilter = ''): Promise<Sandbox> {
  sandbox = await startSandbox({ profile });
  const { world, deliveries } = sandbox.parts;
  deliveries.faults.dropPercent(100, 1);
  const ann = makeUser(world, { login: 'ann' });
  const [ben, cleo] = [makeUser(world, { login: 'ben' }), makeUser(world, { login: 'cleo' })];
  makeUser(world, { login: 'dora' });
  const org = makeOrganization(world, { name: 'acme', owner: ann });
  makeTeam(world, { org, name: 'devs', permission: 'write', members: [ben, cleo], includesAllRepositories: true });
  const app = makeRepository(world, ann, { owner: org, name: 'app', files: { 'README.md': '# app\n' } });
  makeLabel(world, ann, { of: app, name: 'bug', color: 'ee0701' });
  makeMilestone(world, app, { title: '1.0' });
  const events = HOOK_EVENTS.map(({ name }) => name);
  makeHook(world, profileOf(profile).telling, {
    orgId: org.id,
    type: 'gitea',
    config: { url: 'http://127.0.0.1:1/', content_type: 'json' },
    events,
    isActive: true,
    branchFilter,
  });
  return sandbox;
}

interface Outcome {
  deliveries: string[];
  feed: string[];
  bodies: Record<string, unknown>[];
}

async function act({ parts }: Sandbox, as: string, name: string, params: JsonObject = {}): Promise<Outcome> {
  const [deliveriesBefore, feedBefore] = [parts.deliveries.history().length, parts.world.feed.length];
  await performAct(parts, {
    as,
    act: name,
    params: name.startsWith('package') ? params : { repo: 'acme/app', ...params },
  });
  const sent = parts.deliveries
    .history()
    .slice(deliveriesBefore)
    .map(({ text }) => text);
  return {
    deliveries: sent.map(({ type, action }) => (action === null ? type : `${type} ${action}`)),
    feed: parts.world.feed
      .slice(feedBefore)
      .map((row) =>
        [row.opType, row.refName, row.content.startsWith('{') ? '{…}' : row.content]
          .filter((word) => word !== '')
          .join(' '),
      ),
    bodies: sent.map(({ json }) => JSON.parse(json) as Record<string, unknown>),
  };
}

const WORK = [{ message: 'feat: x', files: { 'x.txt': 'x\n' } }];

describe('sandbox/acts', () => {
  it.each<[string, string, string, JsonObject, string[], string[]]>([
    ['a repository', 'ann', 'repository.create', { repo: 'acme/newcomer' }, ['repository created'], ['create_repo']],
    ['a push', 'ben', 'push', {}, ['push'], ['commit_repo refs/heads/main {…}']],
    [
      'a new branch with work',
      'ben',
      'push',
      { branch: 'topic', commits: WORK },
      ['create', 'push'],
      ['commit_repo refs/heads/topic', 'commit_repo refs/heads/topic {…}'],
    ],
    [
      'a new branch without work',
      'ben',
      'branch.create',
      { branch: 'topic' },
      ['create', 'push'],
      ['commit_repo refs/heads/topic', 'commit_repo refs/heads/topic {…}'],
    ],
    ['a tag', 'ben', 'tag.create', { tag: 'v1' }, ['push', 'create'], ['push_tag refs/tags/v1 {…}']],
    ['an issue', 'ben', 'issue.open', { title: 'a | b' }, ['issues opened'], ['create_issue 1|a | b']],
    [
      'an issue with everything',
      'ben',
      'issue.open',
      { title: 'x', labels: ['bug'], milestone: '1.0', assignees: ['cleo'] },
      ['issues opened', 'issue_label label_updated', 'issue_milestone milestoned', 'issue_assign assigned'],
      ['create_issue 1|x'],
    ],
    [
      'a release with a new tag',
      'ben',
      'release.publish',
      { tag: 'v1.0.0', name: 'One' },
      ['push', 'create', 'release published'],
      ['push_tag refs/tags/v1.0.0 {…}', 'publish_release refs/tags/v1.0.0 One'],
    ],
    ['a draft', 'ben', 'release.draft', { tag: 'v1.0.0' }, [], []],
    ['a status', 'ben', 'status.set', { state: 'failure' }, ['status'], []],
    ['a wiki page', 'ben', 'wiki.create', { page: 'Home' }, ['wiki created'], []],
    ['a package', 'ben', 'package.upload', { owner: 'acme', name: 'tool', version: '1' }, ['package created'], []],
    ['a fork', 'dora', 'repository.fork', {}, ['fork'], []],
    ['a rename', 'ann', 'repository.rename', { name: 'other' }, [], ['rename_repo app']],
    ['a transfer', 'ann', 'repository.transfer', { owner: 'ann' }, [], []],
    ['an archiving', 'ann', 'repository.archive', {}, [], []],
    ['a deletion', 'ann', 'repository.delete', {}, ['repository deleted'], []],
    ['a star', 'dora', 'repository.star', {}, [], []],
    ['a watcher', 'dora', 'repository.watch', {}, [], []],
    [
      'a run of two jobs',
      'ben',
      'workflow.run',
      { jobs: [{ name: 'build' }, { name: 'test', needs: ['build'], result: 'failure' }] },
      [
        'status',
        'status',
        'workflow_run requested',
        'workflow_job queued',
        'workflow_job waiting',
        'status',
        'workflow_job in_progress',
        'workflow_run in_progress',
        'status',
        'workflow_job completed',
        'status',
        'workflow_job queued',
        'status',
        'workflow_job in_progress',
        'status',
        'workflow_job completed',
        'workflow_run completed',
      ],
      [],
    ],
  ])('%s makes the recorded deliveries and rows', async (_title, as, name, params, deliveries, feed) => {
    const forge = await start();

    const outcome = await act(forge, as, name, params);

    expect(outcome.deliveries).toEqual(deliveries);
    // The rows of a repository that is gone are gone too.
    if (name !== 'repository.delete') expect(outcome.feed).toEqual(feed);
  });

  it.each<[string, string, string, JsonObject, string[], string[]]>([
    ['text', 'ben', 'issue.edit', { title: 'other' }, ['issues edited'], []],
    ['a label', 'ben', 'issue.label', { labels: ['bug'] }, ['issue_label label_updated'], []],
    ['no labels', 'ben', 'issue.label', { how: 'clear' }, ['issue_label label_cleared'], []],
    ['a milestone', 'ben', 'issue.milestone', { milestone: '1.0' }, ['issue_milestone milestoned'], []],
    [
      'two assignees',
      'ben',
      'issue.assign',
      { assignees: ['ben', 'cleo'] },
      ['issue_assign assigned', 'issue_assign assigned'],
      [],
    ],
    ['a comment', 'ann', 'comment.create', { body: 'Why?' }, ['issue_comment created'], ['comment_issue 1|Why?']],
    ['an end', 'ben', 'issue.close', {}, ['issues closed'], ['close_issue 1|']],
  ])('%s on an issue is told as recorded', async (_title, as, name, params, deliveries, feed) => {
    const forge = await start();
    await act(forge, 'ben', 'issue.open', { title: 'x' });

    expect(await act(forge, as, name, { number: 1, ...params })).toMatchObject({ deliveries, feed });
  });

  it('tells the life of a pull request as recorded', async () => {
    const forge = await start();
    const steps: [string, string, JsonObject, string[], string[]][] = [
      [
        'ben',
        'push',
        { branch: 'topic', commits: WORK },
        ['create', 'push'],
        ['commit_repo refs/heads/topic', 'commit_repo refs/heads/topic {…}'],
      ],
      [
        'ben',
        'pull.open',
        { head: 'topic', title: 'feat: x' },
        ['pull_request opened'],
        ['create_pull_request 1|feat: x'],
      ],
      [
        'ben',
        'pull.sync',
        { number: 1 },
        ['push', 'pull_request_sync synchronized'],
        ['commit_repo refs/heads/topic {…}'],
      ],
      ['ben', 'issue.label', { number: 1, labels: ['bug'] }, ['pull_request_label label_updated'], []],
      [
        'ben',
        'pull.request_review',
        { number: 1, reviewers: ['cleo'] },
        ['pull_request_review_request review_requested'],
        [],
      ],
      [
        'ann',
        'comment.create',
        { number: 1, body: 'Nice.' },
        ['pull_request_comment created'],
        ['comment_pull 1|Nice.'],
      ],
      [
        'cleo',
        'pull.review',
        { number: 1, verdict: 'comment', body: 'Thoughts', comments: [{ path: 'x.txt', body: 'why?' }] },
        ['pull_request_review_comment reviewed'],
        ['comment_pull 1|why?', 'comment_pull 1|Thoughts'],
      ],
      [
        'cleo',
        'pull.review',
        { number: 1, verdict: 'reject', body: 'Please change' },
        ['pull_request_review_rejected reviewed'],
        ['reject_pull_request 1|Please change'],
      ],
      [
        'cleo',
        'pull.review',
        { number: 1, verdict: 'approve', body: 'LGTM' },
        ['pull_request_review_approved reviewed'],
        ['approve_pull_request 1|LGTM'],
      ],
      ['ann', 'pull.dismiss_review', { number: 1, reviewer: 'cleo', reason: 'done' }, [], []],
      ['ben', 'pull.close', { number: 1 }, ['pull_request closed'], ['close_pull_request 1|']],
      ['ben', 'pull.reopen', { number: 1 }, ['pull_request reopened'], ['reopen_pull_request 1|']],
      [
        'ann',
        'pull.merge',
        { number: 1, delete_branch: true },
        ['pull_request closed', 'push', 'delete'],
        ['merge_pull_request 1|feat: x', 'commit_repo refs/heads/main {…}', 'delete_branch refs/heads/topic'],
      ],
    ];

    for (const [as, name, params, deliveries, feed] of steps) {
      expect({ name, ...(await act(forge, as, name, params)) }).toMatchObject({ name, deliveries, feed });
    }
  });

  it('takes the rows of a deleted issue away', async () => {
    const forge = await start();
    await act(forge, 'ben', 'issue.open', { title: 'x' });
    await act(forge, 'ben', 'comment.create', { number: 1, body: 'y' });
    await act(forge, 'ben', 'issue.open', { title: 'z' });

    await act(forge, 'ann', 'issue.delete', { number: 1 });

    expect(
      forge.parts.world.feed.filter(({ opType }) => opType.includes('issue')).map(({ content }) => content),
    ).toEqual(['2|z']);
  });

  it('tells refs in full, assignees without labels, runs by their end and a dismissal on Forgejo', async () => {
    const forge = await start('forgejo');

    const branch = await act(forge, 'ben', 'push', { branch: 'topic', commits: WORK });
    const release = await act(forge, 'ben', 'release.publish', { tag: 'v1', name: 'One' });
    const run = await act(forge, 'ben', 'workflow.run', { jobs: [{ name: 'build', result: 'failure' }] });
    const better = await act(forge, 'ben', 'workflow.run', { jobs: [{ name: 'build' }] });

    expect(branch.bodies[0]).toMatchObject({ ref: 'refs/heads/topic', ref_type: 'branch' });
    expect(release.feed.at(-1)).toBe('publish_release v1 One');
    expect(run.deliveries).toEqual(['action_run_failure failure']);
    expect(run.bodies[0]).not.toHaveProperty('sender');
    expect(better.deliveries).toEqual(['action_run_success success', 'action_run_recover recover']);
    expect(better.bodies[1]).toMatchObject({
      last_run: { status: 'failure' },
      run: { status: 'success', index_in_repo: 2 },
    });
  });

  it('shuts tags out by a branch filter, and all but pushes pass it', async () => {
    const forge = await start('gitea', 'main');

    expect((await act(forge, 'ben', 'push')).deliveries).toEqual(['push']);
    expect((await act(forge, 'ben', 'tag.create', { tag: 'v1' })).deliveries).toEqual([]);
    expect((await act(forge, 'ben', 'push', { branch: 'topic' })).deliveries).toEqual([]);
    expect((await act(forge, 'ben', 'issue.open', { title: 'x' })).deliveries).toEqual(['issues opened']);
  });

  it('refuses what the person may not do, and says what is wrong with a wish', async () => {
    const { parts } = await start();
    const attempt = (as: string, name: string, params: JsonObject): Promise<unknown> =>
      performAct(parts, { as, act: name, params });

    await expect(attempt('dora', 'push', { repo: 'acme/app' })).rejects.toMatchObject({ status: 403 });
    await expect(attempt('dora', 'repository.create', { repo: 'acme/x' })).rejects.toMatchObject({ status: 403 });
    await expect(attempt('nobody', 'push', { repo: 'acme/app' })).rejects.toMatchObject({ status: 404 });
    await expect(attempt('ben', 'push', { repo: 'acme/nope' })).rejects.toMatchObject({ status: 404 });
    await expect(attempt('ben', 'dance', {})).rejects.toMatchObject({ status: 422 });
    await expect(attempt('ben', 'push', { repo: 'acme/app', brunch: 'x' })).rejects.toMatchObject({ status: 422 });
  });

  it('has an example that its own parameters accept for every act, and no name twice', () => {
    expect(acts.filter(({ params, example }) => !params.safeParse(example).success).map(({ name }) => name)).toEqual(
      [],
    );
    expect(new Set(acts.map(({ name }) => name)).size).toBe(acts.length);
  });
});
