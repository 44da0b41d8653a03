import type { HooksUnseen, SeenHook } from '../../forge/org-access.js';
import { missingEvents } from '../../rules/language/hook-events.js';
import { note, ok, problem, warning, type CheckResult } from './check.js';
import { saw } from './looks.js';
import { hidesAuthorization, type ServerKind } from './versions.js';

/** What our hook should be like. */
export interface WantedHook {
  /** Id of the hook in the operator's config. */
  readonly id: string;
  /** Where the forge should send to; null while the operator does not say under which address we are reached. */
  readonly url: string | null;
  /** Names to ask with. */
  readonly events: readonly string[];
  /** Whole values of the Authorization header, any of which we take; empty = none is looked at. */
  readonly authorizations: readonly string[];
}

/** Kinds of hook that send the forge's own bodies. */
const OWN_TYPES = new Set(['gitea', 'forgejo', 'gogs']);
/** A branch filter acts on these alone. */
const FILTERED = new Set(['push', 'create', 'delete']);

/** Hooks that are meant for this endpoint: at its address, or at least with its path. */
export function ownHooks<One extends Addressed>(
  hooks: readonly One[],
  { id, url }: Pick<WantedHook, 'id' | 'url'>,
): One[] {
  const exact = hooks.filter((hook) => url !== null && addressOf(hook) === url);
  if (exact.length > 0) return exact;
  const path = `/webhooks/${encodeURIComponent(id)}`;
  return hooks.filter((hook) => addressOf(hook).split(/[?#]/, 1)[0]?.endsWith(path));
}

type Addressed = { readonly config?: Readonly<Record<string, string | null>> | null | undefined };

export function addressOf(hook: Addressed): string {
  return hook.config?.['url'] ?? '';
}

export function contentTypeOf(hook: Addressed): string {
  return hook.config?.['content_type'] ?? '';
}

/** Whether a filter lets every branch through (webhooks 7). */
export function letsAllThrough(filter: string | null | undefined): boolean {
  return ['', '*', '**'].includes((filter ?? '').trim());
}

/** @param install the command that repairs what it finds */
export function examineHook(
  hooks: readonly SeenHook[],
  wanted: WantedHook,
  server: ServerKind,
  page: string,
  install: string,
): CheckResult[] {
  const ours = ownHooks(hooks, wanted);
  const [hook] = ours;
  if (!hook) return [missing(wanted, page, install)];
  const open = `open ${page}, choose the webhook ${addressOf(hook)}`;
  return [
    ours.length === 1
      ? ok(saw('hook.there.one', { hook: hook.id ?? '', url: addressOf(hook) }))
      : warning(saw('hook.there.many', { count: ours.length }), `${open}, and delete all but one`),
    type(hook, open),
    active(hook, open, install),
    address(hook, wanted, open, install),
    contentType(hook, open, install),
    events(hook, wanted, open, install),
    filter(hook, wanted, open, install),
    ...authorization(hook, wanted, server, open, install),
  ];
}

function missing({ url, events, id }: WantedHook, page: string, install: string): CheckResult {
  const where = url ?? `http://THE-BOT:8080/webhooks/${id}`;
  return problem(
    saw('hook.there.none', { url, id }),
    `type: ${install}`,
    `or open ${page}, Add Webhook → Gitea (Forgejo): target URL ${where}, POST, application/json, the secret of hook ${id}, ${eventsInWords(events)}, Active`,
  );
}

function eventsInWords(events: readonly string[]): string {
  return events.length === 0 ? 'All events' : `All events (or at least ${events.join(', ')})`;
}

function type({ type: kind }: SeenHook, open: string): CheckResult {
  return OWN_TYPES.has(kind ?? 'gitea')
    ? ok(saw('hook.type.own', { type: kind ?? 'gitea' }))
    : problem(saw('hook.type.chat', { type: kind ?? '' }), `${open}, delete it, and add one of type Gitea (Forgejo)`);
}

function active(hook: SeenHook, open: string, install: string): CheckResult {
  return hook.active === true
    ? ok(saw('hook.active.on'))
    : problem(saw('hook.active.off'), `type: ${install}`, `or ${open}, tick Active, Update`);
}

function address(hook: SeenHook, { url }: WantedHook, open: string, install: string): CheckResult {
  if (url === null)
    return note(
      saw('hook.address.unknown', { url: addressOf(hook) }),
      'say server.public_url in the config of the bot',
    );
  return addressOf(hook) === url
    ? ok(saw('hook.address.right', { url }))
    : problem(
        saw('hook.address.wrong', { url: addressOf(hook), own: url }),
        `type: ${install}`,
        `or ${open}, Target URL ${url}, Update`,
      );
}

function contentType(hook: SeenHook, open: string, install: string): CheckResult {
  const type = contentTypeOf(hook);
  if (type === 'json') return ok(saw('hook.content_type.json'));
  return warning(
    type === 'form' ? saw('hook.content_type.form') : saw('hook.content_type.other', { type }),
    `type: ${install}`,
    `or ${open}, POST Content Type application/json, Update`,
  );
}

function events(hook: SeenHook, wanted: WantedHook, open: string, install: string): CheckResult {
  const lacks = missingEvents(wanted.events, hook.events ?? []);
  return lacks.length === 0
    ? ok(wanted.events.length === 0 ? saw('hook.events.unneeded') : saw('hook.events.all'))
    : problem(
        saw('hook.events.missing', { events: lacks }),
        `type: ${install}`,
        `or ${open}, tick them under Custom Events, Update`,
      );
}

function filter(
  { branch_filter: branchFilter }: SeenHook,
  wanted: WantedHook,
  open: string,
  install: string,
): CheckResult {
  if (letsAllThrough(branchFilter)) return ok(saw('hook.branch_filter.open'));
  const params = { filter: branchFilter ?? '' };
  const fix = [`type: ${install}`, `or ${open}, Branch filter *, Update`];
  return wanted.events.some((name) => FILTERED.has(name))
    ? warning(saw('hook.branch_filter.closed', params), ...fix)
    : note(saw('hook.branch_filter.unneeded', params), ...fix);
}

function authorization(
  hook: SeenHook,
  wanted: WantedHook,
  server: ServerKind,
  open: string,
  install: string,
): CheckResult[] {
  if (wanted.authorizations.length === 0) return [];
  if (hidesAuthorization(server)) return [note(saw('hook.authorization.hidden'))];
  return hook.isAuthorized
    ? [ok(saw('hook.authorization.right'))]
    : [problem(saw('hook.authorization.wrong'), `type: ${install}`, `or ${open}, Authorization Header, Update`)];
}

/** What the forge's refusal to show its webhooks means. */
export function unseenHooks(why: HooksUnseen, org: string, page: string, teams: string): CheckResult {
  switch (why) {
    case 'switched-off':
      return problem(
        saw('hook.there.switched-off'),
        "ask its administrator to take DISABLE_WEBHOOKS out of [security] in the server's app.ini, and restart it",
      );
    case 'not-owner':
      return note(
        saw('hook.there.not-owner', { org }),
        `look yourself: open ${page}`,
        `or let the bot look: open ${teams}, Owners, add its account`,
      );
    case 'scope':
      return note(
        saw('hook.there.scope'),
        'make a token with read:organization (write:organization to repair them)',
        `or look yourself: open ${page}`,
      );
    case 'not-offered':
      return note(saw('hook.there.not-offered'), `look yourself: open ${page}`);
    case 'unreadable':
      return note(saw('hook.there.unreadable'), 'type: forgehand doctor --fresh');
  }
}
