import { tagId } from '../git/objects.js';
import type { Repository, Tag } from '../world.js';
import { commitTime } from './branch.js';
import { repoApiUrl, repoWebUrl } from './repository.js';
import { shaped } from './shape.js';
import type { View } from './view.js';
import { NEVER } from './view.js';

/** An annotated tag has an id and a message of its own, which its commit's address uses too; a light one has those of its commit. */
export function renderTag(view: View, repo: Repository, tag: Tag): object {
  const commit = repo.git.commits.get(tag.sha);
  const isLight = tag.message === '' || !commit;
  const id = isLight ? tag.sha : tagId(tag, { ...commit.committer, at: tag.createdAt });
  const message = (isLight ? (commit?.message ?? '') : tag.message).trimEnd();
  const name = tag.name.split('/').map(encodeURIComponent).join('/');
  return shaped(view, 'tag', {
    name: tag.name,
    message: view.profile.repositories.tagMessage === 'with its last newline' ? `${message}\n` : message,
    id,
    commit: { url: repoApiUrl(view, repo, `/git/commits/${id}`), sha: tag.sha, created: commit ? commitTime(commit.committer) : NEVER },
    zipball_url: repoWebUrl(view, repo, `/archive/${name}.zip`),
    tarball_url: repoWebUrl(view, repo, `/archive/${name}.tar.gz`),
    archive_download_count: { zip: 0, tar_gz: 0 },
  });
}
