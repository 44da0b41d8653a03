import type { FeedRow, Told, World } from '../world.js';
import type { FeedStyle } from '../telling-style.js';
import { rowsOf } from './feed-rows.js';

/**
 * Rows of one act go to several feeds on a real server (the actor's, the watchers'), so an organization's ids have gaps;
 * so many ids are left out before each row.
 */
const GAP = 3;

/** Writes the feed of every organization from now on, by the acts that the world tells. */
export function keepFeed(world: World, style: FeedStyle): void {
  world.listen((told) => {
    if (told.kind === 'issue.deleted') dropRowsOfIssue(world, told.repo.id, told.issue.number);
    else addRows(world, told, style);
  });
}

function addRows(world: World, told: Told, style: FeedStyle): void {
  if (!('repo' in told)) return;
  const receiver = world.ownerOf(told.repo);
  if (receiver.kind !== 'organization') return;
  for (const text of rowsOf(world, told, style)) {
    world.skipIds('feed', GAP);
    world.feed.push({
      ...text,
      id: world.nextId('feed'),
      receiverId: receiver.id,
      actorId: told.by.id,
      repoId: told.repo.id,
      isPrivate: told.repo.private,
      created: told.at,
    });
  }
}

/** An issue that is deleted takes its rows with it: those of its comments and the one of its opening. */
function dropRowsOfIssue(world: World, repoId: bigint, number: number): void {
  const mine = (row: FeedRow): boolean => row.repoId === repoId && numberOf(row) === number;
  const kept = world.feed.filter((row) => !mine(row));
  world.feed.splice(0, world.feed.length, ...kept);
}

/** Number of the issue or pull request that a row is about, in either form of its content. */
function numberOf(row: FeedRow): number | null {
  const match = /^(?:\["(\d+)"|(\d+)\|)/.exec(row.content);
  return match && /issue|pull/.test(row.opType) ? Number(match[1] ?? match[2]) : null;
}
