import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { saying } from '../../test/builders/reasons.js';

describe('actions/user-settings-update', () => {
  const WISH = { hide_email: true, description: 'automation account of acme' };

  it('sends what differs, and nothing the second time', async () => {
    const rig = new EffectRig();
    rig.forge.settings['hide_email'] = true;

    const states = [await rig.want('user_settings.update', WISH), await rig.want('user_settings.update', WISH)];

    expect(states.map(({ state }) => state)).toEqual(['done', 'unchanged']);
    expect(rig.forge.writes).toEqual([
      { operation: 'updateUserSettings', args: { body: { description: 'automation account of acme' } } },
    ]);
  });

  it('is its own memory where settings cannot be read', async () => {
    const rig = new EffectRig({ profile: 'core' });

    const states = [
      await rig.want('user_settings.update', WISH),
      await rig.want('user_settings.update', WISH),
      await rig.want('user_settings.update', { hide_email: false }),
    ];

    expect(states.map(({ state }) => state)).toEqual(['done', 'unchanged', 'done']);
  });

  it('refuses without the power, without a call', async () => {
    const rig = new EffectRig();
    rig.settings.powers = [];

    expect(await rig.want('user_settings.update', WISH)).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining('orgs[].powers')),
    });
    expect(rig.forge.calls).toEqual([]);
  });

  it('refuses when no setting is given', async () => {
    expect((await new EffectRig().want('user_settings.update', {})).state).toBe('refused');
  });

  it('clears a text with an empty one, which forges obey here', async () => {
    const rig = new EffectRig();
    rig.forge.settings['location'] = 'here';

    expect((await rig.want('user_settings.update', { location: '' })).state).toBe('done');
    expect(rig.forge.settings['location']).toBe('');
  });

  it('writes nothing in a dry run', async () => {
    const rig = new EffectRig();

    expect((await rig.want('user_settings.update', WISH, { mode: 'dry-run' })).state).toBe('suppressed');
    expect(rig.written).toEqual([]);
  });
});
