import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import type { Intent } from '../core/run.js';
import { saying, sentenceOf } from '../../test/builders/reasons.js';

/** A rig whose repository has the label (or milestone), made by us or by somebody. */
async function withOne(
  kind: 'label' | 'milestone',
  by: 'us' | 'somebody',
): Promise<{ rig: EffectRig; remove: () => Promise<Intent>; left: () => number }> {
  const rig = new EffectRig();
  const app = rig.forge.repositories.get('acme/app');
  const ofLabel = kind === 'label';
  rig.forge.answer('listIssues', async (args) => ((args as { page?: number }).page === 1 ? issues(rig) : []));
  if (by === 'us')
    await (ofLabel
      ? rig.want('label.ensure', { name: 'chore', color: '#ffffff' })
      : rig.want('milestone.ensure', { title: 'chore' }));
  else if (ofLabel) app?.labels.push({ id: '5', name: 'chore', color: 'ffffff' });
  else app?.milestones.push({ id: '5', title: 'chore', state: 'open' });
  return {
    rig,
    remove: () => rig.want(`${kind}.remove`, ofLabel ? { name: 'chore' } : { title: 'chore' }),
    left: () => (ofLabel ? app?.labels : app?.milestones)?.length ?? -1,
  };
}

function issues(rig: EffectRig): unknown[] {
  return (rig.forge.repositories.get('acme/app')?.['issues'] as unknown[] | undefined) ?? [];
}

describe('actions/label-remove', () => {
  /** As servers filter: split at commas, unknown names dropped, every label of the names wanted on one issue. */
  function filtered(rig: EffectRig, { labels = '', page = 1 }: { labels?: string; page?: number }): unknown[] {
    const names = labels.split(',').map((name) => name.trim());
    const ids = (rig.forge.repositories.get('acme/app')?.labels ?? [])
      .filter(({ name }) => names.includes(String(name)))
      .map(({ id }) => id);
    const borne = (issue: unknown): unknown[] =>
      (issue as { labels: Array<{ id: unknown }> }).labels.map(({ id }) => id);
    return page > 1 ? [] : issues(rig).filter((issue) => ids.every((id) => borne(issue).includes(id)));
  }

  it.each([
    ['a name that a filter splits', 'needs, docs', ['needs']],
    ['a name that is doubled', 'chore', ['chore']],
    ['a name with a space before it', ' chore', []],
  ])('leaves a label that an issue bears: %s', async (_, name, others) => {
    const rig = new EffectRig();
    rig.forge.answer('listIssues', async (args) => filtered(rig, args as { labels?: string; page?: number }));
    await rig.want('label.ensure', { name, color: '#ffffff' });
    const app = rig.forge.repositories.get('acme/app');
    Object.assign(app ?? {}, { issues: [{ number: 1, labels: [{ id: app?.labels[0]?.['id'] }] }] });
    for (const [n, other] of others.entries()) app?.labels.push({ id: String(n + 1), name: other, color: '000000' });

    expect((await rig.want('label.remove', { name })).state).toBe('conflict');
    expect(rig.written).toEqual(['createLabel']);
  });
});

describe.each(['label', 'milestone'] as const)('actions/%s-remove', (kind) => {
  it('takes away what was made from here, and nothing the second time', async () => {
    const { rig, remove, left } = await withOne(kind, 'us');

    const [first, second] = [await remove(), await remove()];

    expect([first.state, second.state, left()]).toEqual(['done', 'unchanged', 0]);
    expect(rig.written.slice(1)).toEqual([kind === 'label' ? 'deleteLabel' : 'deleteMilestone']);
  });

  it('leaves what somebody else made, and what was only changed from here', async () => {
    const { rig, remove, left } = await withOne(kind, 'somebody');

    const untouched = await remove();
    await (kind === 'label'
      ? rig.want('label.ensure', { name: 'chore', color: '#000000' })
      : rig.want('milestone.ensure', { title: 'chore', state: 'closed' }));
    const changed = await remove();

    expect([untouched.state, changed.state, left()]).toEqual(['conflict', 'conflict', 1]);
    expect(sentenceOf(changed.reason)).toContain('was not made from here');
  });

  it('leaves what is in use', async () => {
    const { rig, remove, left } = await withOne(kind, 'us');
    const app = rig.forge.repositories.get('acme/app');
    if (kind === 'label')
      Object.assign(app ?? {}, { issues: [{ number: 1, labels: [{ id: app?.labels[0]?.['id'] }] }] });
    else Object.assign(app?.milestones[0] ?? {}, { open_issues: 0, closed_issues: 2 });

    expect(await remove()).toMatchObject({
      state: 'conflict',
      reason: saying(expect.stringContaining(kind === 'label' ? 'on an issue' : '2 issues')),
    });
    expect(left()).toBe(1);
  });

  it('knows what it made whose answer was lost', async () => {
    const rig = new EffectRig();
    rig.forge.answer('listIssues', async () => []);
    rig.forge.failNext(kind === 'label' ? 'createLabel' : 'createMilestone', 'unknown', {
      status: 502,
      afterEffect: true,
    });
    const made = await (kind === 'label'
      ? rig.want('label.ensure', { name: 'chore', color: '#ffffff' })
      : rig.want('milestone.ensure', { title: 'chore' }));
    expect((await rig.recover(made.id)).state).toBe('done');

    expect((await rig.want(`${kind}.remove`, kind === 'label' ? { name: 'chore' } : { title: 'chore' })).state).toBe(
      'done',
    );
  });

  it.each([true, false])(
    'comes out of a lost answer (it had its effect: %s) with nothing left',
    async (afterEffect) => {
      const { rig, remove, left } = await withOne(kind, 'us');
      rig.forge.failNext(kind === 'label' ? 'deleteLabel' : 'deleteMilestone', 'unknown', { status: 502, afterEffect });

      const first = await remove();
      await rig.recover(first.id);
      rig.clock.advance(60_000);
      const end = await rig.work(first.id);

      expect([first.state, end.state, left()]).toEqual(['unknown', 'done', 0]);
    },
  );
});
