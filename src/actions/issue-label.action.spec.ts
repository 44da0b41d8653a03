import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';

describe('actions/issue-label', () => {
  it.each([
    ['its own label, where both are in use', false, false, '1'],
    ['that of the organization, where its own is archived', true, false, '9'],
    ['its own label, where both are archived', true, true, '1'],
  ])('of a repository and its organization with labels of one name puts on %s', async (_, own, inherited, id) => {
    const rig = new EffectRig();
    const asked: unknown[] = [];
    const label = { name: 'kind/bug', color: 'd73a4a' };
    rig.forge.repositories.get('acme/app')?.labels.push({ ...label, id: '1', is_archived: own });
    rig.forge.orgLabels.push({ ...label, id: '9', is_archived: inherited });
    rig.forge.answer('listIssueLabels', async () => [] as never);
    rig.forge.answer('addIssueLabels', async ({ body }) => {
      asked.push(...(body as { labels: bigint[] }).labels.map(String));
      return [label] as never;
    });

    expect((await rig.want('issue.label', { number: '12', add: ['kind/bug'] })).state).toBe('done');
    expect(asked).toEqual([id]);
  });
});
