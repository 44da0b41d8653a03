import { describe, expect, it } from '@jest/globals';
import { brokenRepositoryName } from './repository-create.js';

describe('sandbox/repository-name', () => {
  it.each(['app', 'UPPER.lower_1-2', '.profile', 'a-b', 'gitx', 'wiki'])('takes %s', (name) => {
    expect(brokenRepositoryName(name)).toBeUndefined();
  });

  it.each([
    ['..', true],
    ['a..b', true],
    ['.', false],
    ['-', false],
    ['x.git', false],
    ['x.WIKI', false],
    ['x.rss', false],
  ])('refuses %s (a fault there: %s)', (name, hasDots) => {
    expect(brokenRepositoryName(name)).toMatchObject({ hasDots });
  });
});
