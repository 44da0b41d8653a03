import { describe, expect, it } from '@jest/globals';
import { authorsOf } from './rule-repository.port.js';

const review = (author: string | null) => ({ pull: 7, author, mergedBy: 'mona', approvedBy: ['rita'] });

describe('rules/sources/rule-repository', () => {
  it.each([
    [
      'the author of the commit, who signed it and who opened the pull request',
      { author: 'ann', signer: 'bob', review: review('carl') },
      ['ann', 'bob', 'carl'],
    ],
    ['each once', { author: 'ann', signer: 'ann', review: review('ann') }, ['ann']],
    ['nobody where the forge tells nobody', { author: null, signer: null, review: review(null) }, []],
    ['the author alone where no pull request is known', { author: 'ann', signer: null, review: null }, ['ann']],
  ])('knows as authors of a revision %s', (_what, origin, authors) => {
    expect(authorsOf(origin)).toEqual(authors);
  });
});
