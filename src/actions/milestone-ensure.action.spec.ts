import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { saying } from '../../test/builders/reasons.js';

const NEXT = { title: '1.4', due_on: '2027-01-31T12:00:00Z' };

function there(rig: EffectRig, over: Record<string, unknown> = {}): void {
  rig.forge.repositories.get('acme/app')?.milestones.push({
    id: '1',
    title: '1.4',
    description: '',
    state: 'open',
    due_on: '2027-01-31T13:00:00+01:00',
    ...over,
  });
}

describe('actions/milestone-ensure', () => {
  it('leaves a milestone deleted that a person deleted, but for policies', async () => {
    const rig = new EffectRig();
    await rig.want('milestone.ensure', { title: '1.4' });
    rig.forge.repositories.get('acme/app')?.milestones.splice(0);

    expect((await rig.want('milestone.ensure', { title: '1.4' })).state).toBe('suppressed');
    expect((await rig.want('milestone.ensure', { title: '1.4' }, { kind: 'policy', respectUndo: true })).state).toBe(
      'suppressed',
    );
    expect((await rig.want('milestone.ensure', { title: '1.4' }, { kind: 'policy' })).state).toBe('done');
  });

  it.each<[string, Record<string, string>, string[], Record<string, unknown>]>([
    ['the text goes to the open one', { description: 'x' }, ['updateMilestone'], { id: '2', body: { state: 'open' } }],
    ['the open one is open already', { state: 'open' }, [], {}],
    ['closing closes the open one', { state: 'closed' }, ['updateMilestone'], { id: '2', body: { state: 'closed' } }],
  ])('means the open one where an older one of the title is closed: %s', async (_, wanted, written, sent) => {
    const rig = new EffectRig();
    there(rig, { state: 'closed', description: 'old' });
    there(rig, { id: '2' });

    const [first, second] = [
      await rig.want('milestone.ensure', { title: '1.4', ...wanted }),
      await rig.want('milestone.ensure', { title: '1.4', ...wanted }),
    ];

    expect([first.state, second.state]).toEqual([written.length > 0 ? 'done' : 'unchanged', 'unchanged']);
    expect(rig.written).toEqual(written);
    if (written.length > 0) expect(rig.forge.writes).toMatchObject([{ args: sent }]);
  });

  it('finds a title that the filter of a database would miss', async () => {
    const rig = new EffectRig();
    there(rig, { title: 'Über 50%' });
    rig.forge.answer('listMilestones', async (args) =>
      'name' in args
        ? []
        : (args as { page?: number }).page === 1
          ? rig.forge.repositories.get('acme/app')?.milestones
          : [],
    );

    expect((await rig.want('milestone.ensure', { title: 'Über 50%' })).state).toBe('unchanged');
  });

  it('makes a milestone that is not there, and nothing the second time', async () => {
    const rig = new EffectRig();

    const first = await rig.want('milestone.ensure', { ...NEXT, title: '  1.4 ' });
    const second = await rig.want('milestone.ensure', NEXT);

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(rig.forge.writes).toMatchObject([
      { operation: 'createMilestone', args: { body: { title: '1.4', state: 'open', due_on: '2027-01-31T12:00:00Z' } } },
    ]);
  });

  it.each<[string, Record<string, unknown>, Record<string, string | boolean>, string]>([
    ['the same day in the offset of the server', {}, {}, 'unchanged'],
    ['an edit moved it to the end of the day', { due_on: '2027-01-31T23:59:59+01:00' }, {}, 'unchanged'],
    ['the day alone is wanted', {}, { due_on: '2027-01-31' }, 'unchanged'],
    ['closed, state not asked about', { state: 'closed' }, {}, 'unchanged'],
    ['closed, wanted open, to be kept', { state: 'closed' }, { state: 'open', keep: true }, 'unchanged'],
    ['a title that only contains it', { title: '1.4.1' }, {}, 'done'],
    ['a title of composed characters', { title: 'caf\u00e9' }, { title: 'cafe\u0301' }, 'unchanged'],
    ['spaces in the title there', { title: ' 1.4 ' }, {}, 'unchanged'],
  ])('%s => %s', async (_, present, wanted, state) => {
    const rig = new EffectRig();
    there(rig, present);

    expect((await rig.want('milestone.ensure', { ...NEXT, ...wanted })).state).toBe(state);
    expect(rig.written).toEqual(state === 'done' ? ['createMilestone'] : []);
  });

  it.each<[string, Record<string, unknown>, Record<string, string>, Record<string, unknown>]>([
    ['another day', { due_on: '2027-02-01T00:30:00+01:00' }, {}, { due_on: '2027-01-31T12:00:00Z', state: 'open' }],
    ['no due date there', { due_on: null }, {}, { due_on: '2027-01-31T12:00:00Z' }],
    [
      'closed, wanted open: the due date is kept',
      { state: 'closed' },
      { state: 'open' },
      { state: 'open', due_on: '2027-01-31T13:00:00+01:00' },
    ],
    [
      'another description of a closed one',
      { state: 'closed', description: 'x' },
      { description: 'y' },
      { state: 'closed', description: 'y' },
    ],
  ])('%s => changed, and all else of it stays as it was', async (_, present, wanted, sent) => {
    const rig = new EffectRig();
    there(rig, present);

    const first = await rig.want('milestone.ensure', { ...NEXT, ...wanted });
    const second = await rig.want('milestone.ensure', { ...NEXT, ...wanted });

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(rig.forge.writes).toMatchObject([
      { operation: 'updateMilestone', args: { id: '1', body: { title: '1.4', ...sent } } },
    ]);
  });

  it('renames the milestone of an earlier title, with its due date, and makes none', async () => {
    const rig = new EffectRig();
    there(rig, { title: 'v1.4' });

    const first = await rig.want('milestone.ensure', { title: '1.4', renamed_from: ['v1.4'] });
    const second = await rig.want('milestone.ensure', { title: '1.4', renamed_from: ['v1.4'] });

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect(rig.forge.writes).toMatchObject([
      { operation: 'updateMilestone', args: { body: { title: '1.4', due_on: '2027-01-31T13:00:00+01:00' } } },
    ]);
  });

  it.each([true, false])(
    'comes out of an edit whose answer was lost (it had its effect: %s) with one effect',
    async (afterEffect) => {
      const rig = new EffectRig();
      there(rig, { state: 'closed' });
      rig.forge.failNext('updateMilestone', 'unknown', { status: 502, afterEffect });

      const first = await rig.want('milestone.ensure', { ...NEXT, state: 'open' });
      await rig.recover(first.id);
      rig.clock.advance(60_000);
      const end = await rig.work(first.id);

      expect([first.state, end.state]).toEqual(['unknown', 'done']);
      expect(rig.written).toEqual(['updateMilestone']);
    },
  );

  it('does not compare a due date that is not wanted', async () => {
    const rig = new EffectRig();
    there(rig);

    expect((await rig.want('milestone.ensure', { title: '1.4' })).state).toBe('unchanged');
  });

  it('sends noon for a day', async () => {
    const rig = new EffectRig();

    await rig.want('milestone.ensure', { title: '1.4', due_on: '2027-01-31' });

    expect(rig.forge.writes[0]?.args).toMatchObject({ body: { due_on: '2027-01-31T12:00:00Z' } });
    expect((await rig.want('milestone.ensure', { title: '1.4', due_on: '2027-01-31' })).state).toBe('unchanged');
  });

  it('is its own memory on a forge that lists no milestones', async () => {
    const rig = new EffectRig({ profile: 'core' });

    const states = [
      await rig.want('milestone.ensure', NEXT),
      await rig.want('milestone.ensure', NEXT),
      await rig.want('milestone.ensure', { title: '1.4' }),
    ];

    expect(states.map(({ state }) => state)).toEqual(['done', 'unchanged', 'conflict']);
    expect(rig.written).toEqual(['createMilestone']);
  });

  it('writes nothing in a dry run', async () => {
    const rig = new EffectRig();

    expect((await rig.want('milestone.ensure', NEXT, { mode: 'dry-run' })).state).toBe('suppressed');
    expect(rig.written).toEqual([]);
  });

  it.each([
    ['title', ''],
    ['title', '  '],
    ['due_on', '31.1.2027'],
    ['due_on', '2027-02-30T99:00:00Z'],
    ['state', 'shut'],
  ])('refuses %s %j without a call', async (name, value) => {
    const rig = new EffectRig();

    expect(await rig.want('milestone.ensure', { ...NEXT, [name]: value })).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining(name)),
    });
    expect(rig.forge.calls).toEqual([]);
  });
});
