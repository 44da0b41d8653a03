import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';

describe('actions/repo-create-for-user', () => {
  const WISH = { username: 'ann', name: 'sandbox', private: true };

  it('makes a repository that is not there, and nothing the second time', async () => {
    const rig = new EffectRig();

    const states = [
      await rig.want('repo.create_for_user', WISH),
      await rig.want('repo.create_for_user', { ...WISH, username: 'Ann', name: 'SandBox' }),
    ];

    expect(states.map(({ state }) => state)).toEqual(['done', 'unchanged']);
    expect(rig.forge.writes).toMatchObject([
      { operation: 'adminCreateRepo', args: { username: 'ann', body: { name: 'sandbox', private: true } } },
    ]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['as wanted', { private: true }, 'unchanged'],
    ['public, wanted private', { private: false }, 'conflict'],
  ])('there, %s => %s', async (_, present, state) => {
    const rig = new EffectRig();
    rig.forge.addRepository('sandbox', { id: '9', full_name: 'ann/sandbox', owner: { login: 'ann' }, ...present });

    expect((await rig.want('repo.create_for_user', WISH)).state).toBe(state);
    expect(rig.written).toEqual([]);
  });

  it('does not take a redirect from an old name for the repository', async () => {
    const rig = new EffectRig();
    rig.forge.failNext('getRepo', 'moved', { status: 301 });

    expect((await rig.want('repo.create_for_user', WISH)).state).toBe('done');
  });

  it('reads after a 409, and is a conflict where it cannot', async () => {
    const rig = new EffectRig({ profile: 'core' });
    rig.forge.addRepository('sandbox', { id: '9', full_name: 'ann/sandbox', owner: { login: 'ann' }, private: true });

    expect((await rig.want('repo.create_for_user', WISH)).state).toBe('conflict');
    expect(rig.written).toEqual([]);
  });

  it('refuses without the power, without a call', async () => {
    const rig = new EffectRig();
    rig.settings.powers = [];

    expect((await rig.want('repo.create_for_user', WISH)).state).toBe('refused');
    expect(rig.forge.calls).toEqual([]);
  });

  it.each([
    ['name', '../x'],
    ['name', 'a/b'],
    ['name', ''],
    ['username', '../api'],
    ['username', ''],
  ])('refuses %s %j without a call', async (name, value) => {
    const rig = new EffectRig();

    expect((await rig.want('repo.create_for_user', { ...WISH, [name]: value })).state).toBe('refused');
    expect(rig.forge.calls).toEqual([]);
  });

  it('writes nothing in a dry run', async () => {
    const rig = new EffectRig();

    expect((await rig.want('repo.create_for_user', WISH, { mode: 'dry-run' })).state).toBe('suppressed');
    expect(rig.written).toEqual([]);
  });
});
