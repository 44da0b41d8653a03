import type { Handler } from '../handler.js';
import { onOrganization } from '../guards.js';
import { listed } from '../paging.js';
import { canSee, isOrgMember, permissionOn } from '../permissions.js';
import { rfc3339 } from '../render/time.js';
import type { FeedRow, Organization, User, World } from '../world.js';
import { renderFeedRow } from './render-feed-row.js';

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
