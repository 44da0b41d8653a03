import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { saying, sentenceOf } from '../../test/builders/reasons.js';

const BUG = { name: 'kind/bug', color: '#d73a4a', exclusive: true };

function there(rig: EffectRig, over: Record<string, unknown> = {}): void {
  rig.forge.repositories.get('acme/app')?.labels.push({
    id: '1',
    name: 'kind/bug',
    color: 'd73a4a',
    description: '',
    exclusive: true,
    is_archived: false,
    ...over,
  });
}

describe('actions/label-ensure', () => {
  it('leaves a label deleted that a person deleted, for rules and for policies that respect it, but not what the bot took away', async () => {
    const rig = new EffectRig();
    rig.forge.answer('listIssues', async () => []);
    const wish = { name: 'kind/bug', color: '#d73a4a' };
    const labels = () => rig.forge.repositories.get('acme/app')?.labels ?? [];
    await rig.want('label.ensure', wish);
    labels().splice(0);

    const again = await rig.want('label.ensure', wish);
    expect(again).toMatchObject({
      state: 'suppressed',
      reason: saying(`somebody deleted label kind/bug: not made again (\`forgehand retry ${again.id}\` makes it)`),
    });
    expect((await rig.want('label.ensure', wish, { kind: 'policy', respectUndo: true })).state).toBe('suppressed');
    expect((await rig.want('label.ensure', wish, { kind: 'policy' })).state).toBe('done');

    expect((await rig.want('label.remove', { name: 'kind/bug' })).state).toBe('done');
    expect((await rig.want('label.ensure', wish)).state).toBe('done');
  });

  it('makes a label that is not there, and nothing the second time', async () => {
    const rig = new EffectRig();

    const first = await rig.want('label.ensure', BUG);
    const second = await rig.want('label.ensure', BUG);

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(rig.written).toEqual(['createLabel']);
    expect(rig.forge.repositories.get('acme/app')?.labels).toMatchObject([
      { name: 'kind/bug', color: 'd73a4a', exclusive: true },
    ]);
    expect(await rig.journal.attemptsOfIntent(first.id)).toMatchObject([
      { operation: 'createLabel', outcome: 'done', objectId: '100' },
    ]);
  });

  it.each<[string, Record<string, unknown>, Record<string, string | boolean>, string]>([
    ['colour written another way', { color: 'D73A4A' }, { color: ' #d73a4a' }, 'unchanged'],
    ['three digits', { color: '00aaff' }, { color: '#0af' }, 'unchanged'],
    ['spaces around the name there', { name: '  kind/bug ' }, {}, 'unchanged'],
    ['spaces around the name wanted', {}, { name: ' kind/bug ' }, 'unchanged'],
    ['a description that nobody asked about', { description: 'x' }, {}, 'unchanged'],
    ['another colour that is to be kept', { color: '000000' }, { keep: true }, 'unchanged'],
    ['a name of composed characters, wanted so', { name: 'caf\u00e9' }, { name: 'cafe\u0301' }, 'unchanged'],
    ['a name of other letters that look alike', { name: 'kind/b\u0443g' }, {}, 'done'],
    ['another case of the name', { name: 'Kind/Bug' }, {}, 'done'],
  ])('%s => %s', async (_, present, wanted, state) => {
    const rig = new EffectRig();
    there(rig, present);

    const intent = await rig.want('label.ensure', { ...BUG, ...wanted });

    expect(intent.state).toBe(state);
    expect(rig.written).toEqual(state === 'done' ? ['createLabel'] : []);
  });

  it.each<[string, Record<string, unknown>, Record<string, string | boolean>, Record<string, unknown>]>([
    ['another colour', { color: '000000' }, {}, { color: 'd73a4a' }],
    ['another description', { description: 'x' }, { description: 'y' }, { description: 'y' }],
    ['another exclusive', { exclusive: false }, {}, { exclusive: true }],
    ['archived, wanted not', { is_archived: true }, { is_archived: false }, { is_archived: false }],
    [
      'another colour of an archived one',
      { color: '000000', is_archived: true, description: 'kept' },
      {},
      { is_archived: true, description: 'kept' },
    ],
  ])('%s => changed, and all else of it stays as it was', async (_, present, wanted, after) => {
    const rig = new EffectRig();
    there(rig, present);

    const intent = await rig.want('label.ensure', { ...BUG, ...wanted });
    const again = await rig.want('label.ensure', { ...BUG, ...wanted });

    expect([intent.state, again.state]).toEqual(['done', 'unchanged']);
    expect(rig.written).toEqual(['updateLabel']);
    expect(rig.forge.repositories.get('acme/app')?.labels).toMatchObject([{ id: '1', name: 'kind/bug', ...after }]);
  });

  it('renames the label of an earlier name, so that issues keep it, and makes none', async () => {
    const rig = new EffectRig();
    there(rig, { id: '3', name: 'bug', color: '000000' });
    there(rig, { id: '2', name: 'type/bug' });

    const intent = await rig.want('label.ensure', { ...BUG, renamed_from: ['type/bug', 'bug'] });
    const again = await rig.want('label.ensure', { ...BUG, renamed_from: ['type/bug', 'bug'] });

    expect([intent.state, again.state]).toEqual(['done', 'unchanged']);
    expect(sentenceOf(intent.reason)).toContain('renamed from type/bug');
    expect(rig.forge.repositories.get('acme/app')?.labels.map(({ id, name }) => [id, name])).toEqual([
      ['3', 'bug'],
      ['2', 'kind/bug'],
    ]);
  });

  it('edits the oldest where several bear the name and none fits', async () => {
    const rig = new EffectRig();
    there(rig, { id: '10', color: '000000' });
    there(rig, { id: '9', color: '111111' });

    expect((await rig.want('label.ensure', BUG)).state).toBe('done');
    expect(rig.forge.writes).toMatchObject([{ operation: 'updateLabel', args: { id: '9' } }]);
  });

  it('leaves a label of the organization to its owners', async () => {
    const rig = new EffectRig();
    rig.forge.orgLabels.push({ id: '9', name: 'kind/bug', color: '000000', exclusive: true });

    expect(await rig.want('label.ensure', BUG)).toMatchObject({
      state: 'conflict',
      reason: saying(expect.stringContaining('of the organization')),
    });
    expect(rig.written).toEqual([]);
  });

  it.each([true, false])(
    'comes out of an edit whose answer was lost (it had its effect: %s) with one effect',
    async (afterEffect) => {
      const rig = new EffectRig();
      there(rig, { color: '000000' });
      rig.forge.failNext('updateLabel', 'unknown', { status: 502, afterEffect });

      const first = await rig.want('label.ensure', BUG);
      await rig.recover(first.id);
      rig.clock.advance(60_000);
      const end = await rig.work(first.id);

      expect([first.state, end.state]).toEqual(['unknown', 'done']);
      expect(rig.written).toEqual(['updateLabel']);
    },
  );

  it('finds a label beyond the first page', async () => {
    const rig = new EffectRig();
    for (let n = 0; n < 7; n += 1) there(rig, { id: `x${n}`, name: `other-${n}` });
    there(rig);

    expect((await rig.want('label.ensure', BUG)).state).toBe('unchanged');
  });

  it('takes a label of the organization for the one that is wanted', async () => {
    const rig = new EffectRig();
    rig.forge.orgLabels.push({ id: '9', name: 'kind/bug', color: 'd73a4a', exclusive: true });

    expect((await rig.want('label.ensure', BUG)).state).toBe('unchanged');
  });

  it('does without labels of the organization, and without the number, where the token may not read them', async () => {
    const rig = new EffectRig();
    rig.forge.failNext('listOrgLabels', 'refused', { status: 403 });
    rig.forge.failNext('getRepoById', 'refused', { status: 403 });

    expect((await rig.want('label.ensure', BUG)).state).toBe('done');
  });

  it('is content when one of several labels of the name fits, and says that there are several', async () => {
    const rig = new EffectRig();
    there(rig, { color: '000000' });
    there(rig, { id: '2' });

    expect(await rig.want('label.ensure', BUG)).toMatchObject({
      state: 'unchanged',
      reason: saying(expect.stringContaining('2 labels')),
    });
  });

  it('is its own memory on a forge that lists no labels', async () => {
    const rig = new EffectRig({ profile: 'core' });

    const first = await rig.want('label.ensure', BUG);
    const again = await rig.want('label.ensure', BUG);
    const other = await rig.want('label.ensure', { ...BUG, color: '#000000' });

    expect([first.state, again.state, other.state]).toEqual(['done', 'unchanged', 'conflict']);
    expect(rig.written).toEqual(['createLabel']);
  });

  it('writes nothing in a dry run and says what it would send', async () => {
    const rig = new EffectRig();

    const intent = await rig.want('label.ensure', BUG, { mode: 'dry-run' });

    expect(intent).toMatchObject({
      state: 'suppressed',
      reason: saying('dry-run'),
      result: {
        would_send: {
          operation: 'createLabel',
          arguments: { owner: 'acme', repo: 'app', body: { name: 'kind/bug', color: '#d73a4a', exclusive: true } },
        },
      },
    });
    expect(rig.written).toEqual([]);
  });

  it('waits for a person when the outcome is unknown, and is not sent again', async () => {
    const rig = new EffectRig({ profile: 'core' });
    rig.forge.failNext('createLabel', 'unknown', { status: 502, afterEffect: true });

    const intent = await rig.want('label.ensure', BUG);
    const again = await rig.work(intent.id);

    expect([intent.state, again.state]).toEqual(['waiting', 'waiting']);
    expect(sentenceOf(intent.reason)).toContain('outcome is unknown');
    expect(rig.written).toEqual(['createLabel']);
    expect(rig.alerts).toEqual([`intent.waiting/acme/${intent.rule}`]);
  });

  it('holds the effect key while it waits: a second wish of the same label is not sent either', async () => {
    const rig = new EffectRig({ profile: 'core' });
    rig.forge.failNext('createLabel', 'unknown', { status: 502, afterEffect: true });
    await rig.want('label.ensure', BUG);

    const second = await rig.want('label.ensure', BUG);

    expect(second.state).toBe('planned');
    expect(rig.written).toEqual(['createLabel']);
  });

  it.each<[string, string | number | boolean]>([
    ['color', 'red'],
    ['color', ''],
    ['color', '#12'],
    ['name', ''],
    ['name', '  '],
    ['exclusive', 'yes'],
  ])('refuses %s %j without a call', async (name, value) => {
    const rig = new EffectRig();

    const intent = await rig.want('label.ensure', { ...BUG, [name]: value });

    expect(intent).toMatchObject({ state: 'refused', reason: saying(expect.stringContaining(name)) });
    expect(rig.forge.calls).toEqual([]);
  });
});
