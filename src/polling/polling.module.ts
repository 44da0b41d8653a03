import { Module } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Alerts } from '../core/alerts.js';
import { callingAs } from '../core/caller.js';
import { Clock } from '../core/clock.js';
import { KnownFacts } from '../core/known-facts.port.js';
import { Logger } from '../core/logger.js';
import { part, stopping } from '../core/part.js';
import { type ForgeCapabilities, ConnectedForges } from '../forge/connected-forges.js';
import { ForgeHomes } from '../forge/forge-homes.js';
import { ForgeModule } from '../forge/forge.module.js';
import { Metrics } from '../observability/metrics.js';
import { GapStore } from '../pipeline/gap-store.port.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { CursorStore } from './cursor-store.port.js';
import type { OwnHook } from './gaps/classify-gap.js';
import { GapKeeper } from './gaps/gap-keeper.js';
import { HookHistory, ownHookOf } from './gaps/hook-history.js';
import { PollLoop, type Polled } from './poll-loop.js';
import { pollersOf, type PollerDeps } from './pollers-of.js';

const PARTS = [
  part(
    GapKeeper,
    {
      config: AppConfig,
      forges: ConnectedForges,
      gaps: GapStore,
      cursors: CursorStore,
      known: KnownFacts,
      metrics: Metrics,
      clock: Clock,
      logger: Logger,
      alerts: Alerts,
    },
    ({ config, forges, gaps, cursors, known, metrics, clock, logger, alerts }) =>
      new GapKeeper({
        orgs: config.orgs.map((org) => ({
          forge: org.forge,
          org: org.name,
          ...org.feed,
          hasHooks: org.hooks.length > 0,
        })),
        gaps,
        cursors,
        hooks: (forge, org) => callingAs({ lane: 'housekeeping', org }, () => ownHooks(config, forges, forge, org)),
        history: new HookHistory({ known, clock }),
        server: (forge) => ({
          product: reached(forges, forge)?.product ?? null,
          version: reached(forges, forge)?.version ?? null,
        }),
        clock,
        logger,
        alerts,
        counted: (gap) => metrics.gaps.inc(gap),
      }),
  ),
  // Pollers of every organization; each is made once its forge is connected, since what can be read depends on it.
  part(
    PollLoop,
    {
      config: AppConfig,
      self: ThisProcess,
      forges: ConnectedForges,
      gaps: GapKeeper,
      homes: ForgeHomes,
      inbox: InboxStore,
      cursors: CursorStore,
      queue: WorkQueue,
      metrics: Metrics,
      clock: Clock,
      logger: Logger,
      alerts: Alerts,
    },
    ({ config, self: { startedAt }, forges, gaps, homes, inbox, cursors, queue, metrics, clock, logger, alerts }) => {
      const deps: PollerDeps = { forges, gaps, homes, inbox, cursors, queue, metrics, clock, logger, startedAt };
      const made = new Map<string, Polled[]>();
      const sources = (): Polled[] => {
        for (const org of config.orgs) {
          const key = `${org.forge}/${org.name}`;
          if (!made.has(key) && forges.get(org.forge, org.name)?.capabilities) made.set(key, pollersOf(deps, org));
        }
        return [...made.values()].flat();
      };
      return new PollLoop({ sources, clock, random: Math.random, logger, alerts });
    },
  ),
  stopping({ loop: PollLoop }, ({ loop }) => loop.stop()),
];

/** The second way in: what never arrived is read from the feed, the tasks and the lists; and what is missing is known. */
@Module({ imports: [ForgeModule], providers: PARTS, exports: [GapKeeper, PollLoop] })
export class PollingModule {}

/** What the server is, whichever credentials reached it. */
function reached(forges: ConnectedForges, forge: string): ForgeCapabilities | null {
  return forges.list().find(({ id, capabilities }) => id === forge && capabilities !== null)?.capabilities ?? null;
}

/** The organization's webhooks at the forge that point at an endpoint of ours; null = nobody can be asked. */
async function ownHooks(
  config: AppConfig,
  forges: ConnectedForges,
  forge: string,
  name: string,
): Promise<OwnHook[] | null> {
  const client = forges.get(forge, name)?.client;
  const ids =
    config.orgs.find((org) => org.name === name)?.hooks.map(({ id }) => `/webhooks/${encodeURIComponent(id)}`) ?? [];
  if (!client) return null;
  const hooks = await client.listOrgHooks({ org: name, limit: 50 });
  const ours = hooks.filter((hook) => ids.some((path) => (hook.config?.url ?? '').split('?')[0]?.endsWith(path)));
  return ours.map(ownHookOf);
}
