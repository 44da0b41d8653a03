import { afterEach, describe, expect, it } from '@jest/globals';
import { APP, TrackerRig } from './support/tracker-rig.js';
import { sentenceOf } from '../builders/reasons.js';
import type { JsonObject } from '../../src/core/json.js';

const open: TrackerRig[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Repository app with a branch `topic` that has one commit of its own. */
async function start(profile: 'gitea' | 'gitea@1.26' | 'forgejo'): Promise<TrackerRig> {
  const rig = await TrackerRig.start(profile);
  open.push(rig);
  rig.rig.settings.powers.push('branch.delete');
  await write(rig, 'topic.txt', { branch: 'main', new_branch: 'topic' });
  return rig;
}

function write(rig: TrackerRig, filepath: string, where: JsonObject): Promise<unknown> {
  return rig.stage.createFile({
    ...APP,
    filepath,
    body: { content: base64(filepath), message: `add ${filepath}`, ...where },
  });
}

const tipOf = async (rig: TrackerRig, branch: string): Promise<string> =>
  (await rig.stage.getBranch({ ...APP, branch })).commit?.id ?? '';
const branches = async (rig: TrackerRig): Promise<string[]> =>
  (await rig.stage.listBranches(APP)).map(({ name }) => name ?? '').sort();
const pull = (rig: TrackerRig, head = 'topic', base = 'main'): Promise<unknown> =>
  rig.stage.createPull({ ...APP, body: { title: head, head, base } });

describe.each(['gitea', 'gitea@1.26', 'forgejo'] as const)('integration/branch-actions (%s)', (profile) => {
  it('branch.delete takes the branch away at its commit, once', async () => {
    const rig = await start(profile);
    const wish = { branch: 'topic', sha: await tipOf(rig, 'topic') };

    const [first, second] = [await rig.want('branch.delete', wish), await rig.want('branch.delete', wish)];

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(await branches(rig)).toEqual(['main']);
    expect(rig.written).toEqual(['deleteBranch']);
  });

  it('branch.delete stays away from what is in use, moved, protected or the default', async () => {
    const rig = await start(profile);
    const seen = await tipOf(rig, 'topic');
    const said = async (branch: string, sha: string): Promise<string> => {
      const { state, reason } = await rig.want('branch.delete', { branch, sha });
      return `${state}: ${sentenceOf(reason)}`;
    };
    expect(await said('main', await tipOf(rig, 'main'))).toBe('refused: main is the default branch');

    await pull(rig);
    expect(await said('topic', seen)).toBe('refused: branch topic has an open pull request: #1');
    await write(rig, 'more.txt', { branch: 'topic', new_branch: 'onto' });
    await pull(rig, 'onto', 'topic');
    expect(await said('topic', seen)).toBe('refused: branch topic has an open pull request: #2, #1');

    await write(rig, 'since.txt', { branch: 'topic' });
    expect(await said('topic', seen)).toMatch(/^refused: branch topic moved to /);
    await rig.stage.createBranch({ ...APP, body: { new_branch_name: 'kept', old_branch_name: 'main' } });
    await rig.stage.createBranchProtection({ ...APP, body: { rule_name: 'kept' } });
    expect(await said('kept', await tipOf(rig, 'kept'))).toBe('refused: branch kept is protected');
    expect(rig.written).toEqual([]);
    expect(await branches(rig)).toEqual(['kept', 'main', 'onto', 'topic']);
  });

  it('branch.delete comes out of a lost answer by a look, without a second call', async () => {
    const rig = await start(profile);
    const id = await rig.rig.plan(
      'branch.delete',
      { branch: 'topic', sha: await tipOf(rig, 'topic') },
      { repo: rig.repo },
    );
    rig.loseNextAnswer();
    await rig.rig.work(id);
    await rig.rig.recover(id);

    expect((await rig.rig.journal.intent(id))?.state).toBe('done');
    expect(rig.written).toEqual(['deleteBranch']);
  });

  it.each(['merge', 'rebase'])('pull_request.update_branch brings the head up to date by %s, once', async (style) => {
    const rig = await start(profile);
    await pull(rig);
    await write(rig, 'main.txt', { branch: 'main' });

    const [first, second] = [
      await rig.want('pull_request.update_branch', { number: '1', style }),
      await rig.want('pull_request.update_branch', { number: '1', style }),
    ];

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(sentenceOf(second.reason)).toBe('the branch of #1 has all of main');
    expect(rig.written).toEqual(['updatePullBranch']);
    const commits = await rig.stage.listPullCommits({ ...APP, index: '1' });
    expect(commits.length).toBe(style === 'merge' ? 2 : 1);
  });

  it('review.approve approves the head once, also where an answer is lost', async () => {
    const rig = await start(profile);
    rig.rig.settings.powers.push('review.approve');
    await pull(rig);
    const wish = { number: '1', sha: await tipOf(rig, 'topic') };
    expect(sentenceOf((await rig.want('review.approve', wish)).reason)).toMatch(/^the bot opened #1 itself/);
    const { world } = rig.sandbox.parts;
    for (const issue of world.issues.values()) Object.assign(issue, { posterId: world.userByName('ann')?.id });
    const id = await rig.rig.plan('review.approve', wish, { repo: rig.repo });
    rig.loseNextAnswer();
    await rig.rig.work(id);
    await rig.rig.recover(id);
    const { state } = await rig.want('review.approve', wish);

    expect([(await rig.rig.journal.intent(id))?.state, state]).toEqual(['done', 'unchanged']);
    expect(rig.written).toEqual(['createReview']);
    expect(await rig.stage.listReviews({ ...APP, index: '1' })).toMatchObject([
      { state: 'APPROVED', commit_id: wish.sha },
    ]);
  });

  it('pull_request.merge leaves what the bot itself approved, unless the operator allows both together', async () => {
    const rig = await start(profile);
    const limits = { merges: true, approveAndMerge: false, privateMirrors: true, privateReads: true };
    Object.assign(rig.rig.settings, { limits });
    rig.rig.settings.powers.push('review.approve');
    await pull(rig);
    const { world } = rig.sandbox.parts;
    for (const issue of world.issues.values()) Object.assign(issue, { posterId: world.userByName('ann')?.id });
    const wish = { number: '1', sha: await tipOf(rig, 'topic') };
    await rig.want('review.approve', wish);
    const merge = async (): Promise<string> => {
      const { state, reason } = await rig.want('pull_request.merge', { ...wish, checks: false });
      return `${state}: ${sentenceOf(reason)}`;
    };

    expect(await merge()).toMatch(/^refused: the bot itself approved #1, .*orgs\[\]\.limits\.approve_and_merge/);
    limits.approveAndMerge = true;
    expect(await merge()).toMatch(/^done: /);
    expect(rig.written).toEqual(['createReview', 'mergePull']);
  });

  it('pull_request.merge by the forge is a plan that outlives a lost answer; the forge makes it once the checks succeed', async () => {
    const rig = await start(profile);
    const checks = { rule_name: 'main', enable_status_check: true, status_check_contexts: ['ci'] };
    await rig.stage.createBranchProtection({ ...APP, body: checks });
    await pull(rig);
    const sha = await tipOf(rig, 'topic');
    const wish = { number: '1', sha, approvals: 0, by: 'forge', method: 'squash' };
    const id = await rig.rig.plan('pull_request.merge', wish, { repo: rig.repo });
    rig.loseNextAnswer();
    await rig.rig.work(id);
    await rig.rig.recover(id);
    const states = [(await rig.rig.journal.intent(id))?.state];
    for (const [action, params] of [
      ['pull_request.merge', wish],
      ['pull_request.unqueue', { number: '1' }],
      ['pull_request.unqueue', { number: '1' }],
      ['pull_request.merge', wish],
    ] as const)
      states.push((await rig.want(action, params)).state);
    const green = { context: 'ci', state: 'success' } as const;
    expect((await rig.stage.getPull({ ...APP, index: '1' })).merged).toBe(false);
    await rig.stage.createStatus({ ...APP, sha, body: green });

    expect(states).toEqual(['done', 'unchanged', 'done', 'unchanged', 'done']);
    expect(rig.written).toEqual(['mergePull', 'cancelPlannedMerge', 'mergePull']);
    expect((await rig.stage.getPull({ ...APP, index: '1' })).merged).toBe(true);
    expect((await rig.want('pull_request.merge', wish)).state).toBe('unchanged');
  });

  it('pull_request.merge by the forge needs a base that requires checks, and leaves what a person took back', async () => {
    const rig = await start(profile);
    await pull(rig);
    const wish = { number: '1', sha: await tipOf(rig, 'topic'), approvals: 0, by: 'forge' };
    const said = async (): Promise<string> => {
      const { state, reason } = await rig.want('pull_request.merge', wish);
      return `${state}: ${sentenceOf(reason)}`;
    };
    expect(await said()).toMatch(/^refused: main requires no checks/);
    await rig.stage.createBranchProtection({
      ...APP,
      body: { rule_name: 'main', enable_status_check: true, status_check_contexts: ['ci'] },
    });
    expect(await said()).toMatch(/^done: /);
    const { world } = rig.sandbox.parts;
    await rig.stage.cancelPlannedMerge({ ...APP, index: '1' });
    for (const entry of world.comments.values())
      if (entry.kind === 'merge-cancelled') Object.assign(entry, { posterId: world.userByName('ann')?.id });

    expect(await said()).toMatch(/^suppressed: .*somebody took back the planned merge of #1/);
    expect(rig.written).toEqual(['mergePull']);
  });

  it('pull_request.update_branch says a conflict, and leaves what is closed', async () => {
    const rig = await start(profile);
    await pull(rig);
    await write(rig, 'topic.txt', { branch: 'main', content: base64('otherwise') });
    const said = async (): Promise<string> => {
      const { state, reason } = await rig.want('pull_request.update_branch', { number: '1' });
      return `${state}: ${sentenceOf(reason)}`;
    };

    expect(await said()).toBe('refused: the branch of #1 cannot be brought up to date: it conflicts with its base');
    await rig.stage.updateIssue({ ...APP, index: '1', body: { state: 'closed' } });
    expect(await said()).toBe('refused: pull request #1 is closed');
  });

  it('pull_request.update_branch comes out of a lost answer without a second merge commit', async () => {
    const rig = await start(profile);
    await pull(rig);
    await write(rig, 'main.txt', { branch: 'main' });
    const id = await rig.rig.plan('pull_request.update_branch', { number: '1' }, { repo: rig.repo });
    rig.loseNextAnswer();
    await rig.rig.work(id);
    await rig.rig.recover(id);

    expect((await rig.rig.journal.intent(id))?.state).toBe('done');
    expect(rig.written).toEqual(['updatePullBranch']);
    expect(await rig.stage.listPullCommits({ ...APP, index: '1' })).toHaveLength(2);
  });
});
