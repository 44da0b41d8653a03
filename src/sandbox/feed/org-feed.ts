import type { activity as apiActivity } from '../../core/objects/feed.js';
import { onOrganization } from '../guards.js';
import { shownTime, type View, type Shown } from '../render/view.js';
import type { Handler } from '../handler.js';
import { listed } from '../paging.js';
import type { Attachment } from '../parts.js';
import { canSee, isOrgMember, permissionOn } from '../permissions.js';
import { rfc3339 } from '../render/time.js';
import { renderComment } from '../resources/comment.js';
import { renderRepository } from '../resources/repository.js';
import type { FeedStyle } from '../telling-style.js';
import type { Organization, Told, User, World } from '../world.js';
import { rowsOf } from './feed-rows.js';
import type { FeedRow } from '../entities/repository.js';
import { renderUser } from '../resources/owner-view.js';

/**
 * Rows of one act go to several feeds on a real server (the actor's, the watchers'), so an organization's ids have gaps;
 * so many ids are left out before each row.
 */
const GAP = 3;

/** Writes the feed of every organization from now on, by the acts that the world tells. */
function keepFeed(world: World, style: FeedStyle): void {
  world.listen((happening) => {
    if (happening.kind === 'issue.deleted') dropRowsOfIssue(world, happening.repo.id, happening.issue.number);
    else addRows(world, happening, style);
  });
}

function addRows(world: World, happening: Told, style: FeedStyle): void {
  if (!('repo' in happening)) return;
  const receiver = world.ownerOf(happening.repo);
  if (receiver.kind !== 'organization') return;
  for (const text of rowsOf(world, happening, style)) {
    world.skipIds('feed', GAP);
    world.feed.push({
      ...text,
      id: world.nextId('feed'),
      receiverId: receiver.id,
      actorId: happening.by.id,
      repoId: happening.repo.id,
      isPrivate: happening.repo.private,
      created: happening.at,
    });
  }
}

/** An issue that is deleted takes its rows with it: those of its comments and the one of its opening. */
function dropRowsOfIssue(world: World, repoId: bigint, number: number): void {
  const mine = (row: FeedRow): boolean => row.repoId === repoId && numberOf(row) === number;
  const others = world.feed.filter((row) => !mine(row));
  world.feed.splice(0, world.feed.length, ...others);
}

/** Number of the issue or pull request that a row is about, in either form of its content. */
function numberOf(row: FeedRow): number | null {
  const match = /^(?:\["(\d+)"|(\d+)\|)/.exec(row.content);
  return match && /issue|pull/.test(row.opType) ? Number(match[1] ?? match[2]) : null;
}

export const attachFeed: Attachment = ({ world, profile }) => {
  keepFeed(world, profile.telling.feed);
  return undefined;
};

/** A row with the actor and the repository as they are now; the comment as long as it is there, without its user. */
function renderFeedRow(view: View, row: FeedRow): Shown<typeof apiActivity> {
  const { world } = view;
  const actor = world.owners.get(row.actorId);
  const repo = world.repos.get(row.repoId);
  const comment = world.comments.get(row.commentId);
  return {
    id: row.id,
    user_id: row.receiverId,
    op_type: row.opType,
    act_user_id: row.actorId,
    act_user: actor ? renderUser(view, actor) : null,
    repo_id: row.repoId,
    repo: repo ? renderRepository(view, repo) : null,
    comment_id: row.commentId,
    comment: comment ? renderComment(view, comment, { withUser: false }) : null,
    ref_name: row.refName,
    is_private: row.isPrivate,
    content: row.content,
    created: shownTime(view, row.created),
  };
}

/** Op 8: newest first, filtered for the caller; no login needed, no `Link`. */
const listOrgFeed: Handler = onOrganization('visible', (call) => {
  const { world, caller, org, query, view } = call;
  const day = readDay(query.get('date'));
  const rows = rowsFor(world, org, caller.user)
    .filter((row) => day === null || rfc3339(row.created, world.timeZone).startsWith(day))
    .sort((a, b) => b.created - a.created || (b.id > a.id ? 1 : -1));
  return listed(call, rows, (row) => renderFeedRow(view, row));
});

export const feedHandlers = { listOrgFeed };

/** `YYYY-MM-DD` of a day that exists; anything else is ignored, as the real servers do. */
function readDay(text: string | null): string | null {
  if (text === null || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) ? text : null;
}

/**
 * The rows a caller may see. Site admins see all; others no rows of people who hide their activity, of the workflow token and of
 * people who are gone, and private ones only as members who can read the repository.
 */
function rowsFor(world: World, org: Organization, caller: User | null): FeedRow[] {
  const rows = world.feed.filter((row) => row.receiverId === org.id && world.repos.has(row.repoId));
  if (caller?.isAdmin) return rows;
  const isMember = isOrgMember(world, caller, org);
  return rows.filter((row) => isActorShown(world, row, caller) && isRepoShown(world, row, caller, isMember));
}

function isActorShown(world: World, row: FeedRow, caller: User | null): boolean {
  const actor = world.owners.get(row.actorId);
  if (actor?.kind !== 'user') return false;
  return actor.id === caller?.id || (!actor.hideActivity && actor.visibility !== 'private');
}

function isRepoShown(world: World, row: FeedRow, caller: User | null, isMember: boolean): boolean {
  if (row.isPrivate && !isMember) return false;
  return canSee(permissionOn(world, caller, world.repo(row.repoId)));
}
