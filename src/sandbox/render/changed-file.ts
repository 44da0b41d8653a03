import type { FileChange } from '../git/diff.js';
import type { Repository } from '../world.js';
import { repoApiUrl, repoWebUrl } from './repository.js';
import type { View } from './view.js';

const WORDS: Record<FileChange['status'], string> = { added: 'added', removed: 'deleted', modified: 'changed', renamed: 'renamed' };

/** A file that a pull request changes, as it is at the head. */
export function renderChangedFile(view: View, repo: Repository, sha: string, change: FileChange): object {
  const path = change.path.split('/').map(encodeURIComponent).join('/');
  return {
    filename: change.path,
    ...(change.previousPath === undefined ? {} : { previous_filename: change.previousPath }),
    status: WORDS[change.status],
    additions: change.additions,
    deletions: change.deletions,
    changes: change.additions + change.deletions,
    html_url: repoWebUrl(view, repo, `/src/commit/${sha}/${path}`),
    contents_url: repoApiUrl(view, repo, `/contents/${path}?ref=${sha}`),
    raw_url: repoWebUrl(view, repo, `/raw/commit/${sha}/${path}`),
  };
}
