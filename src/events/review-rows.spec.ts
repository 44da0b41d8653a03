import { describe, expect, it } from '@jest/globals';
import { findReviews } from './review-rows.js';

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

describe('events/review-rows', () => {
  it('takes lines and summary that one call wrote for one review, the last one for its summary', () => {
    const marks = findReviews([
      row('636', '4|Some thou', { comment: { body: 'Some thoughts' } }),
      row('632', '4|why?'),
    ]);

    expect(Object.fromEntries(marks)).toEqual({
      '632': { kind: 'review.commented', body: 'Some thoughts' },
      '636': { kind: 'review.commented', body: 'Some thoughts' },
    });
  });

  it('takes the lines of an approval for the approval, in either form of the content', () => {
    const marks = findReviews([
      row('1', '["4","why?"]'),
      row('2', '["4","ship it"]', { op_type: 'approve_pull_request' }),
    ]);

    expect(marks.get('1')).toEqual({ kind: 'review.approved', body: 'ship it' });
  });

  it('leaves out rows that are known to be comments, and takes what remains for a review', () => {
    const rows = [
      row('1', '4|first', { comment_id: '91' }),
      row('2', '4|second', { comment_id: '92' }),
      row('3', '4|thoughts', { comment_id: '93' }),
    ];

    expect(findReviews(rows.slice(0, 2), new Set(['91', '92'])).size).toBe(0);
    expect([...findReviews(rows, new Set(['91', '92'])).keys()]).toEqual(['3']);
    expect([...findReviews(rows).keys()]).toEqual(['1', '2', '3']);
  });

  it.each([
    ['one row alone', {}, null],
    ['another second', { created: '2026-11-20T19:37:33+01:00' }, 'two'],
    ['another person', { act_user_id: '31' }, 'two'],
    ['another repository', { repo_id: '38' }, 'two'],
    ['another pull request', { content: '5|x' }, 'two'],
    ['a comment of an issue', { op_type: 'comment_issue' }, 'two'],
  ])('leaves out %s', (_what, over, second) => {
    expect(findReviews([row('1', '4|why?'), ...(second ? [row('2', '4|x', over)] : [])]).size).toBe(0);
  });
});
