import { z } from 'zod';
import { type EventFact, Misfit, factKeyOf, isZeroSha } from '../event-fact.js';
import type { EventRepository } from '../../core/event.js';
import type { Json, JsonObject } from '../../core/json.js';
import { isJsonObject } from '../../core/json.js';
import { type Family, type FeedRow, repositoryShape, shaText, userShape } from '../family.js';
import { actorOf, namesOfRef, textOf, definedFields } from '../read-fields.js';
import { readPushContent, type PushContent } from '../feed-content.js';
import { isPullMirror, refFact } from './ref.js';

const pushShape = z.object({
  ref: z.string().regex(/^refs\/./),
  before: shaText,
  after: shaText,
  commits: z.array(z.object({ id: shaText }).nullable()).nullish(),
  repository: repositoryShape,
  pusher: userShape.nullish(),
  sender: userShape,
});

/** Pushes to branches and tags, test calls of a hook, and the feed's pushes (a pull mirror's included: its deliveries are plain pushes too). */
export const pushFamily: Family = {
  deliveries: { push: { owns: ['commits'], shape: pushShape, read: readPush } },
  rows: {
    commit_repo: readCommitRow,
    mirror_sync_push: readCommitRow,
    push_tag: readTagRow,
    delete_tag: readDeletedTagRow,
  },
};

function readPush(body: JsonObject, repo: EventRepository | null): EventFact | Misfit {
  if (!repo) return new Misfit('no repository');
  const ref = textOf(body.ref);
  const before = textOf(body.before);
  const after = textOf(body.after);
  const commits = body.commits === undefined ? undefined : listOfObjects(body.commits);
  const data = definedFields({
    ref,
    ...namesOfRef(ref),
    before,
    after,
    sha: isZeroSha(after) ? undefined : after,
    created: isZeroSha(before),
    deleted: isZeroSha(after),
    compare_url: body.compare_url,
    commits: Array.isArray(body.commits) ? body.commits : commits,
    total_commits: body.total_commits ?? undefined,
    head_commit: body.head_commit,
    pusher: body.pusher,
    mirror_sync: isPullMirror(body) ? true : undefined,
    ...(commits ? filesOf(commits, body.total_commits) : {}),
  });
  const common = { factAt: null, actor: actorOf(body.sender), repo, data };
  // A call from the hook's test button: the real head commit from the API, zeros on both sides from the web page.
  if (before === after)
    return { kind: 'hook.tested', factKey: factKeyOf(repo.id, 'hook.tested', ref, shaPart(after)), ...common };
  // The row of a ref that a mirror's sync created tells no commit, so the key holds none.
  const keyed = isZeroSha(before) && isPullMirror(body) ? '' : after;
  return { kind: 'push', factKey: pushKey(repo.id, ref, keyed), ...common };
}

function readCommitRow(feed: FeedRow): EventFact[] | Misfit {
  // A new branch gives two rows: one with empty content (its creation) and one with the push object.
  if (feed.content === '') return [refFact(feed, 'created')];
  return pushOfRow(feed);
}

function readTagRow(feed: FeedRow): EventFact[] | Misfit {
  const push = pushOfRow(feed);
  if (push instanceof Misfit) return push;
  return [...push, refFact(feed, 'created', textOf(push[0]?.data.after) || undefined)];
}

function readDeletedTagRow(feed: FeedRow): EventFact[] {
  const data = definedFields({
    ref: feed.refName,
    ...namesOfRef(feed.refName),
    created: false,
    deleted: true,
    ...noCommits(),
  });
  return [
    { kind: 'push', factKey: pushKey(feed.repoId, feed.refName, '0'), ...feed.common, data },
    refFact(feed, 'deleted'),
  ];
}

function pushOfRow(feed: FeedRow): EventFact[] | Misfit {
  const content = readPushContent(feed.content);
  if (!content) return new Misfit('the row of a push holds no push object');
  const ref = feed.refName;
  const deleted = content.after !== '' && isZeroSha(content.after);
  const data = definedFields({
    ref,
    ...namesOfRef(ref),
    after: content.after || undefined,
    sha: content.after === '' || deleted ? undefined : content.after,
    // The left side of the compare address is no reliable `before`: for a new branch it names the branch it came from.
    compare_url: content.compareUrl || undefined,
    ...commitsOfRow(content),
    head_commit: content.head ?? undefined,
    mirror_sync: feed.opType.startsWith('mirror_') ? true : undefined,
  });
  return [{ kind: 'push', factKey: pushKey(feed.repoId, ref, content.after), ...feed.common, data }];
}

function pushKey(repoId: string, ref: string, after: string): string {
  return factKeyOf(repoId, 'push', ref, shaPart(after));
}

/** One word for "no object", whatever the length of the server's hashes. */
function shaPart(sha: string): string {
  return isZeroSha(sha) ? '0' : sha;
}

/** A row tells no files. Where there is no commit, there is none. */
function commitsOfRow({ commits, total }: PushContent): JsonObject {
  if (total === null) return commits.length > 0 ? { commits } : {};
  return total === 0 ? noCommits() : { commits, total_commits: total };
}

function noCommits(): JsonObject {
  return { commits: [], total_commits: 0, files: { added: [], modified: [], removed: [] }, files_complete: true };
}

function listOfObjects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Unions of the commits' file lists, each in order. A path that one commit adds and another removes stands in both lists. */
export function filesIn(commits: readonly JsonObject[]): { added: string[]; modified: string[]; removed: string[] } {
  const union = (list: 'added' | 'modified' | 'removed'): string[] =>
    [...new Set(commits.flatMap((commit) => texts(commit[list])))].sort();
  return { added: union('added'), modified: union('modified'), removed: union('removed') };
}

/** They cover only the commits shown: `files_complete` says whether those are all. Lists that do not are not known to rules. */
export function filesOf(commits: readonly JsonObject[], total: Json | undefined): JsonObject {
  // A list may be null when it is empty; a commit with no list at all was never looked into by the server (test calls).
  const lookedInto = commits.every(
    (commit) => Array.isArray(commit.added) || Array.isArray(commit.modified) || Array.isArray(commit.removed),
  );
  return {
    files: filesIn(commits),
    files_complete: lookedInto && typeof total === 'number' && total <= commits.length,
  };
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
