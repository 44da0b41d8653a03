import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { sentenceOf } from '../../test/builders/reasons.js';

const SHA = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);
const WISH = { number: '3', sha: SHA };
const BOT = { id: '9', login: 'bot' };

interface Given {
  readonly state?: string;
  readonly head?: string;
  readonly author?: object;
  readonly official?: boolean;
  readonly reviews?: ReadonlyArray<object>;
}

/** Pull request 3; each approval of the bot is kept. */
function given({ state = 'open', head = SHA, author = { id: '2' }, official = true, reviews = [] }: Given = {}) {
  const rig = new EffectRig();
  const kept = [...reviews];
  rig.forge.answer('getPull', async () => ({ number: '3', state, head: { sha: head }, user: author }));
  rig.forge.answer('getSelf', async () => BOT);
  rig.forge.answer('listReviews', async ({ page }) => (page === 1 ? kept : []));
  rig.forge.answer('createReview', async ({ body }) => {
    const review = {
      id: String(100 + kept.length),
      user: BOT,
      state: 'APPROVED',
      dismissed: false,
      official,
      ...(body as object),
    };
    kept.push(review);
    return review;
  });
  return { rig, kept };
}

const approval = (more: object = {}): object => ({ id: '1', user: BOT, state: 'APPROVED', commit_id: SHA, ...more });

describe('actions/review-approve', () => {
  it('approves the commit once, and says so', async () => {
    const { rig, kept } = given();

    const [first, second] = [await rig.want('review.approve', WISH), await rig.want('review.approve', WISH)];

    expect([first.state, second.state]).toEqual(['done', 'unchanged']);
    expect([sentenceOf(first.reason), sentenceOf(second.reason)]).toEqual([
      '#3 approved at aaaaaaaaaa',
      'we approved #3 at aaaaaaaaaa',
    ]);
    expect(kept).toMatchObject([{ event: 'APPROVED', commit_id: SHA }]);
  });

  it('says where the protection does not count it', async () => {
    const intent = await given({ official: false }).rig.want('review.approve', WISH);

    expect(sentenceOf(intent.reason)).toBe('#3 approved at aaaaaaaaaa; the protection of its base does not count it');
  });

  it.each<[string, Given, string, string]>([
    ['its head moved', { head: OTHER }, 'refused', 'the head of #3 moved to bbbbbbbbbb'],
    ['it is closed', { state: 'closed' }, 'refused', 'pull request #3 is closed'],
    [
      'the bot opened it',
      { author: BOT },
      'refused',
      "the bot opened #3 itself: forges take no approval of one's own pull request",
    ],
    [
      'it is approved already, and merged since',
      { state: 'closed', reviews: [approval()] },
      'unchanged',
      'we approved',
    ],
  ])('does not approve: %s', async (_why, situation, state, reason) => {
    const { rig } = given(situation);
    const intent = await rig.want('review.approve', WISH);

    expect([intent.state, sentenceOf(intent.reason)]).toEqual([state, expect.stringContaining(reason)]);
    expect(rig.written).toEqual([]);
  });

  it.each([
    ['of another commit', approval({ commit_id: OTHER })],
    ['of somebody else', approval({ user: { id: '2' } })],
    ['that only comments', approval({ state: 'COMMENT' })],
  ])('a review %s is none', async (_which, review) => {
    expect((await given({ reviews: [review] }).rig.want('review.approve', WISH)).state).toBe('done');
  });

  it('an approval that somebody dismissed is not given again', async () => {
    const { rig, kept } = given();
    await rig.want('review.approve', WISH);
    Object.assign(kept[0] ?? {}, { dismissed: true });

    const again = await rig.want('review.approve', WISH);

    expect([again.state, sentenceOf(again.reason)]).toEqual([
      'suppressed',
      expect.stringContaining('somebody dismissed the approval of #3'),
    ]);
    expect(kept).toHaveLength(1);
  });
});
