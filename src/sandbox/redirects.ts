import { Refusal } from './answer.js';
import type { Call } from './handler.js';
import type { Owner, World } from './world.js';

const REASON: Record<number, string> = { 301: 'Moved Permanently', 307: 'Temporary Redirect' };

/** GET and HEAD get a small page beside the `Location`, others no body; the address is relative to the server. */
function movedTo(call: Call, status: 301 | 307, path: string): Refusal {
  const location = path + (call.rawQuery ? `?${call.rawQuery}` : '');
  const isRead = call.method === 'GET';
  const headers: Record<string, string> = {
    location,
    ...(isRead ? { 'content-type': 'text/html; charset=utf-8' } : {}),
  };
  return new Refusal(status, '', {
    body: isRead ? `<a href="${location.replaceAll('&', '&amp;')}">${REASON[status]}</a>.\n\n` : null,
    headers,
  });
}

function withSegment(path: string, from: string, to: string): string {
  return path.replace(`/${encodeURIComponent(from)}`, `/${encodeURIComponent(to)}`);
}

/** Undefined when nobody ever had that name; else the caller is sent on with 307. */
export function movedOwner(call: Call, name: string): undefined {
  const id = call.world.ownerRedirects.get(name.toLowerCase());
  if (id === undefined) return undefined;
  throw movedTo(call, 307, withSegment(call.rawPath, name, call.world.owner(id).login));
}

/** Undefined when the owner never had such a repository; else the caller is sent on with 301. */
export function movedRepository(call: Call, owner: Owner, name: string): undefined {
  const id = call.world.repoRedirects.get(redirectKey(owner.id, name));
  const repo = id === undefined ? undefined : call.world.repos.get(id);
  if (!repo) return undefined;
  const from = `/${encodeURIComponent(call.params.owner ?? '')}/${encodeURIComponent(call.params.repo ?? '')}`;
  const to = `/${encodeURIComponent(call.world.ownerOf(repo).login)}/${encodeURIComponent(repo.name)}`;
  throw movedTo(call, 301, call.rawPath.replace(from, to));
}

export function redirectKey(ownerId: bigint, name: string): string {
  return `${ownerId}/${name.toLowerCase()}`;
}

/** Somebody takes a name: redirects from it end. */
export function nameTaken(world: World, name: string): void {
  world.ownerRedirects.delete(name.toLowerCase());
}
