import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { sentenceOf } from '../../test/builders/reasons.js';
import { ForgeError } from '../core/errors.js';

const SHA = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);
const WISH = { branch: 'topic', sha: SHA };

interface Given {
  readonly sha?: string;
  readonly isProtected?: boolean;
  readonly defaultBranch?: string;
  readonly pulls?: ReadonlyArray<object>;
}

/** A repository 7 with the branch `topic`. */
function given({ sha = SHA, isProtected = false, defaultBranch = 'main', pulls = [] }: Given = {}): EffectRig {
  const rig = new EffectRig();
  const branches = new Map([['topic', sha]]);
  rig.forge.answer('getBranch', async ({ branch }) => {
    const id = branches.get(String(branch));
    if (id === undefined)
      throw new ForgeError('refused', 'getBranch: not found', { operation: 'getBranch', status: 404 });
    return { name: branch, commit: { id }, protected: isProtected };
  });
  rig.forge.answer('getRepo', async () => ({ id: '7', name: 'app', default_branch: defaultBranch }));
  rig.forge.answer('listPulls', async ({ page }) => (page === 1 ? pulls : []));
  rig.forge.answer('deleteBranch', async ({ branch }) => {
    if (!branches.delete(String(branch)))
      throw new ForgeError('refused', 'deleteBranch: not found', { operation: 'deleteBranch', status: 404 });
  });
  return rig;
}

const from = (ref: string, repoId: string, number = '3'): object => ({
  number,
  head: { ref, repo_id: repoId },
  base: { ref: 'main', repo_id: '7' },
});

describe('actions/branch-delete', () => {
  it('deletes the branch at its commit, and nothing the second time', async () => {
    const rig = given();

    const [first, second] = [await rig.want('branch.delete', WISH), await rig.want('branch.delete', WISH)];

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect([sentenceOf(first.reason), sentenceOf(second.reason)]).toEqual([
      'branch topic taken away',
      'branch topic is not there',
    ]);
    expect(rig.written).toEqual(['deleteBranch']);
  });

  it.each<[string, Given, string]>([
    [
      'it moved since the rule saw it',
      { sha: OTHER },
      'branch topic moved to bbbbbbbbbb, it is deleted only at aaaaaaaaaa',
    ],
    ['it is the default branch', { defaultBranch: 'topic' }, 'topic is the default branch'],
    ['it is protected', { isProtected: true }, 'branch topic is protected'],
    ['an open pull request begins there', { pulls: [from('topic', '7')] }, 'branch topic has an open pull request: #3'],
    [
      'open pull requests end there',
      { pulls: ['4', '5', '6', '8'].map((number) => ({ number, head: { ref: 'x' }, base: { ref: 'topic' } })) },
      'branch topic has an open pull request: #4, #5, #6, and 1 more',
    ],
  ])('stays: %s', async (_why, situation, reason) => {
    const rig = given(situation);
    const intent = await rig.want('branch.delete', WISH);

    expect([intent.state, sentenceOf(intent.reason)]).toEqual(['refused', reason]);
    expect(rig.written).toEqual([]);
  });

  it('a fork may have an open pull request from a branch of the same name', async () => {
    const rig = given({ pulls: [from('topic', '99'), from('other', '7')] });

    expect((await rig.want('branch.delete', WISH)).state).toBe('done');
  });

  it('the head of a pull request whose branch is gone already is no branch', async () => {
    const rig = given();

    expect((await rig.want('branch.delete', { ...WISH, branch: 'refs/pull/3/head' })).state).toBe('unchanged');
    expect(rig.written).toEqual([]);
  });

  it('somebody was faster: it is not there any more', async () => {
    const rig = given();
    rig.forge.answer('deleteBranch', async () => {
      throw new ForgeError('refused', 'deleteBranch: not found', { operation: 'deleteBranch', status: 404 });
    });

    expect((await rig.want('branch.delete', WISH)).state).toBe('unchanged');
  });

  it('takes a whole commit alone', async () => {
    expect((await given().want('branch.delete', { ...WISH, sha: 'aaaaaaa' })).state).toBe('refused');
  });
});
