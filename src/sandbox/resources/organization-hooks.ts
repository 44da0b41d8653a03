import type { JsonObject } from '../../core/json.js';
import { created, noContent, notFound, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import type { OrgCall } from '../guards.js';
import { onOrganization } from '../guards.js';
import { eventsOf, HOOK_TYPES, makeHook } from '../make/hook.js';
import { listed } from '../paging.js';
import { readId } from '../read-id.js';
import type { Handlers } from '../registry.js';
import { renderHook } from '../render/hook.js';
import type { Hook } from '../world.js';

const shared = { events: field.texts(), branch_filter: field.text(), authorization_header: field.text(), active: field.flag(), name: field.text() };
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
  if (config.content_type !== undefined && !['json', 'form'].includes(config.content_type)) throw unprocessable('Invalid content type');
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
  hook.contentType = config.content_type === undefined ? hook.contentType : config.content_type === 'form' ? 'form' : 'json';
  hook.events = eventsOf(wish.events, call.profile.telling);
  hook.branchFilter = wish.branch_filter ?? '';
  hook.authorizationHeader = wish.authorization_header ?? (call.profile.hookKeepsAuthorization ? hook.authorizationHeader : '');
  hook.isActive = wish.active ?? hook.isActive;
  hook.name = wish.name ?? hook.name;
  hook.updatedAt = call.world.now();
  call.world.changed('hook', hook.id, 'updated');
  return hook;
}

export const organizationHookHandlers: Handlers = {
  listOrgHooks: onOrganization('owner', (call) => listed(call, hooksOf(call), (hook) => renderHook(call.view, hook), { link: true })),
  createOrgHook: onOrganization('owner', (call) => created(renderHook(call.view, make(call)))),
  getOrgHook: onOrganization('owner', (call) => ok(renderHook(call.view, hookOf(call)))),
  updateOrgHook: onOrganization('owner', (call) => ok(renderHook(call.view, change(call)))),
  deleteOrgHook: onOrganization('owner', (call) => {
    const hook = hookOf(call);
    call.world.hooks.delete(hook.id);
    call.world.changed('hook', hook.id, 'deleted');
    return noContent();
  }),
};
