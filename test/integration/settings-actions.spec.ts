import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/core/json.js';
import type { Intent } from '../../src/core/run.js';
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

/** The next write has its effect and its answer is lost: read about it, and go on until it ended. */
async function comeThrough(rig: TrackerRig, action: string, params: JsonObject): Promise<Intent> {
  rig.loseNextAnswer();
  const { id, state } = await rig.want(action, params);
  expect(state).toBe('unknown');
  await rig.rig.recover(id);
  rig.rig.clock.advance(60_000);
  return rig.rig.work(id);
}

describe.each(['gitea', 'forgejo'] as const)('integration/settings-actions (%s)', (profile) => {
  it('label.ensure edits what differs, keeps what it says nothing of, and renames with the issues', async () => {
    const rig = await start(profile);
    const old = await rig.stage.createLabel({ ...APP, body: { name: 'bug', color: '#000000', description: 'kept' } });
    await rig.stage.updateLabel({ ...APP, id: old.id ?? '', body: { is_archived: true } });
    await rig.stage.createIssue({ ...APP, body: { title: 'It is slow' } });
    await rig.stage.addIssueLabels({ ...APP, index: 1, body: { labels: ['bug'] } });
    const wanted = { name: 'kind/bug', color: '#d73a4a', exclusive: true, renamed_from: ['type/bug', 'bug'] };

    const states = [(await rig.want('label.ensure', wanted)).state, (await rig.want('label.ensure', wanted)).state];

    expect(states).toEqual(['done', 'unchanged']);
    expect(rig.written).toEqual(['updateLabel']);
    expect((await rig.stage.listIssueLabels({ ...APP, index: 1 })).map(({ id, name }) => [id, name])).toEqual([
      [old.id, 'kind/bug'],
    ]);
    expect(await rig.stage.listLabels(APP)).toMatchObject([
      { color: 'd73a4a', description: 'kept', exclusive: true, is_archived: true },
    ]);
  });

  it('milestone.ensure edits what differs, and keeps the due date', async () => {
    const rig = await start(profile);
    await rig.stage.createMilestone({
      ...APP,
      body: { title: 'v1.4', due_on: '2027-01-31T12:00:00Z', description: 'old' },
    });
    const wanted = { title: '1.4', description: 'new', state: 'open', renamed_from: 'v1.4' };

    const states = [
      (await rig.want('milestone.ensure', wanted)).state,
      (await rig.want('milestone.ensure', wanted)).state,
    ];

    expect(states).toEqual(['done', 'unchanged']);
    expect(await rig.stage.listMilestones({ ...APP, state: 'all' })).toMatchObject([
      { title: '1.4', description: 'new', due_on: expect.stringContaining('2027-01-31') },
    ]);
  });

  it('label.remove and milestone.remove take away what was made from here and nobody uses, and nothing else', async () => {
    const rig = await start(profile);
    await rig.stage.createLabel({ ...APP, body: { name: 'theirs', color: '#000000' } });
    await rig.want('label.ensure', { name: 'ours', color: '#ffffff' });
    await rig.want('label.ensure', { name: 'used', color: '#ffffff' });
    await rig.want('milestone.ensure', { title: 'ours' });
    await rig.stage.createIssue({ ...APP, body: { title: 'It is slow' } });
    await rig.stage.addIssueLabels({ ...APP, index: 1, body: { labels: ['used'] } });

    const states = [];
    for (const name of ['ours', 'theirs', 'used', 'never'])
      states.push((await rig.want('label.remove', { name })).state);
    states.push((await rig.want('milestone.remove', { title: 'ours' })).state);

    expect(states).toEqual(['done', 'conflict', 'conflict', 'unchanged', 'done']);
    expect((await rig.stage.listLabels(APP)).map(({ name }) => name)).toEqual(['theirs', 'used']);
    expect(await rig.stage.listMilestones({ ...APP, state: 'all' })).toEqual([]);
  });

  it('protection.ensure makes one, writes the difference alone, and leaves the rest of it', async () => {
    const rig = await start(profile);
    const wanted = {
      name: 'release/*',
      required_approvals: 1,
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: ['ANN', 'ben'],
    };
    for (const collaborator of ['ann', 'ben'])
      await rig.stage.addCollaborator({ ...APP, collaborator, body: { permission: 'write' } });

    const made = [await rig.want('protection.ensure', wanted), await rig.want('protection.ensure', wanted)];
    await rig.stage.updateBranchProtection({
      ...APP,
      name: 'release/*',
      body: { required_approvals: 0, block_on_rejected_reviews: true },
    });
    const again = [await rig.want('protection.ensure', wanted), await rig.want('protection.ensure', wanted)];
    const off = await rig.want('protection.ensure', { name: 'release/*', enable_push_whitelist: false });

    expect([...made, ...again, off].map(({ state }) => state)).toEqual([
      'done',
      'unchanged',
      'done',
      'unchanged',
      'done',
    ]);
    expect(rig.written).toEqual(['createBranchProtection', 'updateBranchProtection', 'updateBranchProtection']);
    expect(sentenceOf(again[0]?.reason)).toContain('required_approvals 0 -> 1');
    expect(await rig.stage.getBranchProtection({ ...APP, name: 'release/*' })).toMatchObject({
      required_approvals: 1,
      block_on_rejected_reviews: true,
      enable_push: true,
      enable_push_whitelist: false,
    });
  });

  it('protection.ensure refuses what would mean nothing, and who is not there', async () => {
    const rig = await start(profile);

    const nothing = await rig.want('protection.ensure', { name: 'main', enable_push_whitelist: true });
    const nobody = await rig.want('protection.ensure', {
      name: 'main',
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: ['nobody'],
    });

    expect([nothing, nobody]).toMatchObject([
      { state: 'refused', reason: saying(expect.stringContaining('means nothing while enable_push is off')) },
      { state: 'refused', reason: saying(expect.stringContaining('nobody')) },
    ]);
    expect(await rig.stage.listBranchProtections(APP)).toEqual([]);
  });

  it('protection.ensure says which settings this forge does not have', async () => {
    const rig = await start(profile);
    await rig.want('protection.ensure', { name: 'main', required_approvals: 1 });

    const bypass = await rig.want('protection.ensure', { name: 'main', enable_bypass_allowlist: true });

    expect(bypass.state).toBe(profile === 'gitea' ? 'done' : 'refused');
  });

  it('repository_settings.ensure writes the difference alone, never makes public, and says what the forge did not take', async () => {
    const rig = await start(profile);
    const wanted = {
      description: 'The app',
      has_wiki: false,
      allow_merge_commits: false,
      default_delete_branch_after_merge: true,
    };

    const states = [
      (await rig.want('repository_settings.ensure', wanted)).state,
      (await rig.want('repository_settings.ensure', wanted)).state,
    ];
    const hidden = await rig.want('repository_settings.ensure', { private: true });
    const shown = await rig.want('repository_settings.ensure', { private: false });
    const branch = await rig.want('repository_settings.ensure', { default_branch: 'never-there' });

    expect([...states, hidden.state, shown.state, branch.state]).toEqual([
      'done',
      'unchanged',
      'done',
      'refused',
      'conflict',
    ]);
    expect(sentenceOf(branch.reason)).toContain('this forge keeps default_branch');
    expect(await rig.stage.getRepo(APP)).toMatchObject({
      ...wanted,
      private: true,
      has_issues: true,
      default_branch: 'main',
    });
  });

  it('topics.ensure adds, takes away, sets, and refuses what contradicts itself', async () => {
    const rig = await start(profile);
    await rig.stage.replaceTopics({ ...APP, body: { topics: ['go', 'legacy'] } });
    const topics = async () => (await rig.stage.listTopics(APP)).topics;

    const states = [
      (await rig.want('topics.ensure', { add: ['managed'], remove: ['legacy'] })).state,
      (await rig.want('topics.ensure', { add: ['managed'], remove: ['legacy'] })).state,
      await topics(),
      (await rig.want('topics.ensure', { set: ['one'] })).state,
      await topics(),
      (await rig.want('topics.ensure', { add: ['x'], remove: ['x'] })).state,
      (await rig.want('topics.ensure', {})).state,
    ];

    expect(states).toEqual(['done', 'unchanged', ['go', 'managed'], 'done', ['one'], 'refused', 'refused']);
    expect(rig.written).toEqual(['replaceTopics', 'replaceTopics']);
  });

  it.each<[string, JsonObject]>([
    ['label.ensure', { name: 'there', color: '#123456' }],
    ['milestone.ensure', { title: 'there', state: 'closed' }],
    ['protection.ensure', { name: 'new', required_approvals: 1 }],
    ['protection.ensure', { name: 'main', required_approvals: 1 }],
    ['repository_settings.ensure', { has_wiki: false }],
    ['topics.ensure', { add: ['managed'] }],
  ])('%s %j: finds out what became of a lost answer, and writes once', async (action, params) => {
    const rig = await start(profile);
    await rig.stage.createLabel({ ...APP, body: { name: 'there', color: '#000000' } });
    await rig.stage.createMilestone({ ...APP, body: { title: 'there' } });
    await rig.stage.createBranchProtection({ ...APP, body: { rule_name: 'main' } });

    const end = await comeThrough(rig, action, params);

    expect(end.state).toMatch(/^(done|unchanged)$/);
    expect(rig.written).toHaveLength(1);
    expect((await rig.want(action, params)).state).toBe('unchanged');
  });

  it.each(['protection.ensure', 'repository_settings.ensure', 'topics.ensure'])(
    '%s is refused where the operator did not grant it',
    async (action) => {
      const rig = await start(profile);
      rig.rig.settings.powers.splice(0);

      expect(
        await rig.want(action, action === 'topics.ensure' ? { add: ['x'] } : { name: 'main', description: 'x' }),
      ).toMatchObject({
        state: 'refused',
        reason: saying(expect.stringContaining(`has not granted the power ${action}`)),
      });
    },
  );
});
