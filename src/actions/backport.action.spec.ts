import { describe, expect, it } from '@jest/globals';
import { ForgeError } from '../core/errors.js';
import { backport } from './backport.action.js';

const WISH = { number: '12', to: 'release/1' } as never;
const MERGED = {
  number: 12,
  merged: true,
  state: 'closed',
  merge_commit_sha: 'm1',
  base: { ref: 'main', repo_id: '7' },
};
const HEAD = { ref: 'backport/12-to-release/1', repo_id: '7', label: 'backport/12-to-release/1' };
const ends = { base: { ref: 'release/1', repo_id: '7' }, head: HEAD };

/** What the first step sees, and says of it. @param told by its two branches @param open, newest: lists */
async function judge({
  told = null,
  open = [],
  newest = [],
  diff = 'diff',
}: {
  told?: object | null;
  open?: object[];
  newest?: object[];
  diff?: unknown;
}) {
  const forge = {
    getPull: async () => MERGED,
    getPullByBranches: async () => {
      if (told) return told;
      throw new ForgeError('refused', 'not there', { operation: 'getPullByBranches', status: 404 });
    },
    listPulls: async ({ state }: { state: string }) => (state === 'open' ? open : newest),
    getBranch: async ({ branch }: { branch: string }) => {
      if (branch === 'release/1') return { commit: { id: 't1' } };
      throw new ForgeError('refused', 'not there', { operation: 'getBranch', status: 404 });
    },
    listCommits: async () => [{ sha: 'm1' }],
    listPullCommits: async () => [],
    getPullDiff: async () => {
      if (diff instanceof Error) throw diff;
      return diff;
    },
    getSelf: async () => ({ id: '9' }),
  };
  const place = { owner: 'acme', repo: 'app' };
  const seen = await backport.look({ forge, place, call: null, isAsked: false } as never, WISH);
  const decision = backport.compare({ wanted: WISH, seen, call: null } as never);
  return {
    kind: decision.kind,
    code: 'reason' in decision ? decision.reason.code : null,
    params: 'reason' in decision ? decision.reason.params : null,
  };
}

const AGIT = { number: 20, state: 'open', ...ends, head: { ...HEAD, label: '' } };

describe('actions/backport', () => {
  it.each<[string, Parameters<typeof judge>[0], string]>([
    ['the branch is made', {}, 'write'],
    ['a topic of somebody is no branch (its label is empty)', { told: AGIT, open: [AGIT] }, 'write'],
    ['a topic of somebody is no branch (its flow says so)', { told: { ...AGIT, flow: 1, head: HEAD } }, 'write'],
    [
      'behind a topic the backport is seen',
      { told: AGIT, open: [AGIT, { number: 21, state: 'open', ...ends }] },
      'there',
    ],
    ['a closed one stays closed', { told: { number: 20, state: 'closed', merged: false, ...ends } }, 'undone'],
    [
      'behind a closed one the open one is seen',
      { told: { number: 20, state: 'closed', ...ends }, open: [{ number: 21, state: 'open', ...ends }] },
      'there',
    ],
    [
      'behind a closed one a merged one is seen',
      {
        told: { number: 20, state: 'closed', ...ends },
        newest: [{ number: 21, state: 'closed', merged: true, ...ends }],
      },
      'there',
    ],
    [
      'an open one of a fork is another',
      {
        told: { number: 20, state: 'closed', ...ends },
        open: [{ number: 21, state: 'open', ...ends, head: { ...HEAD, repo_id: '8' } }],
      },
      'undone',
    ],
  ])('%s', async (_, seen, expected) => {
    expect((await judge(seen)).kind).toBe(expected);
  });

  it('says that a diff is too large, and lets every other fault pass', async () => {
    const fault = (detail: string) => new ForgeError('unknown', 'x', { operation: 'getPullDiff', detail });

    expect(await judge({ diff: fault('too-large') })).toMatchObject({
      kind: 'unchanged',
      params: { why: 'too-large' },
    });
    expect(await judge({ diff: null })).toMatchObject({ kind: 'unchanged', params: { why: 'not-text' } });
    await expect(judge({ diff: fault('deadline') })).rejects.toMatchObject({ facts: { detail: 'deadline' } });
  });
});
