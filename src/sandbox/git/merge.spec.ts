import { describe, expect, it } from '@jest/globals';
import { mergeTrees } from './merge.js';

const tree = (files: Record<string, string>): Map<string, string> => new Map(Object.entries(files));

describe('sandbox/git/merge', () => {
  it('takes over what only one side changed', () => {
    const { files, conflicts } = mergeTrees(
      tree({ a: '1', b: '1', gone: '1' }),
      tree({ a: '2', b: '1', gone: '1' }),
      tree({ a: '1', b: '2', c: '3' }),
    );

    expect(Object.fromEntries(files)).toEqual({ a: '2', b: '2', c: '3' });
    expect(conflicts).toEqual([]);
  });

  it.each([
    ['both changed a file in other ways', { a: '1' }, { a: '2' }, { a: '3' }, ['a']],
    ['one removed what the other changed', { a: '1' }, {}, { a: '2' }, ['a']],
    ['both added a file in other ways', {}, { a: '2' }, { a: '3' }, ['a']],
    ['both changed it alike', { a: '1' }, { a: '2' }, { a: '2' }, []],
    ['both removed it', { a: '1' }, {}, {}, []],
  ])('%s', (_, base, ours, theirs, conflicts) => {
    expect(
      mergeTrees(
        tree(base as Record<string, string>),
        tree(ours as Record<string, string>),
        tree(theirs as Record<string, string>),
      ).conflicts,
    ).toEqual(conflicts);
  });
});
