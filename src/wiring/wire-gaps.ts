import type { AppConfig } from '../config/app-config.js';
import { callingAs } from '../core/caller.js';
import type { ForgeCapabilities } from '../forge/capabilities.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { GapKeeper } from '../polling/gaps/gap-keeper.js';
import type { OwnHook } from '../polling/gaps/classify-gap.js';
import type { Ground } from './ground.js';

export function makeGapKeeper({ config, stores, clock, logger, alerts, metrics }: Ground, forges: ConnectedForges): GapKeeper {
  return new GapKeeper({
    orgs: config.orgs.map((org) => ({ forge: org.forge, org: org.name, ...org.feed, hasHooks: org.hooks.length > 0 })),
    gaps: stores.gaps,
    cursors: stores.cursors,
    hooks: (forge, org) => callingAs({ lane: 'housekeeping', org }, () => ownHooks(config, forges, forge, org)),
    server: (forge) => ({ product: reached(forges, forge)?.product ?? null, version: reached(forges, forge)?.version ?? null }),
    clock,
    logger,
    alerts,
    counted: (gap) => metrics.gaps.inc(gap),
  });
}

/** What the server is, whichever credentials reached it. */
function reached(forges: ConnectedForges, forge: string): ForgeCapabilities | null {
  return forges.list().find(({ id, capabilities }) => id === forge && capabilities !== null)?.capabilities ?? null;
}

/** The organization's webhooks at the forge that point at an endpoint of ours; null when none does (ours may sit elsewhere). */
async function ownHooks(config: AppConfig, forges: ConnectedForges, forge: string, name: string): Promise<OwnHook[] | null> {
  const client = forges.get(forge, name)?.client;
  const ids = config.orgs.find((org) => org.name === name)?.hooks.map(({ id }) => `/webhooks/${encodeURIComponent(id)}`) ?? [];
  if (!client) return null;
  const hooks = await client.listOrgHooks({ org: name, limit: 50 });
  const ours = hooks.filter((hook) => ids.some((path) => (hook.config?.url ?? '').split('?')[0]?.endsWith(path)));
  if (ours.length === 0) return null;
  return ours.map(({ active, events, branch_filter: branchFilter }) => ({ active: active ?? false, events: events ?? [], branchFilter: branchFilter ?? '' }));
}
