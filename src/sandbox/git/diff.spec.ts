import { describe, expect, it } from '@jest/globals';
import { diffTrees } from './diff.js';
import { addCommit, emptyStore } from './store.js';

const author = { name: 'ann', email: 'ann@example.org', at: 1 };

function changes(before: Record<string, string>, after: Record<string, string>) {
  const store = emptyStore();
  const first = addCommit(store, [], { message: 'a', author, files: before });
  const removed = Object.keys(before).filter((path) => !(path in after));
  const second = addCommit(store, [first.sha], { message: 'b', author, files: after, removed });
  return diffTrees(store, first.files, second.files);
}

describe('sandbox/git/diff', () => {
  it('counts lines that came, went and stayed', () => {
    expect(changes({ a: '1\n2\n3\n4\n' }, { a: '1\nnew\n3\n4\n5\n' })).toEqual([
      { path: 'a', status: 'modified', additions: 2, deletions: 1 },
    ]);
  });

  it('tells new and removed files, in order of path', () => {
    expect(changes({ b: 'x\n', keep: 'k' }, { a: 'y\nz\n', keep: 'k' })).toEqual([
      { path: 'a', status: 'added', additions: 2, deletions: 0 },
      { path: 'b', status: 'removed', additions: 0, deletions: 1 },
    ]);
  });

  it('recognizes a file that only moved', () => {
    expect(changes({ 'old/a': 'x\n' }, { 'new/a': 'x\n' })).toEqual([
      { path: 'new/a', previousPath: 'old/a', status: 'renamed', additions: 0, deletions: 0 },
    ]);
  });

  it('counts no lines of a binary file', () => {
    expect(changes({ a: 'x\0y' }, { a: 'x\0z' })).toEqual([
      { path: 'a', status: 'modified', additions: 0, deletions: 0 },
    ]);
  });

  it('counts every line when a file is too long to compare', () => {
    const lines = (word: string) => Array.from({ length: 2100 }, (_, i) => `${word}${i}\n`).join('');

    expect(changes({ a: lines('x') }, { a: lines('y') })).toEqual([
      { path: 'a', status: 'modified', additions: 2100, deletions: 2100 },
    ]);
  });
});
