import { describe, expect, it } from '@jest/globals';
import { passesBranchFilter } from './branch-filter.js';

describe('sandbox/deliveries/branch-filter', () => {
  it.each([
    ['', 'refs/heads/x', 'all', true],
    ['*', 'refs/tags/v1', 'all', true],
    ['main', 'refs/heads/main', 'all', true],
    ['main', 'refs/heads/topic', 'all', false],
    ['main', 'refs/tags/v1', 'all', false],
    ['main', 'refs/tags/v1', 'branches', true],
    ['{main,refs/tags/*}', 'refs/tags/v1/x', 'all', true],
    ['release/*', 'refs/heads/release/1/2', 'all', true],
    ['[mt]ain', 'refs/heads/main', 'all', true],
    ['!main', 'refs/heads/topic', 'all', false],
  ] as const)('filter "%s" and ref %s (%s) => %s', (filter, ref, reach, expected) => {
    expect(passesBranchFilter(filter, ref, reach)).toBe(expected);
  });
});
