import { describe, expect, it } from '@jest/globals';
import { commitsBetween, lastCommitOf, mergeBaseOf } from './history.js';
import { blobId, commitId, treeId } from './objects.js';
import { clashes, isRefName } from './ref-name.js';
import { addCommit, emptyStore, resolveRef } from './store.js';

const author = { name: 'A U Thor', email: 'author@example.com', at: 1_112_911_993 };

/** a <- b <- c on main; b <- d on side. */
function aStore() {
  const store = emptyStore();
  const a = addCommit(store, [], { message: 'a', files: { 'x.txt': '1', 'docs/y.md': 'y' }, author });
  const b = addCommit(store, [a.sha], { message: 'b', files: { 'x.txt': '2' }, author });
  const c = addCommit(store, [b.sha], { message: 'c', removed: ['docs/y.md'], author });
  const d = addCommit(store, [b.sha], { message: 'd', files: { 'z.txt': '3' }, author });
  store.branches.set('main', c.sha).set('side', d.sha);
  store.tags
    .set('v1', { name: 'v1', sha: a.sha, message: '', createdAt: 0 })
    .set('side', { name: 'side', sha: a.sha, message: '', createdAt: 0 });
  return { store, a, b, c, d };
}

describe('sandbox/git', () => {
  // The ids below are what git itself makes of the same content (git hash-object, git mktree, git commit-tree).
  it('makes the ids of git', () => {
    const blob = blobId(Buffer.from('hello\n'));
    const tree = treeId(
      new Map([
        ['a.txt', blob],
        ['dir/b.txt', blob],
        ['dir.txt', blob],
      ]),
    );
    const id = commitId({ tree, parents: [], author, committer: author, message: 'first\n', files: new Map() });

    expect(blob).toBe('ce013625030ba8dba906f756967f9e9ca394464a');
    expect(treeId(new Map())).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
    expect(tree).toBe('399d6db644bfe20acc97074a2ab5a13c469c8457');
    expect(id).toBe('de0597e1d2b2e7838e0e0dddfabb5c010f4898c3');
  });

  it.each(['main', 'release/1.0', 'feature/a#b%c', '-a', 'ü-ok', '日本', 'a.b', 'a@b'])(
    'takes %s as a name',
    (name) => {
      expect(isRefName(name)).toBe(true);
    },
  );

  it.each([
    '',
    '@',
    'a b',
    'a..b',
    'a.lock',
    'a.lock/b',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a@{1}',
    'a\u0007',
  ])('refuses %j as a name', (name) => {
    expect(isRefName(name)).toBe(false);
  });

  it('knows that a name and a folder of that name cannot both be', () => {
    expect([
      clashes('release', 'release/1.0'),
      clashes('release/1.0', 'release'),
      clashes('release', 'releases'),
    ]).toEqual([true, true, false]);
  });

  it('resolves a branch before a tag of the same name, and full refs as they say', () => {
    const { store, a, d, c } = aStore();

    expect(resolveRef(store, 'side')).toMatchObject({ kind: 'branch', commit: { sha: d.sha } });
    expect(resolveRef(store, 'refs/tags/side')).toMatchObject({ kind: 'tag', commit: { sha: a.sha } });
    expect(resolveRef(store, 'v1')).toMatchObject({ kind: 'tag', name: 'v1' });
    expect(resolveRef(store, c.sha.slice(0, 8))).toMatchObject({ kind: 'commit', name: c.sha });
    expect([resolveRef(store, 'nope'), resolveRef(store, 'refs/heads/v1'), resolveRef(store, '0'.repeat(40))]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('lists what one side has and the other has not, newest first', () => {
    const { store, a, b, c, d } = aStore();
    const shas = (before: string | null, after: string) => commitsBetween(store, before, after).map(({ sha }) => sha);

    expect(shas(a.sha, c.sha)).toEqual([c.sha, b.sha]);
    expect(shas(null, b.sha)).toEqual([b.sha, a.sha]);
    expect(shas(c.sha, d.sha)).toEqual([d.sha]);
    expect(mergeBaseOf(store, c.sha, d.sha)?.sha).toBe(b.sha);
  });

  it('finds the commit that last touched a file or anything in a folder', () => {
    const { store, a, b, c } = aStore();

    expect(lastCommitOf(store, c.sha, 'x.txt')?.sha).toBe(b.sha);
    expect(lastCommitOf(store, c.sha, 'docs')?.sha).toBe(c.sha);
    expect(lastCommitOf(store, b.sha, 'docs')?.sha).toBe(a.sha);
  });
});
