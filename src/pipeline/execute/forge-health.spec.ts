import { beforeEach, describe, expect, it } from '@jest/globals';
import { EffectRig, MIRROR_PASSWORD } from '../../../test/builders/effect-rig.js';
import { ForgeError } from '../../core/errors.js';
import { saying } from '../../../test/builders/reasons.js';
import { claimOne, dueOf } from '../../../test/builders/journal.js';

const label = (name: string) => ({ name, color: '#d73a4a' });
const no = (operation: string, status: number): ForgeError =>
  new ForgeError('refused', `${operation}: ${status}`, { operation, status });

describe('pipeline/execute/forge-health', () => {
  let rig: EffectRig;
  let isRevoked: boolean;
  let probes: number;

  beforeEach(() => {
    rig = new EffectRig();
    [isRevoked, probes] = [false, 0];
    rig.forge.answer('getSelf', async () => {
      probes += 1;
      if (isRevoked) throw no('getSelf', 401);
      return { id: '1', login: 'forgehand' };
    });
  });

  it('does not take the 401 of one blocked mirror target for a revoked token', async () => {
    rig.forge.failNext('createPushMirror', 'refused', { status: 401 });

    const blocked = await rig.want('push_mirror.ensure', { remote_address: 'https://mirror.example.org/a/b.git' });
    const other = await rig.want('label.ensure', label('a'));

    expect([blocked.state, other.state, probes]).toEqual(['refused', 'done', 1]);
    expect(rig.alerts).toEqual([]);
    expect(JSON.stringify(blocked.reason)).not.toContain(MIRROR_PASSWORD);
  });

  it('keeps everything planned without a try after a revoked token, tells once, and goes on when it works again', async () => {
    isRevoked = true;
    const ids = await Promise.all(['a', 'b', 'c', 'd'].map((name) => rig.plan('label.ensure', label(name))));
    rig.forge.failNext('createLabel', 'refused', { status: 401 });

    for (const id of ids) await rig.work(id);
    const calls = rig.forge.calls.length;
    for (let n = 0; n < 3; n += 1) for (const id of ids) await rig.work(id);

    expect(await Promise.all(ids.map(async (id) => (await rig.journal.intent(id))?.state))).toEqual([
      'planned',
      'planned',
      'planned',
      'planned',
    ]);
    expect(await Promise.all(ids.map(async (id) => (await rig.journal.intent(id))?.tries))).toEqual([0, 0, 0, 0]);
    expect([rig.forge.calls.length - calls, probes, rig.alerts]).toEqual([0, 1, ['forge.locked-out/main']]);

    isRevoked = false;
    for (let n = 0; n < 8; n += 1) {
      rig.clock.advance(6_000);
      for (const id of ids) await rig.work(id);
    }
    expect(rig.written).toHaveLength(4);
  });

  it('stops after eight calls in a row without an answer, tells once, and tries again after a while', async () => {
    const ids = [];
    for (let n = 0; n < 12; n += 1) {
      rig.forge.failNext('getRepoById', 'not-sent');
      ids.push(
        await rig.plan('label.ensure', label(`l${n}`), {
          repo: { id: String(50 + n), owner: 'acme', name: `r${n}`, full_name: `acme/r${n}`, private: false },
        }),
      );
      rig.forge.addRepository(`r${n}`, { id: String(50 + n) });
    }

    for (const id of ids) await rig.work(id);
    const held = await rig.journal.intent(ids[11] ?? '');

    expect(rig.forge.calls.filter((call) => call === 'getRepoById')).toHaveLength(8);
    expect(rig.alerts).toEqual(['forge.silent/main']);
    expect(held).toMatchObject({ state: 'planned', tries: 0, epoch: 0 });
    expect(await rig.journal.heldForges()).toMatchObject([
      { credential: 'main', orgs: ['', 'acme'], reason: saying(expect.stringContaining('did not answer')) },
    ]);
  });

  it('claims nothing of the token while the forge asked to wait, in any repository, and everything after it', async () => {
    rig.forge.addRepository('other', { id: '8' });
    const repo = { id: '8', owner: 'acme', name: 'other', full_name: 'acme/other', private: false };
    rig.forge.failNext('listLabels', 'rate-limited', { status: 429, retryAfterS: 60 });
    const first = await rig.want('label.ensure', label('a'));
    const other = await rig.plan('label.ensure', label('b'), { repo });

    expect(await dueOf(rig.journal, 9)).toEqual([]);
    expect(await claimOne(rig.journal, other, 'another', 1)).toBeNull();
    expect(await rig.journal.heldForges()).toMatchObject([{ reason: saying(expect.stringContaining('429')) }]);

    rig.clock.advance(62_000);
    expect(await rig.journal.heldForges()).toEqual([]);
    expect([(await rig.work(first.id)).state, (await rig.work(other)).state]).toEqual(['done', 'done']);
  });

  it('claims nothing of refused credentials however long, asks about them at times, and lets them go once they are accepted', async () => {
    isRevoked = true;
    const id = await rig.plan('label.ensure', label('a'));
    rig.forge.failNext('createLabel', 'refused', { status: 401 });
    await rig.work(id);
    const claims = [];
    for (let seconds = 0; seconds < 600; seconds += 2) {
      rig.clock.advance(2_000);
      await rig.health.look();
      claims.push(await claimOne(rig.journal, id, 'another', 1));
    }
    const asked = probes;

    expect(claims.every((claim) => claim === null)).toBe(true);
    expect(asked).toBeLessThan(12);
    expect(await rig.journal.heldForges()).toMatchObject([{ since: new Date('2026-11-20T12:00:00Z') }]);

    isRevoked = false;
    rig.clock.advance(300_000);
    await rig.health.look();
    expect(await rig.journal.heldForges()).toEqual([]);
    expect((await rig.work(id)).state).toBe('done');
  });
});
