import { describe, expect, it } from '@jest/globals';
import { aheadOf, isTold, leavingText, ownUpdates, placeIn } from './merge-place.js';
import { say } from '../reasons.js';

const [PINNED, UPDATE, AGAIN, TIP] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(40)) as [
  string,
  string,
  string,
  string,
];
const BOT = { id: '2', login: 'bot' };
const ANN = { id: '3', login: 'ann' };

interface Push {
  by?: object;
  shas: string[];
  isForced?: boolean;
}

/** @param parents by commit; the target has `TIP` and what is in `target` */
function look(
  head: string,
  pushes: readonly Push[],
  parents: Record<string, string[]>,
  { earlier = [], target = [TIP] }: { earlier?: string[]; target?: string[] } = {},
) {
  const forge = {
    listTimeline: async () =>
      pushes.map(({ by = BOT, shas, isForced = false }, n) => ({
        id: String(n),
        type: 'pull_push',
        user: by,
        body: JSON.stringify({ is_force_push: isForced, commit_ids: shas }),
      })),
    getCommit: async ({ sha }: { sha: string }) => ({
      parents: (parents[sha] ?? []).map((parent) => ({ sha: parent })),
    }),
    listCommits: async ({ sha, not, limit }: { sha: string; not: string; limit: number }) => {
      expect([not, limit]).toEqual([TIP, 1]);
      return target.includes(sha) ? [] : [{ sha }];
    },
  };
  const place = { owner: 'acme', repo: 'app' };
  const isOurs = ({ id }: { id: string }): boolean => id === BOT.id;
  return ownUpdates(forge as never, { place, number: '1', head, pinned: PINNED, earlier, tip: TIP, isOurs });
}

describe('actions/support/merge-place', () => {
  const merge = { [UPDATE]: [PINNED, TIP], [AGAIN]: [UPDATE, TIP] };

  it('takes the pinned head, its own update, and an update of that for its own', async () => {
    expect(await look(PINNED, [], {})).toEqual([]);
    expect(await look(UPDATE, [{ shas: [UPDATE] }], merge)).toEqual([UPDATE]);
    expect(await look(AGAIN, [{ shas: [UPDATE] }, { shas: [AGAIN] }], merge)).toEqual([UPDATE, AGAIN]);
    expect(await look(AGAIN, [{ shas: [AGAIN] }], merge, { earlier: [UPDATE] })).toEqual([UPDATE, AGAIN]);
  });

  it.each([
    ['somebody else pushed the same merge', [{ by: ANN, shas: [UPDATE] }], merge],
    ['it was forced', [{ shas: [PINNED, UPDATE], isForced: true }], merge],
    ['it merges what the target has not', [{ shas: [UPDATE] }], { [UPDATE]: [PINNED, 'e'.repeat(40)] }],
    ['it is no merge', [{ shas: [UPDATE] }], { [UPDATE]: [PINNED] }],
    [
      'it is on top of what somebody else pushed',
      [{ by: ANN, shas: [AGAIN] }, { shas: [UPDATE] }],
      { [UPDATE]: [AGAIN, TIP] },
    ],
    ['its parents are the other way round', [{ shas: [UPDATE] }], { [UPDATE]: [TIP, PINNED] }],
  ] as const)('is foreign where %s', async (_, pushes, parents) => {
    expect(await look(UPDATE, pushes as never, parents as never)).toBe('foreign');
  });

  it('waits while the timeline does not tell of the push', async () => {
    expect(await look(UPDATE, [{ shas: [PINNED] }], merge)).toBeNull();
  });

  it('stands behind those that are ready for the same branch, each once', () => {
    const wish = (number: string, over: object = {}) => ({
      isPaused: false,
      params: { number },
      noted: { base: 'main', entered: '2026-11-20T12:00:00Z', isReady: true, ...over },
    });
    const before = [wish('1'), wish('2', { base: 'dev' }), wish('3', { isReady: false }), wish('1'), wish('9')];

    expect(aheadOf([...before, { params: { number: '4' }, noted: {}, isPaused: false }], 'main', '9')).toEqual(['1']);
  });

  it('tells once since it took its place', () => {
    const noted = placeIn({ base: 'main', entered: '2026-11-20T12:00:00Z' });
    const body = leavingText(PINNED, 'main', say('queue.head', { number: '1' }));
    const at = (time: string, text = body) => [{ body: text, created_at: time }];

    if (!noted) throw new Error('it has a place');
    expect(isTold(at('2026-11-20T13:00:00Z'), PINNED, noted)).toBe(true);
    expect(isTold(at('2026-11-20T11:00:00Z'), PINNED, noted)).toBe(false);
    expect(isTold(at('2026-11-20T13:00:00Z', 'well'), PINNED, noted)).toBe(false);
    expect(isTold(at('2026-11-20T13:00:00Z'), UPDATE, noted)).toBe(false);
  });
});
