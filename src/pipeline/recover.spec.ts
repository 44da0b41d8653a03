import { beforeEach, describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import type { JsonObject } from '../core/json.js';
import type { OperationName } from '../forge/operations.js';
import { saying } from '../../test/builders/reasons.js';
import { claimOne } from '../../test/builders/journal.js';

const MIRROR = { remote_address: 'https://mirror.example.org/acme/app.git', interval: '8h' };

/** Action, wish, its write, and whether the core profile has the read that tells its outcome. */
const WRITES: ReadonlyArray<readonly [string, JsonObject, OperationName, boolean]> = [
  ['branch.create', { new_branch_name: 'release/1', old_ref_name: 'main' }, 'createBranch', true],
  ['repo.create_for_user', { username: 'ann', name: 'sandbox' }, 'adminCreateRepo', false],
  ['user_settings.update', { full_name: 'Bot' }, 'updateUserSettings', false],
  ['push_mirror.ensure', MIRROR, 'createPushMirror', true],
  ['release.update', { id: '12', draft: false }, 'updateRelease', false],
  ['label.ensure', { name: 'bug', color: '#d73a4a' }, 'createLabel', false],
  ['org_variable.set', { name: 'V', value: 'new' }, 'updateOrgVariable', false],
  ['milestone.ensure', { title: '1.4', due_on: '2027-01-31' }, 'createMilestone', false],
  ['user_variable.create', { name: 'W', value: 'v' }, 'createUserVariable', false],
];

function given(profile: 'gitea' | 'core'): EffectRig {
  const rig = new EffectRig({ profile });
  rig.forge.orgVariables.set('V', { value: 'old', description: 'd' });
  rig.forge.repositories
    .get('acme/app')
    ?.releases.push({ id: '12', tag_name: 'v1', name: 'One', body: 'b', draft: true, prerelease: false });
  return rig;
}

describe('pipeline/recover', () => {
  let rig: EffectRig;
  beforeEach(() => {
    rig = given('gitea');
  });

  /** Work and recover until nothing moves any more. */
  async function bringToEnd(id: string, on: EffectRig = rig): Promise<void> {
    for (let n = 0; n < 12; n += 1) {
      await on.recover(id);
      await on.work(id);
    }
  }

  describe.each(WRITES)('%s', (action, wish, write, coreReads) => {
    it('is done after one call whose answer was lost', async () => {
      rig.forge.failNext(write, 'unknown', { status: 502, afterEffect: true });

      const intent = await rig.want(action, wish);
      await bringToEnd(intent.id);

      expect(await rig.journal.intent(intent.id)).toMatchObject({
        state: 'done',
        reason: saying(expect.stringContaining('confirmed by reading')),
      });
      expect(rig.written).toEqual([write]);
    });

    it('is sent once more when the call before had no effect', async () => {
      rig.forge.failNext(write, 'unknown', { status: 502 });

      const intent = await rig.want(action, wish);
      await bringToEnd(intent.id);

      expect(await rig.journal.intent(intent.id)).toMatchObject({ state: 'done', attempts: 2 });
      expect(rig.written).toEqual([write]);
    });

    it('is not sent again before its outcome could be read', async () => {
      rig.forge.failNext(write, 'unknown', { status: 502 });
      for (const read of ['getBranch', 'getUserVariable'] as const) rig.forge.failNext(read, 'unknown', {});
      for (const read of ['getBranch', 'getUserVariable'] as const) rig.forge.failNext(read, 'unknown', {});
      const id = await rig.plan(action, wish);
      for (let n = 0; n < 3; n += 1) await rig.work(id);

      expect((await rig.journal.attemptsOfIntent(id)).length).toBeLessThanOrEqual(1);
    });

    const keyless = ['createLabel', 'createMilestone'].includes(write);
    it(`${keyless ? 'waits for a person' : 'ends by itself'} on a forge of the 20 operations alone`, async () => {
      rig = given('core');
      rig.forge.failNext(write, 'unknown', { afterEffect: true });

      const intent = await rig.want(action, wish);
      await bringToEnd(intent.id);

      const ended = await rig.journal.intent(intent.id);
      if (keyless) expect(ended).toMatchObject({ state: 'waiting', attempts: 1 });
      else expect(['done', 'unchanged']).toContain(ended?.state);
      if (keyless || coreReads) expect(rig.written).toEqual([write]);
    });
  });

  it('waits the settle time before it reads about a keyless call, and finds an effect that came late', async () => {
    rig.forge.failNext('createLabel', 'unknown', {});
    const intent = await rig.want('label.ensure', { name: 'bug', color: '#d73a4a' });

    const early = await rig.recover(intent.id, 59_000);
    const readsBefore = rig.forge.calls.filter((call) => call === 'listLabels').length;
    rig.forge.repositories.get('acme/app')?.labels.push({ id: '90', name: 'bug', color: 'd73a4a', description: '' });
    const late = await rig.recover(intent.id, 1_000);

    expect([early.state, readsBefore, late.state]).toEqual(['unknown', 1, 'done']);
    expect(rig.written).toEqual([]);
  });

  it('reads again later when the read fails, and keeps the outcome unknown meanwhile', async () => {
    rig.forge.failNext('createLabel', 'unknown', { afterEffect: true });
    const intent = await rig.want('label.ensure', { name: 'bug', color: '#d73a4a' });
    rig.forge.failNext('listLabels', 'unknown', { status: 502 });

    const failed = await rig.recover(intent.id);
    const again = await rig.recover(intent.id, 2_000);

    expect(failed).toMatchObject({ state: 'unknown', reason: saying(expect.stringContaining('cannot be read now')) });
    expect(again.state).toBe('done');
  });

  it('lets a person decide when it cannot be read for a day', async () => {
    rig.forge.failNext('createLabel', 'unknown', {});
    const intent = await rig.want('label.ensure', { name: 'bug', color: '#d73a4a' });
    rig.forge.answer('listLabels', async () => {
      rig.forge.failNext('listLabels', 'unknown', {});
      throw new Error('unused');
    });
    for (let n = 0; n < 30; n += 1) {
      rig.forge.failNext('listLabels', 'unknown', { status: 502 });
      await rig.recover(intent.id, 3_600_000);
    }

    expect(await rig.journal.intent(intent.id)).toMatchObject({
      state: 'waiting',
      reason: saying(expect.stringContaining('for a day')),
    });
  });

  it('needs two reads for what a forge may take back', async () => {
    rig.forge.failNext('createPushMirror', 'unknown', { afterEffect: true });
    const intent = await rig.want('push_mirror.ensure', MIRROR);

    const once = await rig.recover(intent.id);
    rig.forge.repositories.get('acme/app')?.mirrors.splice(0);
    const gone = await rig.recover(intent.id, 5_000);

    expect(once).toMatchObject({ state: 'unknown', reason: saying(expect.stringContaining('seen once')) });
    expect(gone.state).toBe('planned');
  });

  it('gives up after eight sends with its reason, and tells a person once', async () => {
    const intent = await rig.plan('milestone.ensure', { title: '1.4' });
    for (let n = 0; n < 10; n += 1) {
      rig.forge.failNext('createMilestone', 'unknown', { status: 502 });
      await rig.work(intent);
      await rig.recover(intent);
      rig.clock.advance(900_000);
    }

    expect(await rig.journal.intent(intent)).toMatchObject({
      state: 'dead',
      attempts: 8,
      reason: saying(expect.stringContaining('given up after 8 tries')),
    });
    expect(rig.alerts).toEqual(['intent.dead/acme/wish-1']);
  });

  it('asks a forge three times for a branch from a base that is not there, and then no more', async () => {
    const id = await rig.plan('branch.create', { new_branch_name: 'x', old_ref_name: 'nowhere' });
    rig.forge.answer('getTag', async () => {
      throw new (await import('../core/errors.js')).ForgeError('refused', 'no', { operation: 'getTag', status: 404 });
    });
    for (let n = 0; n < 10; n += 1) {
      await rig.work(id);
      await rig.recover(id);
      rig.clock.advance(900_000);
    }

    expect(await rig.journal.intent(id)).toMatchObject({
      state: 'refused',
      attempts: 3,
      reason: saying(expect.stringContaining('nowhere is not there')),
    });
  });

  it.each([
    [241, true],
    [242, false],
  ])(
    'marks a label with a description of %i characters only where the forge keeps the mark too: %s',
    async (length, isMarked) => {
      const description = 'x'.repeat(length);
      rig.forge.failNext('createLabel', 'unknown', {});
      const intent = await rig.want('label.ensure', { name: 'bug', color: '#d73a4a', description });
      await rig.recover(intent.id);
      rig.clock.advance(2_000);
      await rig.work(intent.id);

      const [label] = rig.forge.repositories.get('acme/app')?.labels ?? [];
      expect(label?.['description']).toMatch(isMarked ? /^x{241} \[fh:[0-9a-f]{8}\]$/ : /^x{242}$/);
    },
  );

  it('marks a call that is made again, and takes that one away when both came through', async () => {
    rig.forge.failNext('createLabel', 'unknown', {});
    const intent = await rig.want('label.ensure', { name: 'bug', color: '#d73a4a', description: 'broken' });
    await rig.recover(intent.id);
    rig.clock.advance(2_000);
    await rig.work(intent.id);
    const labels = rig.forge.repositories.get('acme/app')?.labels ?? [];
    expect(labels).toMatchObject([{ description: expect.stringMatching(/^broken \[fh:[0-9a-f]{8}\]$/) }]);
    labels.push({ id: '99', name: 'bug', color: 'd73a4a', description: 'broken' });
    rig.forge.answer('listIssues', async () => []);
    rig.forge.answer('deleteLabel', async ({ id }) =>
      labels.splice(
        labels.findIndex((label) => label['id'] === id),
        1,
      ),
    );

    await rig.recover(intent.id, 120_000);

    expect(labels.map(({ id }) => id)).toEqual(['99']);
    expect((await rig.journal.attemptsOfIntent(intent.id)).at(-1)).toMatchObject({
      operation: 'deleteLabel',
      outcome: 'done',
      objectId: '100',
    });
    expect((await rig.want('label.ensure', { name: 'bug', color: '#d73a4a', description: 'broken' })).state).toBe(
      'unchanged',
    );
  });

  it('takes none away that an issue bears, whatever a filter by its name would find', async () => {
    const wish = { name: 'needs, docs', color: '#d73a4a' };
    rig.forge.failNext('createLabel', 'unknown', {});
    const intent = await rig.want('label.ensure', wish);
    await rig.recover(intent.id);
    rig.clock.advance(2_000);
    await rig.work(intent.id);
    const labels = rig.forge.repositories.get('acme/app')?.labels ?? [];
    labels.push({ id: '99', name: 'needs, docs', color: 'd73a4a' });
    // As servers filter: split at the comma, and nothing bears one of the parts.
    rig.forge.answer('listIssues', async (args) => {
      const { labels: filter, page } = args as { labels?: string; page?: number };
      return filter === undefined && page === 1 ? [{ number: 1, labels: [{ id: '100' }] }] : [];
    });

    await rig.recover(intent.id, 120_000);

    expect(labels.map(({ id }) => id)).toEqual(['100', '99']);
    expect(rig.alerts).toEqual([`intent.doubled/acme/${intent.rule}`]);
  });

  it('tells a person of two that it cannot tell apart, and takes nothing away', async () => {
    rig.forge.failNext('createPushMirror', 'unknown', {});
    const intent = await rig.want('push_mirror.ensure', MIRROR);
    await rig.recover(intent.id);
    rig.clock.advance(2_000);
    await rig.work(intent.id);
    rig.forge.repositories
      .get('acme/app')
      ?.mirrors.push({ remote_name: 'late', remote_address: MIRROR.remote_address, interval: '8h0m0s' });

    await rig.recover(intent.id, 120_000);

    expect(rig.alerts).toEqual([`intent.doubled/acme/${intent.rule}`]);
    expect(rig.forge.repositories.get('acme/app')?.mirrors).toHaveLength(2);
  });

  it.each<[boolean, string]>([
    [true, 'done'],
    [false, 'planned'],
  ])('does as a person says about what waits (exists: %s)', async (exists, state) => {
    rig = given('core');
    rig.forge.failNext('createLabel', 'unknown', {});
    const intent = await rig.want('label.ensure', { name: 'bug', color: '#d73a4a' });

    expect(await rig.journal.resolve(intent.id, exists, 'ann', null)).toBe(true);

    expect(await rig.journal.intent(intent.id)).toMatchObject({
      state,
      reason: saying(expect.stringContaining('ann says')),
    });
    expect(await rig.journal.resolve(intent.id, exists, 'ann', null)).toBe(false);
    if (!exists) expect((await rig.work(intent.id)).state).toBe('done');
  });

  it('does not make again what somebody took away since', async () => {
    rig.forge.failNext('createBranch', 'unknown', {});
    const id = await rig.plan('branch.create', { new_branch_name: 'x', old_ref_name: 'main' });
    rig.forge.onWrite = null;
    const { effectKey } = (await rig.journal.intent(id)) ?? { effectKey: '' };
    const claim = await claimOne(rig.journal, id, 'killed', 5_000);
    await rig.journal.markSent(id, claim?.epoch ?? 0, {
      id: 'a',
      operation: 'createBranch',
      requestHash: 'h',
      snapshot: { sha: 'a'.repeat(40) },
    });
    await rig.journal.noteUndo({
      effectKey,
      eventId: 'event-9',
      by: 'ann',
      summary: 'ann deleted branch x',
      at: rig.clock.now(),
    });
    rig.clock.advance(5_000);
    await rig.journal.reclaimExpired();

    const intent = await rig.recover(id);

    expect(intent).toMatchObject({
      state: 'suppressed',
      reason: saying(expect.stringContaining('ann deleted branch x')),
    });
    expect(rig.written).toEqual([]);
  });
});
