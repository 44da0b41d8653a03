import { z } from 'zod';
import { type EventFact, Misfit, factKeyOf } from '../event-fact.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { EventRepository } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { type Family, type FeedRow, repositoryShape, shaText, userShape } from '../family.js';
import { actorOf, namesOfRef, objectOf, textOf, definedFields } from '../read-fields.js';

const createShape = z.object({
  ref: z.string().min(1),
  ref_type: z.enum(['branch', 'tag']),
  sha: shaText,
  pusher_type: z.null().optional(),
  repository: repositoryShape,
  sender: userShape,
});

const deleteShape = z.object({
  ref: z.string().min(1),
  ref_type: z.enum(['branch', 'tag']),
  sha: z.null().optional(),
  pusher_type: z.string(),
  repository: repositoryShape,
  sender: userShape,
});

/** Branches and tags that appear or go. A pull mirror's rows tell the same as the deliveries of its sync. */
export const refFamily: Family = {
  deliveries: {
    create: { owns: ['ref_type'], shape: createShape, read: (body, repo) => readRef(body, repo, 'created') },
    delete: { owns: ['ref_type'], shape: deleteShape, read: (body, repo) => readRef(body, repo, 'deleted') },
  },
  rows: {
    delete_branch: (feed) => [refFact(feed, 'deleted')],
    mirror_sync_create: (feed) => [refFact(feed, 'created')],
    mirror_sync_delete: (feed) => [refFact(feed, 'deleted')],
  },
};

const KINDS = {
  branch: { created: 'branch.created', deleted: 'branch.deleted' },
  tag: { created: 'tag.created', deleted: 'tag.deleted' },
} as const satisfies Record<string, Record<string, EventKind>>;

type RefChange = 'created' | 'deleted';

/** The fact in a feed row about a branch or tag. A branch's row does not tell the commit. */
export function refFact(feed: FeedRow, change: RefChange, sha?: string): EventFact {
  const { branch, tag } = namesOfRef(feed.refName);
  const type = tag === undefined ? 'branch' : 'tag';
  const data = dataOf(type, tag ?? branch ?? feed.refName, sha);
  if (feed.opType.startsWith('mirror_')) data.mirror_sync = true;
  return {
    kind: KINDS[type][change],
    factKey: keyOf(feed.repoId, type, change, tag ?? branch ?? feed.refName, sha),
    ...feed.common,
    data,
  };
}

function readRef(body: JsonObject, repo: EventRepository | null, change: RefChange): EventFact | Misfit {
  if (!repo) return new Misfit('no repository');
  const type = body.ref_type === 'tag' ? 'tag' : 'branch';
  // Gitea sends the short name, Forgejo the full ref.
  const full = textOf(body.ref);
  const prefix = type === 'tag' ? 'refs/tags/' : 'refs/heads/';
  const name = full.startsWith(prefix) ? full.slice(prefix.length) : full;
  const sha = change === 'created' ? textOf(body.sha) : undefined;
  return {
    kind: KINDS[type][change],
    factKey: keyOf(repo.id, type, change, name, isPullMirror(body) ? undefined : sha),
    factAt: null,
    actor: actorOf(body.sender),
    repo,
    data: { ...dataOf(type, name, sha), ...(isPullMirror(body) ? { mirror_sync: true } : {}) },
  };
}

/** Nobody but its sync writes to a pull mirror, and the rows of a sync do not tell the commit of a new ref. */
export function isPullMirror(body: JsonObject): boolean {
  return objectOf(body.repository)?.mirror === true;
}

/** Only a created tag's commit is told by both sources, so only there it stands in the key; not of a tag that a mirror's sync created. */
function keyOf(
  repoId: string,
  type: 'branch' | 'tag',
  change: RefChange,
  name: string,
  sha: string | undefined,
): string {
  const parts = type === 'tag' && change === 'created' ? [name, sha ?? ''] : [name];
  return factKeyOf(repoId, KINDS[type][change], ...parts);
}

function dataOf(type: 'branch' | 'tag', name: string, sha: string | undefined): JsonObject {
  return definedFields({
    ref: type === 'tag' ? `refs/tags/${name}` : `refs/heads/${name}`,
    ref_type: type,
    [type]: name,
    sha,
  });
}
