import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { sentenceOf } from '../../test/builders/reasons.js';
import { ForgeError } from '../core/errors.js';

const AT = '2026-05-01T12:00:00Z';

/** So many merged pull requests, #1 the oldest; the last `since` of them are commits of the release. */
function rigWith(merged: number, since: number | null): EffectRig {
  const rig = new EffectRig();
  const pulls = Array.from({ length: merged }, (_, n) => ({
    number: BigInt(n + 1),
    title: `change ${n + 1}`,
    merged: true,
    merge_commit_sha: `sha-${n + 1}`,
    user: { login: 'ann' },
    labels: [],
  }));
  rig.forge.answer('getReleaseByTag', async () => {
    throw new ForgeError('refused', 'none', { operation: 'getReleaseByTag', status: 404 });
  });
  const tags = [{ name: 'v1.1.0' }, ...(since === null ? [] : [{ name: 'v1.0.0' }])];
  const page = <One>(rows: readonly One[], { page = 1 }: { page?: number }): readonly One[] =>
    rows.slice((page - 1) * 50, page * 50);
  rig.forge.answer('listTags', async (args) => page(tags, args as { page?: number }));
  rig.forge.answer('compareCommits', async () => {
    const commits = pulls.slice(-(since ?? 0)).map(({ merge_commit_sha: sha }) => ({ sha, created: AT }));
    return { total_commits: commits.length, commits };
  });
  rig.forge.answer('listIssues', async (args) =>
    page(
      pulls.map((pull) => ({ ...pull, pull_request: { merged: true, merged_at: AT } })),
      args as { page?: number },
    ),
  );
  rig.forge.answer('getPull', async ({ index }) => pulls[Number(index) - 1]);
  rig.forge.answer('getPullOfCommit', async ({ sha }) => pulls.find((pull) => pull.merge_commit_sha === sha));
  rig.forge.answer('createRelease', async () => ({ id: '9' }));
  return rig;
}

function bodyOf(rig: EffectRig): string {
  return String((rig.forge.writes[0]?.args['body'] as { body?: string } | undefined)?.body);
}

describe('actions/release-notes-ensure', () => {
  it.each([true, false])(
    'counts what is in the release, not what was merged before (commits tell: %s)',
    async (tell) => {
      const rig = rigWith(301, 1);
      if (!tell) rig.forge.failNext('getPullOfCommit', 'not-offered', { status: 404 });

      const intent = await rig.want('release_notes.ensure', { tag: 'v1.1.0', create: true });

      expect([intent.state, sentenceOf(intent.reason)]).toEqual([
        'done',
        'draft notes of v1.1.0: one change since v1.0.0',
      ]);
      expect(bodyOf(rig).match(/^- /gm)).toHaveLength(1);
      expect(rig.forge.calls.filter((name) => name === 'getPull')).toHaveLength(tell ? 0 : 301);
    },
  );

  it.each([
    ['the first release', null],
    ['a release after another', 312],
  ])('lists the newest 300 of %s, and says how many came before', async (_, since) => {
    const rig = rigWith(312, since);

    expect((await rig.want('release_notes.ensure', { tag: 'v1.1.0', create: true })).state).toBe('done');

    expect(bodyOf(rig).match(/^- /gm)).toHaveLength(300);
    expect(bodyOf(rig)).toContain('change 13 ');
    expect(bodyOf(rig)).not.toContain('change 12 ');
    expect(bodyOf(rig)).toContain('And 12 earlier ones.');
  });
});
