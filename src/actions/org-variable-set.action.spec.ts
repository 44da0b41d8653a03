import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { saying } from '../../test/builders/reasons.js';

const VALUE = 'canary-variable-value-9d21';

describe('actions/org-variable-set', () => {
  const WISH = { name: 'last_release', value: VALUE };

  it('makes a variable that is not there, where the forge can, and nothing the second time', async () => {
    const rig = new EffectRig();

    const states = [await rig.want('org_variable.set', WISH), await rig.want('org_variable.set', WISH)];

    expect(states.map(({ state }) => state)).toEqual(['done', 'unchanged']);
    expect(rig.written).toEqual(['createOrgVariable']);
    expect([...rig.forge.orgVariables]).toEqual([['LAST_RELEASE', { value: VALUE, description: '' }]]);
  });

  it('sets another value, and keeps the description that is there', async () => {
    const rig = new EffectRig();
    rig.forge.orgVariables.set('LAST_RELEASE', { value: 'old', description: 'by ann' });

    expect((await rig.want('org_variable.set', WISH)).state).toBe('done');
    expect(rig.forge.orgVariables.get('LAST_RELEASE')).toEqual({ value: VALUE, description: 'by ann' });
    expect(rig.written).toEqual(['updateOrgVariable']);
  });

  it.each<[string, { value: string; description: string }, Record<string, string>, string]>([
    ['the same value', { value: VALUE, description: 'd' }, {}, 'unchanged'],
    ['other line ends', { value: 'a\nb', description: '' }, { value: 'a\r\nb' }, 'unchanged'],
    ['another description', { value: VALUE, description: 'd' }, { description: 'e' }, 'done'],
    ['the same description', { value: VALUE, description: 'd' }, { description: 'd' }, 'unchanged'],
  ])('%s => %s', async (_, present, wanted, state) => {
    const rig = new EffectRig();
    rig.forge.orgVariables.set('LAST_RELEASE', present);

    expect((await rig.want('org_variable.set', { ...WISH, ...wanted })).state).toBe(state);
  });

  it('remembers the hash of the value where none can be read, and always sends the description', async () => {
    const rig = new EffectRig({ profile: 'core' });
    rig.forge.orgVariables.set('LAST_RELEASE', { value: 'old', description: '' });

    const states = [
      await rig.want('org_variable.set', { ...WISH, description: 'd' }),
      await rig.want('org_variable.set', { ...WISH, description: 'd' }),
      await rig.want('org_variable.set', { name: 'LAST_RELEASE', value: 'v2' }),
    ];

    expect(states.map(({ state }) => state)).toEqual(['done', 'unchanged', 'done']);
    expect(rig.forge.writes.map(({ args }) => (args['body'] as Record<string, unknown>)['description'])).toEqual([
      'd',
      'd',
    ]);
  });

  it('leaves a variable deleted that a person deleted, for rules, until a person lets it go on', async () => {
    const rig = new EffectRig();
    await rig.want('org_variable.set', WISH);
    rig.forge.orgVariables.clear();

    const again = await rig.want('org_variable.set', { ...WISH, value: 'v2' });

    expect(again).toMatchObject({
      state: 'suppressed',
      reason: saying(
        `somebody deleted variable LAST_RELEASE: not made again (\`forgehand retry ${again.id}\` makes it)`,
      ),
    });
    expect(rig.forge.orgVariables.size).toBe(0);

    await rig.journal.retry(again.id, 'ann');
    expect((await rig.work(again.id)).state).toBe('done');
    expect((await rig.want('org_variable.set', WISH)).state).toBe('done');
  });

  it.each([
    ['a policy wants it', { kind: 'policy' }],
    ['a person asks for it by a comment', { asked: true }],
  ] as const)('is made again where %s', async (_, how) => {
    const rig = new EffectRig();
    await rig.want('org_variable.set', WISH);
    rig.forge.orgVariables.clear();

    expect((await rig.want('org_variable.set', WISH, how)).state).toBe('done');
  });

  it('refuses with its reason where it is not there and cannot be made', async () => {
    const rig = new EffectRig({ profile: 'core' });

    expect(await rig.want('org_variable.set', WISH)).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining('no way to make one')),
    });
  });

  it.each([
    ['name', '1abc'],
    ['name', 'GITHUB_X'],
    ['name', 'gitea_x'],
    ['name', 'CI'],
    ['value', ''],
    ['value', 'x'.repeat(65_537)],
  ])('refuses a %s that the forge would refuse', async (name, value) => {
    const rig = new EffectRig();

    const intent = await rig.want('org_variable.set', { ...WISH, [name]: value });

    expect(intent.state).toBe('refused');
    expect(rig.forge.calls).toEqual([]);
  });

  it('writes nothing in a dry run, and hides the value', async () => {
    const rig = new EffectRig();

    const intent = await rig.want('org_variable.set', WISH, { mode: 'dry-run' });

    expect(intent.result).toMatchObject({
      would_send: { operation: 'createOrgVariable', arguments: { body: { value: '[secret]' } } },
    });
    expect(rig.written).toEqual([]);
  });
});
