import type { hook as apiHook } from '../../core/objects/repositories.js';
import type { JsonObject } from '../../core/json.js';
import { created, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import { storedEventNames } from '../deliveries/hook-events.js';
import { onOrganization, type OrgCall, readId } from '../guards.js';
import { shaped, shownTime, type View, type Shown } from '../render/view.js';
import { listed } from '../paging.js';
import type { Handlers } from '../handler.js';
import type { TellingStyle } from '../telling-style.js';
import type { Id, World } from '../world.js';
import type { Hook } from '../entities/repository.js';

/** Types that a hook may have: the forge's own, then chat services. */
const HOOK_TYPES: Record<'gitea' | 'forgejo', readonly string[]> = {
  gitea: [
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
  ],
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

interface HookWish {
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
  return world.add('hook', world.hooks, hook);
}

/** Stored names; nothing named means pushes. Unknown names are dropped, even if none is left. */
function eventsOf(names: readonly string[] | undefined, server: TellingStyle): string[] {
  return storedEventNames(names === undefined || names.length === 0 ? ['push'] : names, server);
}

/** The secret is never shown. */
function renderHook(view: View, hook: Hook): Shown<typeof apiHook> {
  const hasMore = Object.keys(hook.extraConfig).length > 0;
  return shaped(view, 'hook', {
    id: hook.id,
    name: hook.name,
    type: hook.type,
    branch_filter: hook.branchFilter,
    url: hook.url,
    config: { content_type: hook.contentType, url: hook.url, ...hook.extraConfig },
    events: hook.events,
    authorization_header: hook.authorizationHeader,
    content_type: hook.contentType,
    metadata: hasMore ? hook.extraConfig : null,
    active: hook.isActive,
    updated_at: shownTime(view, hook.updatedAt),
    created_at: shownTime(view, hook.createdAt),
  });
}

const shared = {
  events: field.texts(),
  branch_filter: field.text(),
  authorization_header: field.text(),
  active: field.flag(),
  name: field.text(),
};
const wishFields = { type: field.text({ required: true }), config: field.object({ required: true }), ...shared };
const changeFields = { config: field.object(), ...shared };

function hooksOf(call: OrgCall): Hook[] {
  return [...call.world.hooks.values()].filter((hook) => hook.orgId === call.org.id);
}

function hookOf(call: OrgCall): Hook {
  const hook = call.world.hooks.get(readId(call.params.id));
  if (hook?.orgId !== call.org.id) throw notFound();
  return hook;
}

/** Values of `config` are texts. */
function readConfig(config: JsonObject = {}): Record<string, string> {
  if (Object.values(config).some((value) => typeof value !== 'string'))
    throw unprocessable('[]: json: cannot unmarshal into Go struct field config of type string');
  return config as Record<string, string>;
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/\s]+/.test(text) && URL.canParse(text);
}

function checkConfig(config: Record<string, string>): void {
  if (config.url !== undefined && !isHttpUrl(config.url)) throw unprocessable('Invalid url');
  if (config.content_type !== undefined && !['json', 'form'].includes(config.content_type))
    throw unprocessable('Invalid content type');
}

function make(call: OrgCall): Hook {
  const { world, profile, org } = call;
  const wish = bind(call, wishFields);
  const { type = '' } = wish;
  const config = readConfig(wish.config);
  if (!HOOK_TYPES[profile.family].includes(type)) throw unprocessable(`Invalid hook type: ${type}`);
  for (const key of ['url', 'content_type', ...(type === 'slack' ? ['channel'] : [])]) {
    if (!config[key]) throw unprocessable(`Missing config option: ${key}`);
  }
  checkConfig(config);
  return makeHook(world, profile.telling, {
    orgId: org.id,
    type,
    config,
    name: wish.name,
    events: wish.events,
    isActive: wish.active,
    branchFilter: wish.branch_filter,
    authorizationHeader: wish.authorization_header,
  });
}

/** What is left out of events and branch filter is reset, of the authorization header on most servers; a new secret is ignored. */
function change(call: OrgCall): Hook {
  const wish = bind(call, changeFields);
  const hook = hookOf(call);
  const config = readConfig(wish.config);
  checkConfig(config);
  hook.url = config.url ?? hook.url;
  hook.contentType =
    config.content_type === undefined ? hook.contentType : config.content_type === 'form' ? 'form' : 'json';
  hook.events = eventsOf(wish.events, call.profile.telling);
  hook.branchFilter = wish.branch_filter ?? '';
  hook.authorizationHeader =
    wish.authorization_header ?? (call.profile.hookKeepsAuthorization ? hook.authorizationHeader : '');
  hook.isActive = wish.active ?? hook.isActive;
  hook.name = wish.name ?? hook.name;
  hook.updatedAt = call.world.now();
  call.world.changed('hook', hook.id, 'updated');
  return hook;
}

export const organizationHookHandlers: Handlers = {
  listOrgHooks: onOrganization('owner', (call) =>
    listed(call, hooksOf(call), (hook) => renderHook(call.view, hook), { link: true }),
  ),
  createOrgHook: onOrganization('owner', (call) => created(renderHook(call.view, make(call)))),
  getOrgHook: onOrganization('owner', (call) => ok(renderHook(call.view, hookOf(call)))),
  updateOrgHook: onOrganization('owner', (call) => ok(renderHook(call.view, change(call)))),
  deleteOrgHook: onOrganization('owner', (call) => {
    call.world.remove('hook', call.world.hooks, hookOf(call));
  }),
};
