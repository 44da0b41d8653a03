import { z } from 'zod';
import { type EventFact, Misfit, factKeyOf } from '../event-fact.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type Family, type FeedRow, idLike, repositoryShape, userShape } from '../family.js';
import { actorOf, firstTime, idOf, objectOf, textOf, definedFields } from '../read-fields.js';
import { tableOf } from '../../core/table.js';

const releaseShape = z.object({
  action: z.string().min(1),
  release: z.object({ id: idLike, tag_name: z.string().min(1) }),
  repository: repositoryShape,
  sender: userShape,
});

const KIND_OF: Readonly<Record<string, EventKind>> = tableOf({
  published: 'release.published',
  updated: 'release.updated',
  deleted: 'release.deleted',
});

/** Releases. A draft whose tag exists is published with the word `updated` (webhooks.md 4.7): rules look at `release.draft`. */
export const releaseFamily: Family = {
  deliveries: { release: { owns: ['release'], shape: releaseShape, actions: Object.keys(KIND_OF), read: readRelease } },
  rows: { publish_release: readRow },
};

function readRelease(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  const release = objectOf(body.release);
  const kind = KIND_OF[textOf(body.action)];
  if (!repo || !release || !kind) return new Misfit('no release event');
  const tag = textOf(release.tag_name);
  return {
    // The feed knows a published release by its tag alone.
    kind,
    factKey: factKeyOf(repo.id, kind, kind === 'release.published' ? tag : idOf(release.id)),
    factAt: kind === 'release.published' ? firstTime(release.published_at, release.created_at) : null,
    actor: actorOf(body.sender),
    repo,
    data: definedFields({ action: body.action, tag, release }),
  };
}

/** Content is the title as it stands; `ref_name` is the full ref in Gitea and the bare tag in Forgejo. */
function readRow(feed: FeedRow): EventFact[] | Misfit {
  const tag = feed.refName.startsWith('refs/tags/') ? feed.refName.slice('refs/tags/'.length) : feed.refName;
  if (tag === '') return new Misfit('the row of a release holds no tag');
  return [
    {
      kind: 'release.published',
      factKey: factKeyOf(feed.repoId, 'release.published', tag),
      ...feed.common,
      data: { action: 'published', tag, release: { tag_name: tag, name: feed.content, draft: false } },
    },
  ];
}
