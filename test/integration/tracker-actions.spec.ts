import { afterEach, describe, expect, it } from '@jest/globals';
import { APP, TrackerRig } from './support/tracker-rig.js';
import { saying, sentenceOf } from '../builders/reasons.js';

const open: TrackerRig[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

async function start(profile: 'gitea' | 'forgejo'): Promise<TrackerRig> {
  const rig = await TrackerRig.start(profile);
  open.push(rig);
  return rig;
}

async function names(rig: TrackerRig): Promise<string[]> {
  return (await rig.stage.listIssueLabels({ ...APP, index: 1 })).map(({ name }) => name ?? '').sort();
}

/** Issue 1, and labels by name. */
async function withLabels(rig: TrackerRig, ...labels: string[]): Promise<void> {
  await rig.stage.createIssue({ ...APP, body: { title: 'It is slow' } });
  for (const name of labels)
    await rig.stage.createLabel({ ...APP, body: { name, color: '#00aa00', exclusive: name.startsWith('size/') } });
}

describe.each(['gitea', 'forgejo'] as const)('integration/tracker-actions (%s)', (profile) => {
  it('issue.label puts on what is missing, once', async () => {
    const rig = await start(profile);
    await withLabels(rig, 'bug', 'docs');

    const first = await rig.want('issue.label', { number: '1', add: ['bug', 'docs'] });
    const second = await rig.want('issue.label', { number: '1', add: ['docs', 'bug'] });

    expect([first.state, second.state, sentenceOf(first.reason)]).toEqual(['done', 'unchanged', '+bug +docs on #1']);
    expect(await names(rig)).toEqual(['bug', 'docs']);
    expect(rig.written).toEqual(['addIssueLabels']);
  });

  it('issue.label refuses names that no label has, and changes nothing', async () => {
    const rig = await start(profile);
    await withLabels(rig, 'bug');
    await rig.want('issue.label', { number: '1', add: ['bug'] });

    const unknown = await rig.want('issue.label', { number: '1', set: ['nobody', 'nowhere'] });

    expect(unknown).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining('there is no label nobody, nowhere')),
    });
    expect(await names(rig)).toEqual(['bug']);
    expect(rig.written).toEqual(['addIssueLabels']);
  });

  it('issue.label leaves off what a person took off, for rules, until a person lets it go on', async () => {
    const rig = await start(profile);
    await withLabels(rig, 'bug', 'docs', 'size/L', 'size/S');
    await rig.stage.addCollaborator({ ...APP, collaborator: 'ann', body: { permission: 'write' } });
    const ann = rig.as('ann');
    const takeOff = async (name: string): Promise<void> => {
      const label = (await ann.listIssueLabels({ ...APP, index: 1 })).find((one) => one.name === name);
      await ann.removeIssueLabel({ ...APP, index: 1, id: label?.id ?? '' });
    };
    const both = { number: '1', add: ['bug', 'docs'] };
    const size = { number: '1', add: ['size/L'], within: 'size/' };
    await rig.want('issue.label', both);
    await rig.want('issue.label', size);
    await takeOff('bug');
    await takeOff('size/L');
    const small = (await ann.listLabels(APP)).find(({ name }) => name === 'size/S');
    await ann.addIssueLabels({ ...APP, index: 1, body: { labels: [BigInt(small?.id ?? 0)] } });

    const again = await rig.want('issue.label', both);
    const sized = await rig.want('issue.label', size);
    expect([again.state, sized.state]).toEqual(['suppressed', 'suppressed']);
    expect(sentenceOf(again.reason)).toContain('somebody took bug off #1: not made again');
    expect(await names(rig)).toEqual(['docs', 'size/S']);

    await takeOff('docs');
    expect((await rig.want('issue.label', both)).state).toBe('suppressed');
    expect((await rig.want('issue.label', both, { kind: 'policy' })).state).toBe('done');
    expect(await names(rig)).toEqual(['bug', 'docs', 'size/S']);
  });

  it('issue.label puts back what the bot itself took off', async () => {
    const rig = await start(profile);
    await withLabels(rig, 'bug');
    await rig.want('issue.label', { number: '1', add: ['bug'] });
    await rig.want('issue.label', { number: '1', remove: ['bug'] });

    expect((await rig.want('issue.label', { number: '1', add: ['bug'] })).state).toBe('done');
  });

  it('issue.label puts on one of two labels of the same name, and none the second time', async () => {
    const rig = await start(profile);
    await withLabels(rig, 'bug', 'bug');

    const first = await rig.want('issue.label', { number: '1', add: ['bug'] });
    const second = await rig.want('issue.label', { number: '1', add: ['bug'] });

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(await names(rig)).toEqual(['bug']);
  });

  it('issue.label takes off, replaces, and keeps one of a group', async () => {
    const rig = await start(profile);
    await withLabels(rig, 'bug', 'docs', 'area/a', 'area/b');
    await rig.want('issue.label', { number: '1', add: ['bug', 'docs', 'area/a'] });

    await rig.want('issue.label', { number: '1', remove: ['docs', 'never-there'] });
    expect(await names(rig)).toEqual(['area/a', 'bug']);
    await rig.want('issue.label', { number: '1', add: ['area/b'], within: 'area/' });
    expect(await names(rig)).toEqual(['area/b', 'bug']);
    await rig.want('issue.label', { number: '1', set: ['docs'] });

    expect(await names(rig)).toEqual(['docs']);
    expect(rig.written).toEqual(['addIssueLabels', 'removeIssueLabel', 'replaceIssueLabels', 'replaceIssueLabels']);
  });

  it('issue.label lets exclusive labels take the place of each other, and refuses two at once', async () => {
    const rig = await start(profile);
    await withLabels(rig, 'size/S', 'size/L');
    await rig.want('issue.label', { number: '1', add: ['size/S'] });

    const both = await rig.want('issue.label', { number: '1', set: ['size/S', 'size/L'] });
    const large = await rig.want('issue.label', { number: '1', add: ['size/L'] });

    expect([both.state, large.state]).toEqual([expect.stringMatching(/^(refused|conflict)$/), 'done']);
    expect(await names(rig)).toEqual(['size/L']);
  });

  it('issue.label takes labels of the organization', async () => {
    const rig = await start(profile);
    await withLabels(rig);
    await rig.stage.createOrgLabel({ org: 'acme', body: { name: 'everywhere', color: '#123456' } });

    expect((await rig.want('issue.label', { number: '1', add: ['everywhere'] })).state).toBe('done');
    expect(await names(rig)).toEqual(['everywhere']);
  });

  it('issue.label works on a pull request, and refuses a number that is not there', async () => {
    const rig = await start(profile);
    await rig.stage.createLabel({ ...APP, body: { name: 'bug', color: '#00aa00' } });
    await rig.stage.createBranch({ ...APP, body: { new_branch_name: 'x' } });
    await rig.stage.createFile({
      ...APP,
      filepath: 'a.txt',
      body: { branch: 'x', content: Buffer.from('a').toString('base64'), message: 'a' },
    });
    await rig.stage.createPull({ ...APP, body: { base: 'main', head: 'x', title: 'a' } });

    expect((await rig.want('issue.label', { number: '1', add: ['bug'] })).state).toBe('done');
    expect((await rig.want('issue.label', { number: '9', add: ['bug'] })).state).toBe('refused');
  });

  it('issue.milestone sets, leaves another one alone, moves it, takes it off', async () => {
    const rig = await start(profile);
    await withLabels(rig);
    await rig.stage.createMilestone({
      ...APP,
      body: { title: '1.4', due_on: '2027-01-31T12:00:00Z', state: 'closed' },
    });
    await rig.stage.createMilestone({ ...APP, body: { title: '1.4.1' } });
    const milestone = async () => (await rig.stage.getIssue({ ...APP, index: 1 })).milestone?.title ?? null;

    const states = [
      (await rig.want('issue.milestone', { number: '1', title: '1.4' })).state,
      (await rig.want('issue.milestone', { number: '1', title: ' 1.4 ' })).state,
      (await rig.want('issue.milestone', { number: '1', title: '1.4.1' })).state,
      await milestone(),
      (await rig.want('issue.milestone', { number: '1', title: '1.4.1', replace: true })).state,
      await milestone(),
      (await rig.want('issue.milestone', { number: '1', title: '9.9', replace: true })).state,
      (await rig.want('issue.milestone', { number: '1' })).state,
      await milestone(),
    ];

    expect(states).toEqual(['done', 'unchanged', 'unchanged', '1.4', 'done', '1.4.1', 'refused', 'done', null]);
    expect((await rig.stage.getMilestone({ ...APP, id: 1 })).due_on).toContain('2027-01-31');
  });

  it('issue.comment speaks once, is edited in place, and is not taken in by a comment of somebody else with its mark', async () => {
    const rig = await start(profile);
    await withLabels(rig);
    await rig.want('issue.comment', { number: '1', key: 'stale', body: 'Nothing happened.' });
    const [mine] = await rig.stage.listComments({ ...APP, index: 1 });
    const ann = await rig.user('ann');
    await ann.createComment({ ...APP, index: 1, body: { body: mine?.body ?? '' } });

    const again = await rig.want('issue.comment', { number: '1', key: 'stale', body: 'Nothing happened.' });
    const edited = await rig.want('issue.comment', { number: '1', key: 'stale', body: 'Still nothing.' });
    const other = await rig.want('issue.comment', { number: '1', key: 'hello', body: 'Hello.' });
    const kept = await rig.want('issue.comment', { number: '1', key: 'hello', body: 'Hello again.', keep: true });

    expect([again.state, edited.state, other.state, kept.state]).toEqual(['unchanged', 'done', 'done', 'unchanged']);
    const bodies = (await rig.stage.listComments({ ...APP, index: 1 })).map(({ body }) => (body ?? '').split('\n')[0]);
    expect(bodies).toEqual(['Still nothing.', 'Nothing happened.', 'Hello.']);
    expect((await rig.want('issue.comment', { number: '7', key: 'hello', body: 'Hello.' })).state).toBe('refused');
  });

  it('issue.react reacts once to an issue and to a comment, whatever others reacted', async () => {
    const rig = await start(profile);
    await withLabels(rig);
    const ann = await rig.user('ann');
    const id = (await ann.createComment({ ...APP, index: 1, body: { body: '/merge' } })).id ?? '';
    await ann.addCommentReaction({ ...APP, id, body: { content: 'eyes' } });

    const wanted = [
      { number: '1', reaction: 'heart' },
      { number: '1', reaction: 'heart' },
      { number: '1', comment: id, reaction: 'eyes' },
      { number: '1', comment: id, reaction: 'eyes' },
      { number: '7', reaction: 'heart' },
      { number: '1', comment: '999', reaction: 'eyes' },
    ];
    const states: string[] = [];
    for (const params of wanted) states.push((await rig.want('issue.react', params)).state);

    expect(states).toEqual(['done', 'unchanged', 'done', 'unchanged', 'refused', 'refused']);
    expect(rig.written).toEqual(['addIssueReaction', 'addCommentReaction']);
    const [toIssue, toComment] = [
      await rig.stage.listIssueReactions({ ...APP, index: 1 }),
      await rig.stage.listCommentReactions({ ...APP, id }),
    ];
    expect(toIssue.map(({ content }) => content)).toEqual(['heart']);
    expect(toComment.map(({ content }) => content)).toEqual(['eyes', 'eyes']);
  });

  it('issue.state closes and opens again, unless something happened meanwhile', async () => {
    const rig = await start(profile);
    await withLabels(rig);

    const held = await rig.want('issue.state', {
      number: '1',
      state: 'closed',
      unchanged_since: '2001-01-01T00:00:00Z',
    });
    const closed = await rig.want('issue.state', { number: '1', state: 'closed' });
    const again = await rig.want('issue.state', { number: '1', state: 'closed' });
    const opened = await rig.want('issue.state', { number: '1', state: 'open' });

    expect([held.state, closed.state, again.state, opened.state]).toEqual(['unchanged', 'done', 'unchanged', 'done']);
  });

  it('issue.assign assigns, takes off, goes by turns, and refuses who cannot be assigned', async () => {
    const rig = await start(profile);
    await withLabels(rig);
    for (const login of ['ann', 'ben'])
      await rig.stage.addCollaborator({ ...APP, collaborator: login, body: { permission: 'write' } });
    const assignees = async () =>
      ((await rig.stage.getIssue({ ...APP, index: 1 })).assignees ?? []).map(({ login }) => login).sort();

    const first = await rig.want('issue.assign', { number: '1', one_of: ['ann', 'ben'] });
    expect(await assignees()).toEqual(['ben']);
    const turn = await rig.want('issue.assign', { number: '1', one_of: ['ann', 'ben'] });
    const both = await rig.want('issue.assign', { number: '1', add: ['Ann'] });
    const stranger = await rig.want('issue.assign', { number: '1', add: ['cy'] });
    const off = await rig.want('issue.assign', { number: '1', remove: ['ben'] });

    expect([first.state, turn.state, both.state, stranger.state, off.state]).toEqual([
      'done',
      'unchanged',
      'done',
      'refused',
      'done',
    ]);
    expect(await assignees()).toEqual(['ann']);
  });

  it('status.set adds a row only where the newest of the context differs', async () => {
    const rig = await start(profile);
    const sha = (await rig.stage.getBranch({ ...APP, branch: 'main' })).commit?.id ?? '';
    const row = { sha, context: 'forgehand/title', state: 'success', description: 'fine' };

    const states = [
      (await rig.want('status.set', row)).state,
      (await rig.want('status.set', row)).state,
      (await rig.want('status.set', { ...row, state: 'failure' })).state,
      (await rig.want('status.set', row)).state,
      (await rig.want('status.set', { ...row, sha: 'ab'.repeat(20) })).state,
      (await rig.want('status.set', { ...row, state: 'green' })).state,
    ];

    expect(states).toEqual(['done', 'unchanged', 'done', 'done', 'refused', 'refused']);
    expect(rig.written).toEqual(['createStatus', 'createStatus', 'createStatus']);
  });

  it.each<
    [
      string,
      (
        rig: TrackerRig,
      ) => Record<string, string | boolean | string[]> | Promise<Record<string, string | boolean | string[]>>,
    ]
  >([
    ['issue.label', () => ({ number: '1', add: ['bug'] })],
    ['issue.milestone', () => ({ number: '1', title: '1.4' })],
    ['issue.comment', () => ({ number: '1', key: 'stale', body: 'Nothing happened.' })],
    ['issue.react', () => ({ number: '1', reaction: 'eyes' })],
    ['issue.state', () => ({ number: '1', state: 'closed' })],
    [
      'issue.assign',
      async (rig) => {
        await rig.stage.addCollaborator({ ...APP, collaborator: 'ann', body: { permission: 'write' } });
        return { number: '1', add: ['ann'] };
      },
    ],
    [
      'status.set',
      async (rig) => ({
        sha: (await rig.stage.getBranch({ ...APP, branch: 'main' })).commit?.id ?? '',
        context: 'x',
        state: 'success',
      }),
    ],
  ])(
    '%s finds out by reading what became of a call whose answer was lost, and makes it once',
    async (action, paramsOf) => {
      const rig = await start(profile);
      await withLabels(rig, 'bug');
      await rig.stage.createMilestone({ ...APP, body: { title: '1.4' } });
      const params = await paramsOf(rig);
      rig.loseNextAnswer();

      const intent = await rig.want(action, params);
      expect(intent.state).toBe('unknown');
      const settled = await rig.rig.recover(intent.id, 120_000);

      expect(settled).toMatchObject({ state: 'done' });
      expect(rig.written).toHaveLength(1);
      expect((await rig.want(action, params)).state).toBe('unchanged');
    },
  );
});

/** Pull request 1 of ann, its head, and who may approve it. */
async function withPull(rig: TrackerRig): Promise<string> {
  for (const login of ['ann', 'ben'])
    await rig.stage.addCollaborator({ ...APP, collaborator: login, body: { permission: 'write' } });
  const ann = await rig.user('ann');
  await ann.createBranch({ ...APP, body: { new_branch_name: 'x' } });
  await ann.createFile({
    ...APP,
    filepath: 'a.txt',
    body: { branch: 'x', content: Buffer.from('a').toString('base64'), message: 'a' },
  });
  const pull = await ann.createPull({ ...APP, body: { base: 'main', head: 'x', title: 'a' } });
  return pull.head?.sha ?? '';
}

describe.each(['gitea', 'forgejo'] as const)('integration/tracker-actions on pull requests (%s)', (profile) => {
  it('pull_request.merge merges only what is labelled, approved by another and green, at the commit that was seen', async () => {
    const rig = await start(profile);
    const sha = await withPull(rig);
    await rig.stage.createLabel({ ...APP, body: { name: 'ready', color: '#00aa00' } });
    const merge = async (over: Record<string, string> = {}) =>
      sentenceOf((await rig.want('pull_request.merge', { number: '1', sha, label: 'ready', ...over })).reason);

    const reasons = [await merge({ sha: 'ab'.repeat(20) }), await merge()];
    await rig.want('issue.label', { number: '1', add: ['ready'] });
    reasons.push(await merge());
    const ben = await rig.user('ben');
    await ben.createReview({ ...APP, index: 1, body: { event: 'APPROVED', body: 'fine' } });
    reasons.push(await merge());
    await rig.want('status.set', { sha, context: 'ci', state: 'success' });
    reasons.push(await merge(), await merge());

    expect(reasons).toEqual([
      expect.stringContaining('the head of #1 moved'),
      expect.stringContaining('does not bear the label ready'),
      expect.stringContaining('0 of 1 approvals'),
      expect.stringContaining('has no status; without CI write checks: false'),
      expect.stringContaining('pull request #1 merged'),
      'pull request #1 is merged',
    ]);
    expect(rig.written.filter((name) => name === 'mergePull')).toHaveLength(1);
  });

  it('pull_request.merge counts the checks of every page', async () => {
    const rig = await start(profile);
    const sha = await withPull(rig);
    const context = (n: number): string => `ci ${String(n).padStart(2, '0')}`;
    for (let n = 0; n < 51; n += 1)
      await rig.stage.createStatus({
        ...APP,
        sha,
        body: { context: context(n), state: n === 50 ? 'failure' : 'success' },
      });
    const merge = async () => {
      const id = await rig.rig.plan('pull_request.merge', { number: '1', sha, approvals: 0 }, { repo: rig.repo });
      return sentenceOf((await rig.rig.work(id)).reason);
    };

    const before = await merge();
    await rig.stage.createStatus({ ...APP, sha, body: { context: context(50), state: 'success' } });

    expect(before).toContain('are failure');
    expect(await merge()).toContain('pull request #1 merged');
  });

  it('pull_request.merge waits for approval and checks that come later, and lets others of its repository go first', async () => {
    const rig = await start(profile);
    const sha = await withPull(rig);
    await rig.stage.createLabel({ ...APP, body: { name: 'ready', color: '#00aa00' } });
    await rig.want('issue.label', { number: '1', add: ['ready'] });
    const id = await rig.rig.plan('pull_request.merge', { number: '1', sha, label: 'ready' }, { repo: rig.repo });

    const looks = [await rig.rig.work(id)];
    const ben = await rig.user('ben');
    await ben.createReview({ ...APP, index: 1, body: { event: 'APPROVED', body: 'fine' } });
    const look = async () => {
      expect(await rig.rig.journal.revisit('acme', `main/repository/${rig.repo.id}`)).toEqual([id]);
      looks.push(await rig.rig.work(id));
    };
    await look();
    for (const state of ['pending', 'failure']) {
      await rig.want('status.set', { sha, context: 'ci', state });
      await look();
    }
    await rig.want('status.set', { sha, context: 'ci', state: 'success' });
    await look();

    expect(looks.map(({ state, reason }) => `${state}: ${sentenceOf(reason)}`)).toEqual([
      expect.stringMatching(/^planned: waits: #1 has 0 of 1 approvals/),
      expect.stringMatching(/^planned: waits: the commit .* has no status; without CI write checks: false/),
      expect.stringMatching(/^planned: waits: the statuses of .* are pending/),
      expect.stringMatching(/^planned: waits: the statuses of .* are failure/),
      expect.stringMatching(/^done: pull request #1 merged/),
    ]);
    expect(await rig.rig.journal.revisit('acme', `main/repository/${rig.repo.id}`)).toEqual([]);
  });

  it('pull_request.merge gives up when the head moves, and after three days', async () => {
    const rig = await start(profile);
    const sha = await withPull(rig);
    const plan = () => rig.rig.plan('pull_request.merge', { number: '1', sha }, { repo: rig.repo });
    const late = await plan();
    expect((await rig.rig.work(late)).state).toBe('planned');

    rig.rig.clock.advance(73 * 3_600_000);
    expect(await rig.rig.work(late)).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringMatching(/^given up after 3 days: #1 has 0 of 1 approvals/)),
    });

    const moved = await plan();
    expect((await rig.rig.work(moved)).state).toBe('planned');
    const ann = await rig.user('ann');
    const content = Buffer.from('b').toString('base64');
    await ann.createFile({ ...APP, filepath: 'b.txt', body: { branch: 'x', content, message: 'b' } });
    rig.rig.clock.advance(60_000);
    expect(await rig.rig.work(moved)).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining('the head of #1 moved')),
    });
    expect(rig.written).toEqual([]);
  });

  it('pull_request.merge waits for what the branch protection asks beyond the rule', async () => {
    const rig = await start(profile);
    const sha = await withPull(rig);
    const wish = { number: '1', sha, approvals: 0, checks: false };
    const asks = 'Not all required status checks successful';
    rig.refuseNext('mergePull', 405, profile === 'forgejo' ? `not allowed to merge [reason: ${asks}]` : asks);
    const id = await rig.rig.plan('pull_request.merge', wish, { repo: rig.repo });

    expect(await rig.rig.work(id)).toMatchObject({
      state: 'planned',
      reason: saying(expect.stringMatching(/^waits: the branch protection holds #1: .*Not all required/)),
    });

    rig.rig.clock.advance(600_000);
    expect((await rig.rig.work(id)).state).toBe('done');
  });

  it('pull_request.merge tries again while the conflict check runs, and finds out what became of a lost answer', async () => {
    const rig = await start(profile);
    const sha = await withPull(rig);
    const wish = { number: '1', sha, approvals: 0, checks: false };
    rig.refuseNext('mergePull', 405, 'Please try again later');

    const id = await rig.rig.plan('pull_request.merge', wish, { repo: rig.repo });
    const first = await rig.rig.work(id);
    expect(first).toMatchObject({ state: 'planned' });
    rig.loseNextAnswer();
    rig.rig.clock.advance(60_000);
    expect((await rig.rig.work(id)).state).toBe('unknown');

    expect(await rig.rig.recover(id, 120_000)).toMatchObject({ state: 'done' });
    expect(rig.written).toEqual(['mergePull']);
  });

  it('pull_request.request_review asks by turns, never the author, and nobody twice', async () => {
    const rig = await start(profile);
    await withPull(rig);
    const ask = async (over: Record<string, string[]>) =>
      (await rig.want('pull_request.request_review', { number: '1', ...over })).state;

    const states = [
      await ask({ one_of: ['ann', 'ben'] }),
      await ask({ one_of: ['ann', 'ben'] }),
      await ask({ reviewers: ['Ben', 'ann'] }),
    ];

    expect(states).toEqual(['done', 'unchanged', 'unchanged']);
    expect((await rig.stage.getPull({ ...APP, index: 1 })).requested_reviewers?.map(({ login }) => login)).toEqual([
      'ben',
    ]);
  });
});
