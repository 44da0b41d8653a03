import { posix } from 'node:path';
import { lastCommitOf } from '../git/history.js';
import { treeId } from '../git/objects.js';
import type { ResolvedRef } from '../git/store.js';
import type { Repository } from '../world.js';
import { commitTime } from './branch.js';
import { repoApiUrl, repoWebUrl } from './repository.js';
import { shaped } from './shape.js';
import type { View } from './view.js';

/** A blob above this has no content in answers. */
export const MAX_BLOB_BYTES = 10 * 1024 * 1024;
/** Base64 of several files together. */
export const MAX_RESPONSE_BYTES = 100 * 1024 * 1024;

function escaped(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** A path below the root without `.`; undefined when it leaves the root. */
export function cleanPath(path: string): string | undefined {
  const clean = posix.normalize(path.replace(/^\/+/, '')).replace(/\/$/, '');
  if (clean === '..' || clean.startsWith('../')) return undefined;
  return clean === '.' ? '' : clean;
}

/**
 * One entry (file or folder) of a repository at a ref; undefined when there is none.
 * @param withContent files only; too large ones have none in any case
 */
export function renderContents(view: View, repo: Repository, ref: ResolvedRef, path: string, withContent: boolean): { content: string | null } | undefined {
  const { files } = ref.commit;
  const blobId = files.get(path);
  const isFolder = blobId === undefined && [...files.keys()].some((name) => name.startsWith(`${path}/`));
  if (blobId === undefined && !isFolder) return undefined;
  const blob = blobId === undefined ? undefined : repo.git.blobs.get(blobId);
  const isShown = withContent && blob !== undefined && blob.length <= MAX_BLOB_BYTES;
  const sha = blobId ?? treeId(files, path);
  const last = lastCommitOf(repo.git, ref.commit.sha, path) ?? ref.commit;
  const self = `${repoApiUrl(view, repo, `/contents/${escaped(path)}`)}?ref=${encodeURIComponent(ref.name)}`;
  const html = repoWebUrl(view, repo, `/src/${ref.kind}/${escaped(ref.name)}/${escaped(path)}`);
  const git = repoApiUrl(view, repo, `/git/blobs/${sha}`);
  return shaped(view, 'contents', {
    name: posix.basename(path),
    path,
    sha,
    last_commit_sha: last.sha,
    last_committer_date: commitTime(last.committer),
    last_author_date: commitTime(last.author),
    last_commit_when: commitTime(last.committer),
    type: isFolder ? 'dir' : 'file',
    size: blob?.length ?? 0,
    encoding: isShown ? 'base64' : null,
    content: isShown ? blob.toString('base64') : null,
    target: null,
    url: self,
    html_url: html,
    git_url: git,
    download_url: isFolder ? null : repoWebUrl(view, repo, `/raw/${ref.kind}/${escaped(ref.name)}/${escaped(path)}`),
    submodule_git_url: null,
    _links: { self, git, html },
  }) as { content: string | null };
}
