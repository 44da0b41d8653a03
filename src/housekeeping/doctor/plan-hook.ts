import { z } from 'zod';
import { fields, maybeText, text, type Shape } from '../../core/schema.js';
import type { Secret } from '../../core/secret.js';
import type { Hook } from '../../core/objects/repositories.js';
import { eventsToKeep, missingEvents } from '../../rules/language/hook-events.js';
import { addressOf, contentTypeOf, letsAllThrough, ownHooks, type WantedHook } from './examine-hook.js';
import { hidesAuthorization, type ServerKind } from './versions.js';

/** A hook as it should be, with what is never shown. */
export interface HookWish extends WantedHook {
  readonly url: string;
  readonly secret: Secret | null;
  readonly authorization: Secret | null;
}

export interface HookOrders {
  /** Number of the webhook to repair, if none points exactly at our address. */
  readonly hook?: string | undefined;
  /** Make a new webhook, even if there is one that may belong to another bot. */
  readonly isNew?: boolean | undefined;
  /** Replace our webhook: the only way to change its secret. */
  readonly recreate?: boolean | undefined;
  /** Its branch filter stays. */
  readonly keepFilter?: boolean | undefined;
  /** The webhook has no Authorization header, though this server does not show that. */
  readonly withoutAuthorization?: boolean | undefined;
}

export const hookChange = z.object({
  ...fields('field after', text),
  /** Null where there is none, or it is not shown. */
  before: maybeText,
});
type HookChange = Shape<typeof hookChange>;

/** Body of a call that makes or changes a webhook. */
interface HookBody {
  readonly config: Readonly<Record<string, string | Secret>>;
  readonly active: true;
  readonly events: string[];
  readonly branch_filter: string;
  readonly authorization_header?: string | Secret;
}

export type HookPlan =
  | { readonly does: 'nothing'; readonly hook: string }
  | { readonly does: 'create'; readonly changes: readonly HookChange[]; readonly body: HookBody }
  | {
      readonly does: 'repair' | 'replace';
      readonly hook: string;
      readonly changes: readonly HookChange[];
      readonly body: HookBody;
    }
  | { readonly does: 'refused'; readonly why: string; readonly fix: readonly string[] };

const SET = '(set)';

/** Plans how to create or repair the organization's webhook. Pure. Correct settings stay, and so does every event that somebody added. */
export function planHook(
  hooks: readonly Hook[],
  wish: HookWish,
  server: ServerKind,
  orders: HookOrders = {},
): HookPlan {
  const choice = choose(hooks, wish, orders);
  if ('why' in choice) return { does: 'refused', ...choice };
  const { hook } = choice;
  if (!hook || orders.isNew) return { does: 'create', changes: created(wish), body: newBody(wish, []) };
  const id = hook.id ?? '';
  if (orders.recreate)
    return {
      does: 'replace',
      hook: id,
      changes: [...changesOf(hook, wish, server, orders), ...secretChange(wish)],
      body: newBody(wish, hook.events ?? [], hook),
    };
  const changes = changesOf(hook, wish, server, orders);
  if (changes.length === 0) return { does: 'nothing', hook: id };
  const authorization = authorizationOf(hook, wish, server, orders);
  if (authorization === null) return unknowable(id);
  const body = {
    config: { url: wish.url, content_type: 'json' },
    active: true,
    events: eventsOf(wish, hook.events ?? []),
    branch_filter: filterOf(hook, orders),
    authorization_header: authorization,
  } as const;
  return { does: 'repair', hook: id, changes, body };
}

/** A webhook exactly at our address is ours. One that shares only our path may belong to another bot: it is used only if a person names it. */
function choose(
  hooks: readonly Hook[],
  wish: HookWish,
  { hook: named, isNew }: HookOrders,
): { hook: Hook | null } | { why: string; fix: string[] } {
  if (named !== undefined) {
    const hook = hooks.find(({ id }) => id === named);
    return hook
      ? { hook }
      : {
          why: `the organization has no webhook ${named}`,
          fix: [`it has ${hooks.map(({ id }) => id ?? '').join(', ') || 'none'}`],
        };
  }
  const ours = ownHooks(hooks, wish);
  const [exact] = ours
    .filter((hook) => addressOf(hook) === wish.url)
    .sort((a, b) => Number(b.active === true) - Number(a.active === true));
  const [other] = ours;
  if (exact || !other || isNew) return { hook: exact ?? null };
  return {
    why: `webhook ${other.id ?? ''} sends to ${addressOf(other)}, which may be another bot`,
    fix: [`to point it at ${wish.url}: --hook ${other.id ?? ''}`, 'to leave it alone and add one: --new'],
  };
}

function changesOf(hook: Hook, wish: HookWish, server: ServerKind, { keepFilter }: HookOrders): HookChange[] {
  const lacks = missingEvents(wish.events, hook.events ?? []);
  const changes: Array<HookChange | false> = [
    addressOf(hook) !== wish.url && { field: 'url', before: addressOf(hook), after: wish.url },
    hook.active !== true && { field: 'active', before: 'false', after: 'true' },
    contentTypeOf(hook) !== 'json' && { field: 'content_type', before: contentTypeOf(hook), after: 'json' },
    lacks.length > 0 && {
      field: 'events',
      before: [...(hook.events ?? [])].sort().join(', '),
      after: `and ${lacks.join(', ')}`,
    },
    !keepFilter &&
      !letsAllThrough(hook.branch_filter) && { field: 'branch_filter', before: hook.branch_filter ?? '', after: '*' },
    hasOtherAuthorization(hook, wish, server) && { field: 'authorization_header', before: null, after: SET },
  ];
  return changes.filter((change) => change !== false);
}

function hasOtherAuthorization(hook: Hook, { authorizations }: HookWish, server: ServerKind): boolean {
  return (
    authorizations.length > 0 &&
    !hidesAuthorization(server) &&
    !authorizations.includes(hook.authorization_header?.reveal() ?? '')
  );
}

/** On most servers, an edit without the header clears it, so every edit sends it. Null = the value cannot be known. */
function authorizationOf(
  hook: Hook,
  wish: HookWish,
  server: ServerKind,
  { withoutAuthorization }: HookOrders,
): string | Secret | null {
  const header = hook.authorization_header;
  if (header && header.reveal() !== '' && !hasOtherAuthorization(hook, wish, server)) return header;
  if (wish.authorization) return wish.authorization;
  return !hidesAuthorization(server) || withoutAuthorization === true ? '' : null;
}

function unknowable(id: string): HookPlan {
  return {
    does: 'refused',
    why: `this server does not show the Authorization header of webhook ${id}, and clears it with every change`,
    fix: [
      'if it has one (a proxy before the bot asks for it): name it in the config, orgs[].hooks[].authorization',
      'if it has none: --without-authorization',
    ],
  };
}

/** Events that are subscribed already stay: somebody may need them. */
function eventsOf(wish: HookWish, present: readonly string[]): string[] {
  return [...new Set([...eventsToKeep(present), ...eventsToKeep(missingEvents(wish.events, present))])].sort();
}

function filterOf(hook: Hook, { keepFilter }: HookOrders): string {
  return keepFilter || letsAllThrough(hook.branch_filter) ? (hook.branch_filter ?? '') : '*';
}

function newBody(wish: HookWish, present: readonly string[], old?: Hook): HookBody {
  const authorization = wish.authorization ?? old?.authorization_header ?? null;
  const events = eventsOf(wish, present);
  return {
    config: { url: wish.url, content_type: 'json', ...(wish.secret ? { secret: wish.secret } : {}) },
    active: true,
    // Without any name a server takes pushes.
    events: events.length > 0 ? events : ['push'],
    branch_filter: '*',
    ...(authorization ? { authorization_header: authorization } : {}),
  };
}

function created(wish: HookWish): HookChange[] {
  const { config, events } = newBody(wish, []);
  return [
    { field: 'url', before: null, after: String(config['url']) },
    { field: 'active', before: null, after: 'true' },
    { field: 'content_type', before: null, after: 'json' },
    { field: 'events', before: null, after: events.join(', ') },
    { field: 'branch_filter', before: null, after: '*' },
    ...secretChange(wish),
    ...(wish.authorization ? [{ field: 'authorization_header', before: null, after: SET }] : []),
  ];
}

function secretChange({ secret }: HookWish): HookChange[] {
  return secret ? [{ field: 'secret', before: null, after: SET }] : [];
}
