import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const RELEASE = { new_branch_name: 'release/1.4', old_ref_name: 'main' };

function branches(rig: EffectRig): Map<string, string> {
  return rig.forge.repositories.get('acme/app')?.branches ?? new Map<string, string>();
}

describe('actions/branch-create', () => {
  it('makes a branch at the commit of its base, and nothing the second time', async () => {
    const rig = new EffectRig();

    const first = await rig.want('branch.create', RELEASE);
    const second = await rig.want('branch.create', RELEASE);

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(rig.forge.writes).toMatchObject([
      { operation: 'createBranch', args: { body: { new_branch_name: 'release/1.4', old_ref_name: A } } },
    ]);
  });

  it('sends a name that is no branch as it is (a tag), and takes a commit for itself', async () => {
    const rig = new EffectRig();
    rig.forge.repositories.get('acme/app')?.tags.set('v1.4.0', B);

    await rig.want('branch.create', { new_branch_name: 'release/1.4', old_ref_name: 'v1.4.0' });
    await rig.want('branch.create', { new_branch_name: 'hotfix', old_ref_name: B });

    expect(rig.forge.writes.map(({ args }) => (args['body'] as Record<string, string>)['old_ref_name'])).toEqual([
      'v1.4.0',
      B,
    ]);
  });

  it('leaves the base out when none is given', async () => {
    const rig = new EffectRig();

    await rig.want('branch.create', { new_branch_name: 'next' });

    expect(rig.forge.writes[0]?.args).toMatchObject({ body: { new_branch_name: 'next' } });
    expect(rig.forge.writes[0]?.args['body']).not.toHaveProperty('old_ref_name');
  });

  it.each<[string, string, Record<string, string>, string]>([
    ['there at the same commit', A, RELEASE, 'unchanged'],
    ['there at another commit', B, RELEASE, 'conflict'],
    ['there, no base wanted', B, { new_branch_name: 'release/1.4' }, 'unchanged'],
    ['there, the base cannot be resolved', A, { new_branch_name: 'release/1.4', old_ref_name: 'v9' }, 'conflict'],
  ])('%s => %s', async (_, sha, wanted, state) => {
    const rig = new EffectRig();
    branches(rig).set('release/1.4', sha);

    expect((await rig.want('branch.create', wanted)).state).toBe(state);
    expect(rig.written).toEqual([]);
  });

  it('knows a branch that it made itself although it has moved on', async () => {
    const rig = new EffectRig();
    rig.forge.repositories.get('acme/app')?.tags.set('v1.4.0', B);
    const wish = { new_branch_name: 'release/1.4', old_ref_name: 'v1.4.0' };
    await rig.want('branch.create', wish);
    branches(rig).set('release/1.4', 'c'.repeat(40));

    const states = [await rig.want('branch.create', wish), await rig.want('branch.create', wish)];

    expect(states.map(({ state }) => state)).toEqual(['unchanged', 'unchanged']);
  });

  it.each([
    ['of the tag', B, 'unchanged'],
    ['of no tag', A, 'conflict'],
  ])('knows a branch at the commit %s, though nothing tells that it was made from it', async (_, sha, state) => {
    const rig = new EffectRig();
    rig.forge.repositories.get('acme/app')?.tags.set('v1.4.0', B);
    branches(rig).set('release/1.4', sha);

    expect((await rig.want('branch.create', { new_branch_name: 'release/1.4', old_ref_name: 'v1.4.0' })).state).toBe(
      state,
    );
    expect(rig.written).toEqual([]);
  });

  it.each<[string, string | null, string]>([
    ['the winner made the same branch', A, 'unchanged'],
    ['the winner made another one', B, 'conflict'],
    ['a tag of that name is there', null, 'conflict'],
  ])('reads again after a lost race: %s => %s', async (_, winner, state) => {
    const rig = new EffectRig();
    if (winner === null) rig.forge.repositories.get('acme/app')?.tags.set('release/1.4', A);
    rig.forge.onWrite = () => void (winner && branches(rig).set('release/1.4', winner));

    expect((await rig.want('branch.create', RELEASE)).state).toBe(state);
    expect(rig.written).toEqual([]);
  });

  it('writes nothing in a dry run', async () => {
    const rig = new EffectRig();

    expect((await rig.want('branch.create', RELEASE, { mode: 'dry-run' })).state).toBe('suppressed');
    expect(rig.written).toEqual([]);
  });

  it.each(['', 'a b', 'a..b', '/a', 'a/', 'a~1', 'x.lock', 'a\nb', '../a', 'a//b', '.a', 'x'.repeat(101)])(
    'refuses the name %j without a call',
    async (name) => {
      const rig = new EffectRig();

      expect((await rig.want('branch.create', { ...RELEASE, new_branch_name: name })).state).toBe('refused');
      expect(rig.forge.calls).toEqual([]);
    },
  );

  it.each(['feature/a#b%', '-a', 'ü', '日本'])('lets the name %j through', async (name) => {
    expect((await new EffectRig().want('branch.create', { ...RELEASE, new_branch_name: name })).state).toBe('done');
  });
});
