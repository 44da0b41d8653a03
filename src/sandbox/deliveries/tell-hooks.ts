import type { Attachment, SandboxParts } from '../parts.js';
import type { Hook, Owner, Repository, Told, User, World } from '../world.js';
import { passesBranchFilter } from './branch-filter.js';
import type { DeliveryQueue, DeliveryRecord, QueuedHook } from './delivery-queue.js';
import { writeGoJson } from './go-json.js';
import { hookEventOf, storedNameOf } from './hook-events.js';
import { type Payload, PayloadContext } from './payloads/context.js';
import { payloadsOf } from './payloads/payloads-of.js';
import { testPayload } from './payloads/refs.js';

/** Types of hooks that get the forge's own bodies; chat types are stored, but nothing is sent to them. */
const OWN_TYPES: ReadonlySet<string> = new Set(['gitea', 'forgejo', 'gogs']);

/** From now on, every act goes to the hooks that are subscribed to it: of the repository first, then of its owner, then of the server. */
function tellHooks(parts: Pick<SandboxParts, 'world' | 'profile'>, queue: DeliveryQueue): void {
  parts.world.listen((happening) => {
    const place = placeOf(parts.world, happening);
    if (place === null || parts.world.hooks.size === 0) return;
    const context = new PayloadContext(parts.world, parts.profile, happening.by);
    for (const payload of payloadsOf(context, happening)) tell(parts, queue, payload, place);
  });
}

interface Place {
  readonly repo: Repository | null;
  readonly owner: Owner;
}

function placeOf(world: World, happening: Told): Place | null {
  if ('repo' in happening) return { repo: happening.repo, owner: world.ownerOf(happening.repo) };
  if ('package' in happening)
    return {
      repo: happening.package.repoId === null ? null : (world.repos.get(happening.package.repoId) ?? null),
      owner: world.owner(happening.package.ownerId),
    };
  return null;
}

function tell(
  parts: Pick<SandboxParts, 'world' | 'profile'>,
  queue: DeliveryQueue,
  payload: Payload,
  place: Place,
): void {
  const { world, profile } = parts;
  const style = profile.telling;
  if (style.silent.has(payload.type)) return;
  const event = hookEventOf(payload.type);
  const name = storedNameOf(payload.type, style);
  const passes = (hook: Hook): boolean =>
    event.filtered === undefined ||
    payload.ref === undefined ||
    passesBranchFilter(hook.branchFilter, payload.ref, style.branchFilter);
  const hooks = hooksAt(world, placeOfPayload(world, payload, place)).filter(
    (hook) => hook.events.includes(name) && passes(hook),
  );
  for (const hook of hooks) send(queue, hook, payload);
}

function placeOfPayload(world: World, payload: Payload, place: Place): Place {
  const repo = payload.repo ?? place.repo;
  const owner = repo ? world.ownerOf(repo) : place.owner;
  return payload.reach === 'owner' ? { repo: null, owner } : { repo, owner };
}

function hooksAt(world: World, { repo, owner }: Place): Hook[] {
  const active = [...world.hooks.values()].filter((hook) => hook.isActive && OWN_TYPES.has(hook.type));
  return [
    ...active.filter((hook) => repo !== null && hook.repoId === repo.id),
    ...active.filter((hook) => hook.repoId === null && hook.orgId === owner.id),
    ...active.filter((hook) => hook.repoId === null && hook.orgId === null),
  ];
}

/** The hook's test call: one push to this hook alone, whatever it is subscribed to; null for an empty repository. */
export function sendTest(
  parts: Pick<SandboxParts, 'world' | 'profile'>,
  queue: DeliveryQueue,
  hook: Hook,
  repo: Repository,
  by: User,
): DeliveryRecord | null {
  const payload = testPayload(new PayloadContext(parts.world, parts.profile, by), repo);
  return payload && send(queue, hook, payload);
}

function send(queue: DeliveryQueue, hook: Hook, payload: Payload): DeliveryRecord {
  const json = writeGoJson(payload.body, hookEventOf(payload.type).indent ?? 2);
  const action = (payload.body as { action?: unknown }).action;
  return queue.send(queuedHook(hook), { type: payload.type, json, action: typeof action === 'string' ? action : null });
}

function queuedHook(hook: Hook): QueuedHook {
  const { url, contentType, secret, authorizationHeader } = hook;
  const targetType = hook.repoId !== null ? 'repository' : hook.orgId !== null ? 'organization' : 'system';
  return { id: String(hook.id), url, contentType, secret, authorizationHeader, targetType };
}

export const attachDeliveries: Attachment = (parts) => {
  tellHooks(parts, parts.deliveries);
  return { close: () => parts.deliveries.close() };
};
