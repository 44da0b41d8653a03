import { describe, expect, it } from '@jest/globals';
import { readGroup, writtenTogether } from './review-rows.js';

const AT = '2026-11-20T19:37:32+01:00';
const row = (id: string, content: string, over: object = {}) => ({
  id,
  op_type: 'comment_pull',
  content,
  created: AT,
  repo_id: '37',
  act_user_id: '30',
  ...over,
});

/** @param comments ids that the forge lists; default: it does not say */
const read = (rows: Array<ReturnType<typeof row>>, comments: string[] | null = null) =>
  new Map(writtenTogether(rows).flatMap((group) => [...readGroup(group, comments && new Set(comments))]));

describe('events/review-rows', () => {
  it('takes lines and summary that one call wrote for one review, the last one for its summary', () => {
    const marks = read([row('636', '4|Some thou', { comment: { body: 'Some thoughts' } }), row('632', '4|why?')]);

    expect(Object.fromEntries(marks)).toEqual({
      '632': { kind: 'review.commented', body: 'Some thoughts' },
      '636': { kind: 'review.commented', body: 'Some thoughts' },
    });
  });

  it('takes the lines of an approval for the approval, in either form of the content', () => {
    const marks = read([row('1', '["4","why?"]'), row('2', '["4","ship it"]', { op_type: 'approve_pull_request' })]);

    expect(marks.get('1')).toEqual({ kind: 'review.approved', body: 'ship it' });
  });

  it('takes rows that the forge lists for comments, and what remains for a review', () => {
    const rows = [
      row('1', '4|first', { comment_id: '91' }),
      row('2', '4|second', { comment_id: '92' }),
      row('3', '4|thoughts', { comment_id: '93' }),
    ];
    const review = { kind: 'review.commented', body: 'thoughts' };

    expect([...read(rows.slice(0, 2), ['91', '92']).values()]).toEqual([false, false]);
    expect([...read(rows, ['91', '92']).values()]).toEqual([false, false, review]);
    expect([...read(rows).values()]).toEqual([review, review, review]);
  });

  it.each<[string, string[] | null, object, unknown]>([
    ['the forge lists: a comment', ['91'], { comment: { body: 'why?' } }, false],
    [
      'the forge does not list: a review',
      [],
      { comment: { body: 'why?' } },
      { kind: 'review.commented', body: 'why?' },
    ],
    ['was deleted since: either', [], {}, undefined],
    ['nobody can say of: either', null, { comment: { body: 'why?' } }, undefined],
  ])('takes one row alone that %s', (_what, comments, over, expected) => {
    expect(read([row('1', '4|why?', { comment_id: '91', ...over })], comments).get('1')).toEqual(expected);
  });

  it.each([
    ['another second', { created: '2026-11-20T19:37:33+01:00' }],
    ['another person', { act_user_id: '31' }],
    ['another repository', { repo_id: '38' }],
    ['another pull request', { content: '5|x' }],
    ['a comment of an issue', { op_type: 'comment_issue' }],
  ])('puts no rows together of %s', (_what, over) => {
    expect(read([row('1', '4|why?'), row('2', '4|x', over)]).size).toBe(0);
  });

  it('asks nothing about a verdict that stands alone', () => {
    expect(writtenTogether([row('1', '4|no', { op_type: 'reject_pull_request' })])).toEqual([]);
  });
});
