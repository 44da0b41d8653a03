import type { OrgConfig } from '../config/app-config.js';
import { callingAs } from '../core/caller.js';
import type { Clock } from '../core/clock.js';
import type { Logger } from '../core/logger.js';
import type { ConnectedForges } from '../forge/connected-forges.js';
import type { ForgeHomes } from '../forge/forge-homes.js';
import type { OperationName } from '../forge/operations.js';
import type { Metrics } from '../observability/metrics.js';
import type { InboxStore } from '../pipeline/inbox-store.port.js';
import type { WorkQueue } from '../pipeline/work-queue.port.js';
import type { CursorStore } from './cursor-store.port.js';
import { FeedPoller } from './feed-poller.js';
import type { GapKeeper } from './gaps/gap-keeper.js';
import { KnownRepositories } from './known-repositories.js';
import { ListPoller } from './list-poller.js';
import type { Polled } from './poll-loop.js';
import { TaskPoller } from './task-poller.js';

export interface PollerDeps {
  readonly forges: ConnectedForges;
  readonly gaps: GapKeeper;
  readonly homes: ForgeHomes;
  readonly inbox: InboxStore;
  readonly cursors: CursorStore;
  readonly queue: WorkQueue;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly startedAt: Date;
}

/** A start has more pressing things to read. */
const LISTS_AFTER_MS = 60_000;

/** The pollers of one organization. Its forge must be connected. */
export function pollersOf(
  { forges, gaps, homes, inbox, cursors, queue, metrics, clock, logger, startedAt }: PollerDeps,
  org: OrgConfig,
): Polled[] {
  const forge = forges.get(org.forge, org.name);
  if (!forge) return [];
  const polled = { forge: org.forge, org: org.name };
  const caller = { lane: 'poll', org: org.name } as const;
  const counted = (what: { org: string; source: string; stored: number }): void =>
    metrics.entries.inc({ org: what.org, source: what.source }, what.stored);
  const common = { inbox, cursors, queue, clock, logger, startedAt, client: forge.client, counted };
  const offers = (name: OperationName): boolean => forges.get(org.forge, org.name)?.offers(name) ?? true;
  const everyMs = org.feed.everyS * 1000;
  const moved = new Set<string>();
  const feed = new FeedPoller(
    {
      ...common,
      read: (rows) => homes.learnFeed(org.forge, org.name, rows),
      moved: (repositoryId) => void moved.add(repositoryId),
      commentsOf: async (place) =>
        offers('listComments') ? (await forge.client.listComments(place)).map(({ id }) => String(id)) : null,
      outageMs: Math.max(600_000, everyMs * 5),
    },
    polled,
  );
  const repositories = new KnownRepositories({ client: forge.client, offers, homes, clock }, polled);
  const tasks = new TaskPoller(
    {
      ...common,
      offers,
      repositories,
      moved,
      callsPerPoll: org.tasks.callsPerPoll,
      ownLogin: forge.capabilities?.self?.login ?? null,
    },
    polled,
  );
  const listsMs = org.lists.everyS * 1000;
  const lists = new ListPoller(
    {
      ...common,
      offers,
      repositories,
      callsPerVisit: org.lists.callsPerVisit,
      everyMs: listsMs,
      graceMs: org.feed.graceS * 1000,
    },
    polled,
  );
  return [
    {
      name: `feed/${org.forge}/${org.name}`,
      everyMs,
      isPressing: () => feed.isCutOff || gaps.isMissing(org.forge, org.name),
      poll: () => callingAs(caller, () => feed.poll()),
    },
    ...(org.tasks.callsPerPoll > 0
      ? [
          {
            name: `tasks/${org.forge}/${org.name}`,
            everyMs,
            isPressing: () => tasks.hasOpen,
            poll: () => callingAs(caller, () => tasks.poll()),
          },
        ]
      : []),
    ...(listsMs > 0
      ? [
          {
            name: `lists/${org.forge}/${org.name}`,
            everyMs: listsMs,
            startAfterMs: LISTS_AFTER_MS,
            isPressing: () => lists.isCutOff,
            poll: () => callingAs(caller, () => lists.poll()),
          },
        ]
      : []),
  ];
}
