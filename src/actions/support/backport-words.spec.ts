import { describe, expect, it } from '@jest/globals';
import type { Obstacle } from '../reasons.js';
import { isCopied, markOfObstacle, textOfBackport, textOfObstacle } from './backport-words.js';

const WAY = { number: '12', to: 'release/1' };
const BRANCH = 'backport/12-to-release/1';
const picked = { merge: { sha: 'a1', parents: [{ sha: 'b' }] }, commits: [] } as never;
const say = (why: Obstacle, way = WAY): string => textOfObstacle(way, why, BRANCH, picked);

describe('actions/backport-words', () => {
  it.each<[string, Obstacle, RegExp]>([
    [
      'that a refused push looks like a conflict',
      'conflict',
      /does not say why\. Most likely they conflict; it may also have turned the push away/,
    ],
    ['that a text is not UTF-8', 'not-text', /#12 changes a text that is not UTF-8.*\n\n {4}git fetch/],
    ['that a diff is too large', 'too-large', /The diff of #12 is too large.*\n\n {4}git fetch/],
    [
      'that a branch is not there, and no commands',
      'no-target',
      /^The changes of #12 were to come to the branch release\/1, which is not there[^\n]*$/,
    ],
    [
      'that a name is taken, and no commands',
      'name-taken',
      /^[^\n]*`backport\/12-to-release\/1`, which is there already[^\n]*$/,
    ],
  ])('says %s', (_, why, expected) => {
    expect(say(why)).toMatch(expected);
  });

  it('lets a name that a person made up do nothing', () => {
    const to = 'x` @ann <b>#1';

    for (const why of ['conflict', 'no-target', 'name-taken'] as const)
      expect(say(why, { number: '12', to }).replace(/^ {4}.*$/gm, '')).not.toMatch(/@ann|<b>| #1\b/);
  });

  it('marks each obstacle by itself', () => {
    expect(markOfObstacle('a--b', 'conflict')).toBe('<!-- forgehand:backport-to:a%2D%2Db -->');
    expect(markOfObstacle('a:no-target', 'conflict')).not.toBe(markOfObstacle('a', 'no-target'));
  });

  it.each([
    ['bug', true],
    ['backport/release/1', false],
    ['no-backport/x', true],
    ['failed', false],
    ['Failed', true],
  ])('copies the label %s => %s', (label, expected) => {
    expect(isCopied(label, 'failed')).toBe(expected);
  });

  it('says that a merge by hand may differ, but for a repository that allows none', () => {
    const pull = (repo: object) => ({ merge_commit_sha: 'a1', base: { repo } }) as never;
    const isTold = (repo: object): boolean => textOfBackport(pull(repo), WAY, BRANCH).includes('compare it with a1');

    expect(isTold({})).toBe(true);
    expect(isTold({ allow_manual_merge: false, autodetect_manual_merge: true })).toBe(true);
    expect(isTold({ allow_manual_merge: false, autodetect_manual_merge: false })).toBe(false);
  });
});
