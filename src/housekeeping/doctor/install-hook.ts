import { z } from 'zod';
import { ForgeError, UserError } from '../../core/errors.js';
import { maybeText, text, texts, type Shape } from '../../core/schema.js';
import { type ForgeClient, listAll } from '../../forge/forge-client.js';
import { isScopeRefusal } from '../../forge/probe.js';
import type { Hook } from '../../core/objects/repositories.js';
import { missingEvents } from '../../rules/language/hook-events.js';
import { addressOf, ownHooks } from './examine-hook.js';
import { hookChange, planHook, type HookOrders, type HookPlan, type HookWish } from './plan-hook.js';
import type { ServerKind } from './versions.js';

/** What happened to the organization's webhook. Secrets are shown as set, never by value. */
export const hookReport = z.object({
  org: text,
  does: z.enum(['nothing', 'create', 'repair', 'replace', 'refused']),
  hook: maybeText.describe('Number of the webhook; null while it is not made.'),
  changes: z.array(hookChange),
  written: z.boolean().describe('False on a dry run, and where nothing was to be done or it was refused.'),
  /** What was refused, or is left to do. */
  notes: texts,
  later: texts
    .exactOptional()
    .describe('Events that rules can use and a webhook that is made or changed does not ask for. Absent = none.'),
});
export type HookReport = Shape<typeof hookReport>;

type HookCalls = Pick<ForgeClient, 'listOrgHooks' | 'createOrgHook' | 'updateOrgHook' | 'deleteOrgHook'>;

/**
 * Reads the organization's webhooks and creates or repairs ours; a second call finds nothing to do.
 * @throws UserError where the token may not; ForgeError when the forge cannot be asked
 */
export async function installHook(
  client: ForgeClient,
  org: string,
  wish: HookWish,
  server: ServerKind,
  orders: HookOrders & { readonly dryRun: boolean; readonly all: readonly string[] },
): Promise<HookReport> {
  const hooks = await allowed(org, listAll(client, 'listOrgHooks', { org }));
  const plan = planHook(hooks, wish, server, orders);
  const duplicates = ownHooks(hooks, wish).flatMap((hook) =>
    addressOf(hook) === wish.url && 'hook' in plan && hook.id !== plan.hook ? [hook.id ?? ''] : [],
  );
  const notes =
    duplicates.length > 0
      ? [`webhook ${duplicates.join(', ')} sends to the same address: each act arrives twice, so delete it`]
      : [];
  if (plan.does === 'refused')
    return { org, does: plan.does, hook: null, changes: [], written: false, notes: [plan.why, ...plan.fix] };
  if (plan.does === 'nothing') return { org, does: plan.does, hook: plan.hook, changes: [], written: false, notes };
  const before = 'hook' in plan ? plan.hook : null;
  const later = (names: readonly string[]): Pick<HookReport, 'later'> => {
    const events = missingEvents(orders.all, names);
    return events.length > 0 ? { later: events } : {};
  };
  if (orders.dryRun)
    return {
      org,
      does: plan.does,
      hook: before,
      changes: plan.changes,
      written: false,
      notes,
      ...later(plan.body.events),
    };
  const after = await allowed(org, write(client, org, wish, plan));
  if (plan.does === 'replace') await client.deleteOrgHook({ org, id: plan.hook });
  const untaken = missingEvents(wish.events, after.events ?? []);
  const dropped =
    untaken.length > 0
      ? [
          `the server did not take ${untaken.join(', ')}${plan.does === 'repair' ? ': a new webhook may, so try --recreate' : ''}`,
        ]
      : [];
  return {
    org,
    does: plan.does,
    hook: after.id ?? null,
    changes: plan.changes,
    written: true,
    notes: [...notes, ...dropped],
    ...later(after.events ?? []),
  };
}

async function write(
  client: HookCalls,
  org: string,
  wish: HookWish,
  plan: Extract<HookPlan, { body: object }>,
): Promise<Hook> {
  const { config, ...body } = plan.body;
  if (plan.does === 'repair')
    return client.updateOrgHook({ org, id: plan.hook, body: { ...body, config: { ...config } } });
  try {
    return await client.createOrgHook({
      org,
      body: { ...body, config: { ...config }, type: 'gitea', name: 'forgehand' },
    });
  } catch (error) {
    // The outcome is unknown, and a second webhook would double every delivery: read before anything else.
    if (!(error instanceof ForgeError) || error.kind !== 'unknown') throw error;
    const old = plan.does === 'replace' ? plan.hook : null;
    const made = (await client.listOrgHooks({ org, limit: 50 })).find(
      (hook) => addressOf(hook) === wish.url && hook.id !== old,
    );
    if (!made) throw error;
    return made;
  }
}

async function allowed<T>(org: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ForgeError) || (error.kind !== 'refused' && error.kind !== 'not-offered')) throw error;
    throw new UserError('HOOK_REFUSED', refusal(org, error));
  }
}

function refusal(org: string, error: ForgeError): string {
  if (error.kind === 'not-offered')
    return 'this forge does not let webhooks be made by its API: add it on the web page of the organization';
  if (isScopeRefusal(error))
    return 'the token may not: it needs write:organization (or add the webhook by hand, and run forgehand doctor)';
  if (error.facts.status === 403)
    return `webhooks of ${org} are its owners' affair (${error.facts.forgeMessage ?? ''}): add the bot's account to the team Owners, or add the webhook by hand`;
  return error.message;
}
