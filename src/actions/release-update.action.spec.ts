import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { saying } from '../../test/builders/reasons.js';

function withRelease(rig: EffectRig, over: Record<string, unknown> = {}): EffectRig {
  rig.forge.repositories.get('acme/app')?.releases.push({
    id: '12',
    tag_name: 'v1.4.0',
    name: 'One',
    body: 'old notes',
    draft: false,
    prerelease: true,
    target_commitish: 'main',
    ...over,
  });
  return rig;
}

describe('actions/release-update', () => {
  it('sends only what differs, and nothing the second time', async () => {
    const rig = withRelease(new EffectRig());
    const wish = { id: '12', name: 'One', body: 'new notes', prerelease: false };

    const first = await rig.want('release.update', wish);
    const second = await rig.want('release.update', wish);

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(rig.forge.writes).toMatchObject([
      { operation: 'updateRelease', args: { id: '12', body: { body: 'new notes', prerelease: false } } },
    ]);
    expect(Object.keys(rig.forge.writes[0]?.args['body'] as object)).toEqual(['body', 'prerelease']);
  });

  it.each<[string, Record<string, unknown>, Record<string, string | boolean>, string[]]>([
    ['line ends differ only', { body: 'a\r\nb' }, { body: 'a\nb' }, []],
    ['draft is published', { draft: true }, { draft: false }, ['draft']],
    ['draft is not told', { draft: undefined }, { draft: false }, []],
    ['a new tag', {}, { tag_name: 'v1.4.1' }, ['tag_name']],
  ])('%s => sends %j', async (_, present, wanted, sent) => {
    const rig = withRelease(new EffectRig(), present);

    const intent = await rig.want('release.update', { id: '12', ...wanted });

    expect(intent.state).toBe(sent.length > 0 ? 'done' : 'unchanged');
    expect(rig.forge.writes.flatMap(({ args }) => Object.keys(args['body'] as object))).toEqual(sent);
  });

  it('finds a release by its tag', async () => {
    const rig = withRelease(new EffectRig());

    expect((await rig.want('release.update', { tag: 'v1.4.0', name: 'Two' })).state).toBe('done');
    expect(rig.forge.writes).toMatchObject([{ args: { id: '12', body: { name: 'Two' } } }]);
  });

  it.each<[string, Record<string, string | boolean>]>([
    ['no such number', { id: '99', name: 'x' }],
    ['no such tag', { tag: 'v9', name: 'x' }],
    ['neither number nor tag', { name: 'x' }],
    ['nothing to change', { id: '12' }],
    ['an empty text, which forges ignore', { id: '12', body: '' }],
    ['a number that is none', { id: 'twelve', name: 'x' }],
  ])('refuses: %s', async (_, wish) => {
    const rig = withRelease(new EffectRig());

    expect((await rig.want('release.update', wish)).state).toBe('refused');
    expect(rig.written).toEqual([]);
  });

  it('is its own memory on a forge that reads no releases: once per wish', async () => {
    const rig = withRelease(new EffectRig({ profile: 'core' }));
    const wish = { id: '12', body: 'new notes' };

    const states = [
      await rig.want('release.update', wish),
      await rig.want('release.update', wish),
      await rig.want('release.update', { id: '12', body: 'newer' }),
    ];

    expect(states.map(({ state }) => state)).toEqual(['done', 'unchanged', 'done']);
    expect(rig.written).toEqual(['updateRelease', 'updateRelease']);
  });

  it('says that a tag is no use there', async () => {
    expect(
      await withRelease(new EffectRig({ profile: 'core' })).want('release.update', { tag: 'v1.4.0', name: 'x' }),
    ).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining('by its tag')),
    });
  });

  it('writes nothing in a dry run', async () => {
    const rig = withRelease(new EffectRig());

    expect((await rig.want('release.update', { id: '12', name: 'Two' }, { mode: 'dry-run' })).state).toBe('suppressed');
    expect(rig.written).toEqual([]);
  });
});
