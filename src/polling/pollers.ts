import { Injectable } from '@nestjs/common';
import { AppConfig, type OrgConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { callingAs } from '../core/caller.js';
import { Clock } from '../core/clock.js';
import type { EntrySource } from '../core/event.js';
import { Logger } from '../core/logger.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import { ForgeOwners } from '../forge/forge-owners.js';
import type { OperationName } from '../forge/operations.js';
import { PollPeriods } from '../forge/poll-periods.js';
import { Metrics } from '../observability/metrics.js';
import { InboxStore } from '../pipeline/inbox-store.port.js';
import { WorkQueue } from '../pipeline/work-queue.port.js';
import { ActiveRevisions } from '../rules/revisions/active-revisions.port.js';
import { CursorStore } from './cursor-store.port.js';
import { FeedPoller } from './feed-poller.js';
import { GapKeeper } from './gaps/gap-keeper.js';
import { KnownRepositories } from './known-repositories.js';
import { ListPoller } from './list-poller.js';
import { awaitsTasks, callsOfQuietTasks, KINDS_OF_TASKS } from './task-pace.js';
import { TaskPoller } from './task-poller.js';

/** One source that is read again and again. */
export interface Polled {
  /** `feed/acme`, for log and alert. */
  readonly name: string;
  readonly source: EntrySource;
  readonly forge: string;
  readonly org: string;
  /** The account that polls it: those of one account share its rate. */
  readonly credential: string;
  readonly everyMs: number;
  /** How long after the start of the process its first turn comes; default at once. */
  readonly startAfterMs?: number;
  /**
   * Called after each poll: when work is pending or deliveries are missing, the next poll comes in a quarter of the
   * time.
   */
  readonly isPressing?: () => boolean;
  /** Whether the organization has a gap, or an open task that a rule waits for: it keeps its period when others have to wait longer. */
  readonly isUrgent?: () => boolean;
  /** Calls that a poll takes, as far as it is known before the first one. */
  readonly callsPerPoll: number;
  /** @returns calls made */
  poll(): Promise<number>;
}

/** A start has more pressing things to read. */
const LISTS_AFTER_MS = 60_000;
/** Of a visit of an organization with few repositories. */
const CALLS_OF_LISTS = 3;

/** The pollers of every organization; each is made once its forge is connected, since what can be read depends on it. */
@Injectable()
export class Pollers {
  private readonly polledByOrg = new Map<OrgConfig, readonly Polled[]>();

  constructor(
    private readonly config: AppConfig,
    private readonly self: ThisProcess,
    private readonly forges: ConnectedForges,
    private readonly periods: PollPeriods,
    private readonly gaps: GapKeeper,
    private readonly owners: ForgeOwners,
    private readonly revisions: ActiveRevisions,
    private readonly inbox: InboxStore,
    private readonly cursors: CursorStore,
    private readonly queue: WorkQueue,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  list(): readonly Polled[] {
    for (const org of this.config.orgs)
      if (!this.polledByOrg.has(org) && this.forges.get(org.forge, org.key)?.capabilities)
        this.polledByOrg.set(org, this.of(org));
    // A reload made others of those that came, went or were changed.
    const orgs = new Set(this.config.orgs);
    for (const org of this.polledByOrg.keys()) if (!orgs.has(org)) this.polledByOrg.delete(org);
    return [...this.polledByOrg.values()].flat();
  }

  private async awaitsTasks(org: string): Promise<boolean> {
    return awaitsTasks(await this.revisions.active(org), (await this.revisions.shadow?.(org)) ?? null);
  }

  private of(org: OrgConfig): Polled[] {
    const { forges, periods, gaps, owners, inbox, cursors, queue, metrics, clock, logger } = this;
    const { startedAt } = this.self;
    const forge = forges.get(org.forge, org.key);
    if (!forge) return [];
    const polled = { forge: org.forge, org: org.key, name: org.name };
    const caller = { priority: 'poll', org: org.key } as const;
    const counted = (what: { org: string; source: string; stored: number }): void =>
      metrics.entries.inc({ org: what.org, source: what.source }, what.stored);
    const { historyDays } = this.config.retention;
    const common = { inbox, cursors, queue, clock, logger, startedAt, historyDays, client: forge.client, counted };
    const offers = (name: OperationName): boolean => forges.get(org.forge, org.key)?.offers(name) ?? true;
    const everyMs = org.feed.everyS * 1000;
    const stretch = (): number => periods.stretchOf(org.forge, org.key);
    const moved = new Set<string>();
    const feed = new FeedPoller(
      {
        ...common,
        read: (rows) => owners.learnFeed(org.forge, org.key, rows),
        moved: (repositoryId) => void moved.add(repositoryId),
        commentsOf: async (place) =>
          offers('listComments') ? (await forge.client.listComments(place)).map(({ id }) => String(id)) : null,
        outageMs: () => Math.max(600_000, everyMs * stretch() * 5),
      },
      polled,
    );
    const repositories = new KnownRepositories({ client: forge.client, offers, owners, clock }, polled);
    const tasks = new TaskPoller(
      {
        ...common,
        offers,
        repositories,
        moved,
        deliveredJobs: (since) => inbox.repositoriesTold(polled, KINDS_OF_TASKS, since),
        callsPerPoll: org.tasks.callsPerPoll,
        isAwaited: () => this.awaitsTasks(org.key),
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
        everyMs: () => listsMs * stretch(),
        graceMs: () => org.feed.graceS * stretch() * 1000,
      },
      polled,
    );
    const isUrgent = (): boolean => gaps.isMissing(org.forge, org.key) || tasks.hasAwaited;
    const ofAccount = { forge: org.forge, org: org.key, credential: forge.credential };
    return [
      {
        name: `feed/${org.forge}/${org.key}`,
        source: 'feed',
        ...ofAccount,
        everyMs,
        callsPerPoll: 1,
        isUrgent,
        isPressing: () => feed.isCutOff || gaps.isMissing(org.forge, org.key),
        poll: () => callingAs(caller, async () => (await feed.poll()).pages),
      },
      ...(org.tasks.callsPerPoll > 0
        ? [
            {
              name: `tasks/${org.forge}/${org.key}`,
              source: 'tasks' as const,
              ...ofAccount,
              everyMs,
              callsPerPoll: callsOfQuietTasks(offers('listOrgRuns') ? 2 : org.tasks.callsPerPoll),
              isUrgent,
              isPressing: () => tasks.hasOpen,
              poll: () => callingAs(caller, async () => (await tasks.poll()).calls),
            },
          ]
        : []),
      ...(listsMs > 0
        ? [
            {
              name: `lists/${org.forge}/${org.key}`,
              source: 'lists' as const,
              ...ofAccount,
              everyMs: listsMs,
              callsPerPoll: Math.min(org.lists.callsPerVisit, CALLS_OF_LISTS),
              startAfterMs: LISTS_AFTER_MS,
              isPressing: () => lists.isCutOff,
              poll: () => callingAs(caller, async () => (await lists.poll()).calls),
            },
          ]
        : []),
    ];
  }
}
