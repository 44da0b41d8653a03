import { describe, expect, it } from '@jest/globals';
import { diffTrees, textOfDiff } from './diff.js';
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

  // What `git diff` writes of the same two trees.
  it('writes the change of each file as git does', () => {
    const store = emptyStore();
    const files = { far: '1\n2\n3\n4\n5\n6\n7\n8\n9\n', gone: 'x\n', last: 'a', old: 'm\n', pic: 'x\0y' };
    const first = addCommit(store, [], { message: 'a', author, files });
    const second = addCommit(store, [first.sha], {
      message: 'b',
      author,
      files: { far: '1\n2\n3\n4\nfive\n6\n7\n8\n9\n', last: 'b\n', new: 'y\nz\n', now: 'm\n', pic: 'x\0z' },
      removed: ['gone', 'old'],
    });

    expect(textOfDiff(store, first.files, second.files).split('\n')).toEqual([
      'diff --git a/far b/far',
      'index 0719398..4c5701d 100644',
      '--- a/far',
      '+++ b/far',
      '@@ -2,7 +2,7 @@',
      ' 2',
      ' 3',
      ' 4',
      '-5',
      '+five',
      ' 6',
      ' 7',
      ' 8',
      'diff --git a/gone b/gone',
      'deleted file mode 100644',
      'index 587be6b..0000000',
      '--- a/gone',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      'diff --git a/last b/last',
      'index 2e65efe..6178079 100644',
      '--- a/last',
      '+++ b/last',
      '@@ -1 +1 @@',
      '-a',
      '\\ No newline at end of file',
      '+b',
      'diff --git a/new b/new',
      'new file mode 100644',
      'index 0000000..2795c87',
      '--- /dev/null',
      '+++ b/new',
      '@@ -0,0 +1,2 @@',
      '+y',
      '+z',
      'diff --git a/old b/now',
      'similarity index 100%',
      'rename from old',
      'rename to now',
      'diff --git a/pic b/pic',
      'index d5d0b8b..4a27031 100644',
      'Binary files a/pic and b/pic differ',
      '',
    ]);
  });
});
