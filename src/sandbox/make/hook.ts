import { storedEventNames } from '../deliveries/hook-events.js';
import type { TellingStyle } from '../telling-style.js';
import type { Hook, Id, World } from '../world.js';

/** Types that a hook may have: the forge's own, then chat services. */
export const HOOK_TYPES: Record<'gitea' | 'forgejo', readonly string[]> = {
  gitea: ['gitea', 'gogs', 'slack', 'discord', 'dingtalk', 'telegram', 'msteams', 'feishu', 'matrix', 'wechatwork', 'packagist'],
  forgejo: [
    'forgejo',
    'gitea',
    'gogs',
    'slack',
    'discord',
    'dingtalk',
    'telegram',
    'msteams',
    'feishu',
    'matrix',
    'wechatwork',
    'packagist',
    'sourcehut_builds',
  ],
};

/** Keys of `config` that a chat type keeps and shows. */
const CHAT_KEYS: Record<string, readonly string[]> = { slack: ['channel', 'username', 'icon_url', 'color'] };

export interface HookWish {
  orgId?: Id;
  repoId?: Id;
  type: string;
  name?: string | undefined;
  /** `url`, `content_type`, `secret` and the keys of chat types. */
  config: Readonly<Record<string, string>>;
  /** None = push. */
  events?: readonly string[] | undefined;
  isActive?: boolean | undefined;
  branchFilter?: string | undefined;
  authorizationHeader?: string | undefined;
}

export function makeHook(world: World, server: TellingStyle, wish: HookWish): Hook {
  const { config } = wish;
  const hook: Hook = {
    id: world.nextId('hook'),
    orgId: wish.orgId ?? null,
    repoId: wish.repoId ?? null,
    type: wish.type,
    name: wish.name ?? '',
    url: config.url ?? '',
    contentType: config.content_type === 'form' ? 'form' : 'json',
    secret: config.secret ?? '',
    events: eventsOf(wish.events, server),
    isActive: wish.isActive ?? false,
    branchFilter: wish.branchFilter ?? '',
    authorizationHeader: wish.authorizationHeader ?? '',
    extraConfig: Object.fromEntries((CHAT_KEYS[wish.type] ?? []).map((key) => [key, config[key] ?? ''])),
    createdAt: world.now(),
    updatedAt: world.now(),
  };
  world.hooks.set(hook.id, hook);
  world.changed('hook', hook.id, 'created');
  return hook;
}

/** Stored names; nothing named means pushes. Unknown names are dropped, even if none is left. */
export function eventsOf(names: readonly string[] | undefined, server: TellingStyle): string[] {
  return storedEventNames(names === undefined || names.length === 0 ? ['push'] : names, server);
}
