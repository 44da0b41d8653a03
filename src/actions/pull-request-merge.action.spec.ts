import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { sentenceOf } from '../../test/builders/reasons.js';

const SHA = '0123456789abcdef0123456789abcdef01234567';

describe('actions/pull-request-merge', () => {
  it.each([
    ['an empty list', { state: 'pending', total_count: 0, statuses: [] }],
    ['no list, and a count of none', { state: 'pending', total_count: 0 }],
    ['no state', { state: '', total_count: 0 }],
  ])('says that a commit has no status, told by %s', async (_, status) => {
    const rig = new EffectRig();
    rig.forge.answer('getPull', async () => ({ number: 4, state: 'open', head: { sha: SHA }, base: { ref: 'main' } }));
    rig.forge.answer('listReviews', async () => []);
    rig.forge.answer('getCombinedStatus', async () => status);

    const merge = await rig.want('pull_request.merge', { number: '4', sha: SHA, approvals: 0, checks: true });

    expect(sentenceOf(merge.reason)).toContain('has no status; without CI write checks: false');
    expect(rig.written).toEqual([]);
  });
});
