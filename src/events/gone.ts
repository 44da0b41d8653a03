import type { ForgeEvent } from '../core/event.js';
import { factKeyOf } from './event-fact.js';
import { idOf, objectOf } from './read-fields.js';

/**
 * Fact keys of the events that tell that the object of an event is gone: the comment, the issue or pull request, the release. Their numbers are given once; the name of a
 * branch or tag may come again, and is left out. Pure.
 */
export function deletionsOf({ kind, repo, data }: Pick<ForgeEvent, 'kind' | 'repo' | 'data'>): string[] {
  if (!repo) return [];
  const [number, comment, release] = [data.number, objectOf(data.comment)?.id, objectOf(data.release)?.id].map(idOf);
  return [
    ...(number
      ? [factKeyOf(repo.id, 'issue.deleted', number), factKeyOf(repo.id, 'pull_request.deleted', number)]
      : []),
    ...(comment && kind.startsWith('comment.') ? [factKeyOf(repo.id, 'comment.deleted', comment)] : []),
    ...(release && kind.startsWith('release.') ? [factKeyOf(repo.id, 'release.deleted', release)] : []),
  ];
}
