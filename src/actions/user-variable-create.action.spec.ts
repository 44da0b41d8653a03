import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';

const VALUE = 'canary-variable-value-9d21';

describe('actions/user-variable-create', () => {
  const WISH = { name: 'bot_config', value: VALUE };

  it('makes a variable that is not there, and nothing the second time', async () => {
    const rig = new EffectRig();

    const states = [await rig.want('user_variable.create', WISH), await rig.want('user_variable.create', WISH)];

    expect(states.map(({ state }) => state)).toEqual(['done', 'unchanged']);
    expect([...rig.forge.userVariables.keys()]).toEqual(['BOT_CONFIG']);
  });

  it('leaves a variable deleted that a person deleted', async () => {
    const rig = new EffectRig();
    await rig.want('user_variable.create', WISH);
    rig.forge.userVariables.clear();

    expect((await rig.want('user_variable.create', WISH)).state).toBe('suppressed');
  });

  it('never changes one that is there', async () => {
    const rig = new EffectRig();
    rig.forge.userVariables.set('BOT_CONFIG', { value: 'other', description: '' });

    expect((await rig.want('user_variable.create', WISH)).state).toBe('conflict');
    expect(rig.written).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['the winner made the same', VALUE, 'unchanged'],
    ['the winner made another', 'other', 'conflict'],
  ])('reads after a 409: %s => %s', async (_, value, state) => {
    const rig = new EffectRig();
    rig.forge.onWrite = () => void rig.forge.userVariables.set('BOT_CONFIG', { value, description: '' });

    expect((await rig.want('user_variable.create', WISH)).state).toBe(state);
  });

  it('is its own memory where nothing can be read', async () => {
    const rig = new EffectRig({ profile: 'core' });

    const states = [
      await rig.want('user_variable.create', WISH),
      await rig.want('user_variable.create', WISH),
      await rig.want('user_variable.create', { ...WISH, value: 'v2' }),
    ];

    expect(states.map(({ state }) => state)).toEqual(['done', 'unchanged', 'conflict']);
    expect(rig.written).toEqual(['createUserVariable']);
  });

  it('is a conflict where somebody else made it and nothing can be read', async () => {
    const rig = new EffectRig({ profile: 'core' });
    rig.forge.userVariables.set('BOT_CONFIG', { value: VALUE, description: '' });

    expect((await rig.want('user_variable.create', WISH)).state).toBe('conflict');
  });

  it('writes nothing in a dry run', async () => {
    const rig = new EffectRig();

    expect((await rig.want('user_variable.create', WISH, { mode: 'dry-run' })).state).toBe('suppressed');
    expect(rig.written).toEqual([]);
  });
});
