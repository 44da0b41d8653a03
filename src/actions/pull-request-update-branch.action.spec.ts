import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { sentenceOf } from '../../test/builders/reasons.js';
import { ForgeError } from '../core/errors.js';

const SHA = 'a'.repeat(40);

/** Pull request 3, so many commits behind its base; an update brings it up to date. */
function given(behind: number, pull: object | null = {}): EffectRig {
  const rig = new EffectRig();
  let missing = behind;
  rig.forge.answer('getPull', async () => {
    if (pull === null) throw new ForgeError('refused', 'getPull: not found', { operation: 'getPull', status: 404 });
    const ends = { head: { sha: SHA, ref: 'topic' }, base: { ref: 'main' } };
    return { number: '3', state: 'open', merged: false, ...ends, ...pull };
  });
  rig.forge.answer('compareCommits', async ({ basehead }) => {
    expect(basehead).toBe(`${SHA}...main`);
    return { total_commits: missing, commits: [] };
  });
  rig.forge.answer('updatePullBranch', async ({ style }) => {
    expect(['merge', 'rebase']).toContain(style);
    missing = 0;
  });
  return rig;
}

describe('actions/pull-request-update-branch', () => {
  it('updates a branch that is behind, once: servers answer 500 to the second', async () => {
    const rig = given(2);
    const wish = { number: '3' };

    const [first, second] = [
      await rig.want('pull_request.update_branch', wish),
      await rig.want('pull_request.update_branch', wish),
    ];

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect([sentenceOf(first.reason), sentenceOf(second.reason)]).toEqual([
      'branch of #3 brought up to date (merge)',
      'the branch of #3 has all of main',
    ]);
    expect(rig.written).toEqual(['updatePullBranch']);
  });

  it.each<[string, EffectRig, object, string, string]>([
    ['it is merged', given(2, { merged: true, state: 'closed' }), {}, 'unchanged', 'pull request #3 is merged'],
    ['it is closed', given(2, { state: 'closed' }), {}, 'refused', 'pull request #3 is closed'],
    ['it is not there', given(2, null), {}, 'refused', 'there is no pull request #3'],
    ['its head moved', given(2), { sha: 'b'.repeat(40) }, 'refused', 'the head of #3 moved to aaaaaaaaaa'],
  ])('leaves it: %s', async (_why, rig, more, state, reason) => {
    const intent = await rig.want('pull_request.update_branch', { number: '3', ...more });

    expect([intent.state, sentenceOf(intent.reason)]).toEqual([state, reason]);
    expect(rig.written).toEqual([]);
  });

  it('a conflict is said, and no fault', async () => {
    const rig = given(2);
    rig.forge.answer('updatePullBranch', async () => {
      throw new ForgeError('refused', 'updatePullBranch: conflict', { operation: 'updatePullBranch', status: 409 });
    });
    const intent = await rig.want('pull_request.update_branch', { number: '3', style: 'rebase' });

    expect([intent.state, sentenceOf(intent.reason)]).toEqual([
      'refused',
      'the branch of #3 cannot be brought up to date: it conflicts with its base',
    ]);
  });

  it('takes one of two styles', async () => {
    expect((await given(2).want('pull_request.update_branch', { number: '3', style: 'squash' })).state).toBe('refused');
  });
});
