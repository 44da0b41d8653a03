import { describe, expect, it } from '@jest/globals';
import type { GitStore } from '../entities/repository.js';
import { textOfDiff } from './diff.js';
import { applyPatch } from './patch.js';
import { blobId } from './objects.js';
import { emptyStore } from './store.js';

type Files = Readonly<Record<string, string | Buffer>>;

function treeOf(store: GitStore, files: Files): Map<string, string> {
  return new Map(
    Object.entries(files).map(([path, content]) => {
      const bytes = Buffer.from(content);
      store.blobs.set(blobId(bytes), bytes);
      return [path, blobId(bytes)];
    }),
  );
}

const LINES = 'a\nb\nc\nd\ne\nf\ng\nh\n';
const LOGO = Buffer.from([0, 1, 2, 255]);

/** The patch of `before` to `after`, applied to `onto`; null = git would refuse it. */
function moved(before: Files, after: Files, onto: Files): Files | null {
  const store = emptyStore();
  const text = textOfDiff(store, treeOf(store, before), treeOf(store, after), true);
  const patched = applyPatch(store, treeOf(store, onto), text);
  if (!patched) return null;
  const left = Object.entries({ ...onto, ...patched.files }).filter(([path]) => !patched.removed.includes(path));
  return Object.fromEntries(left.map(([path, content]) => [path, content.toString()]));
}

describe('sandbox/git/patch', () => {
  it.each<[string, Files, Files, Files, Files | null]>([
    ['a line of a text', { a: LINES }, { a: LINES.replace('e', 'E') }, { a: LINES }, { a: LINES.replace('e', 'E') }],
    [
      'a text that has other lines before',
      { a: LINES },
      { a: LINES.replace('e', 'E') },
      { a: `1\n2\n${LINES}` },
      { a: `1\n2\n${LINES.replace('e', 'E')}` },
    ],
    [
      'a text whose line is another',
      { a: LINES },
      { a: LINES.replace('e', 'E') },
      { a: LINES.replace('e', 'X') },
      null,
    ],
    [
      'a text that has it already',
      { a: LINES },
      { a: LINES.replace('e', 'E') },
      { a: LINES.replace('e', 'E') },
      { a: LINES.replace('e', 'E') },
    ],
    [
      'a text that has it already, among other changes',
      { a: LINES },
      { a: LINES.replace('e', 'E') },
      { a: `1\n${LINES.replace('e', 'E')}` },
      { a: `1\n${LINES.replace('e', 'E')}` },
    ],
    ['a text without its last newline', { a: 'x' }, { a: 'y\n' }, { a: 'x' }, { a: 'y\n' }],
    ['a new file', {}, { n: 'new\n' }, { a: 'a\n' }, { a: 'a\n', n: 'new\n' }],
    ['a new file that is there otherwise', {}, { n: 'new\n' }, { n: 'old\n' }, null],
    ['a file that goes', { a: 'a\n', b: 'b\n' }, { b: 'b\n' }, { a: 'a\n', c: 'c\n' }, { c: 'c\n' }],
    ['a file that moves', { a: 'a\n' }, { b: 'a\n' }, { a: 'a\n' }, { b: 'a\n' }],
    ['a move to a name that is taken', { a: 'a\n' }, { b: 'a\n' }, { a: 'a\n', b: 'b\n' }, null],
    ['a binary file', {}, { logo: LOGO }, {}, { logo: LOGO.toString() }],
    ['a text that is not there', { a: LINES }, { a: LINES.replace('e', 'E') }, {}, null],
  ])('%s', (_what, before, after, onto, result) => {
    expect(moved(before, after, onto)).toEqual(result);
  });

  it.each([
    ['no patch', 'hello'],
    ['nothing', ''],
    ['one that breaks off', 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n a\n-b\n'],
    [
      'a path into .git',
      'diff --git a/.git/x b/.git/x\nnew file mode 100644\n--- /dev/null\n+++ b/.git/x\n@@ -0,0 +1 @@\n+x\n',
    ],
    [
      'a path out of the tree',
      'diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n',
    ],
    [
      'a binary file without its contents',
      'diff --git a/l b/l\nnew file mode 100644\nBinary files /dev/null and b/l differ\n',
    ],
  ])('refuses %s', (_what, text) => {
    const store = emptyStore();

    expect(applyPatch(store, treeOf(store, { a: LINES }), text)).toBeUndefined();
  });
});
