import type { OrgConfig } from '../config/app-config.js';
import { callingAs } from '../core/caller.js';
import { misfitOf, replayNameOf } from '../events/normalize-delivery.js';
import { ConnectedForges } from '../forge/connected-forges.js';
import type { ForgeHomes } from '../forge/forge-homes.js';
import type { OperationName } from '../forge/operations.js';
import { FeedPoller } from '../polling/feed-poller.js';
import { KnownRepositories } from '../polling/known-repositories.js';
import { ListPoller } from '../polling/list-poller.js';
import { PollLoop } from '../polling/poll-loop.js';
import type { Polled } from '../polling/poll-loop.js';
import { TaskPoller } from '../polling/task-poller.js';
import { TrustedProxies } from '../webhooks/client-address.js';
import { NoteUntrustedProxies } from '../webhooks/note-untrusted-proxies.js';
import { UndecidedBytes } from '../webhooks/undecided-bytes.js';
import { DEFAULT_WEBHOOK_LIMITS } from '../webhooks/webhook-route.js';
import type { WebhookDeps } from '../webhooks/webhook-route.js';
import { GapKeeper } from '../polling/gaps/gap-keeper.js';
import type { Ground } from './ground.js';

export function makeUndecidedBytes({ config, stores, clock }: Pick<Ground, 'config' | 'stores' | 'clock'>): UndecidedBytes {
  return new UndecidedBytes(stores.inbox, config.server.undecided, clock);
}

export function webhookDeps({ config, stores, queue, clock, logger, metrics, security }: Ground, undecided: UndecidedBytes): WebhookDeps {
  const proxies = new TrustedProxies(config.server.trustedProxies);
  const untrusted = new NoteUntrustedProxies(stores.untrustedProxies, clock, logger);
  return {
    hooks: config.orgs.flatMap((org) => org.hooks.map((hook) => ({ ...hook, org: org.name, forge: org.forge }))),
    inbox: stores.inbox,
    queue,
    misfitOf,
    replayNameOf,
    logger,
    clock,
    security,
    undecided,
    trustsProxy: (peer) => proxies.trusts(peer),
    untrustedProxy: (peer) => untrusted.note(peer),
    limits: { ...DEFAULT_WEBHOOK_LIMITS, maxBodyBytes: config.server.maxBodyBytes, unverified: config.server.unverified },
    counted: ({ org, hook, answer, seconds }) => {
      metrics.deliveries.inc({ org, hook, answer });
      metrics.ingestSeconds.observe(seconds);
    },
  };
}

/** Pollers of every organization; each is made once its forge is connected, since what can be read depends on it. */
export function makePollLoop(ground: Ground, forges: ConnectedForges, gaps: GapKeeper, homes: ForgeHomes): PollLoop {
  const { config, clock, logger, alerts } = ground;
  const made = new Map<string, Polled[]>();
  const sources = (): Polled[] => {
    for (const org of config.orgs) {
      const key = `${org.forge}/${org.name}`;
      if (!made.has(key) && forges.get(org.forge, org.name)?.capabilities) made.set(key, pollersOf(ground, forges, gaps, homes, org));
    }
    return [...made.values()].flat();
  };
  return new PollLoop({ sources, clock, random: Math.random, logger, alerts });
}

/** A start has more pressing things to read. */
const LISTS_AFTER_MS = 60_000;

function pollersOf(
  { stores, queue, clock, logger, metrics, startedAt }: Ground,
  forges: ConnectedForges,
  gaps: GapKeeper,
  homes: ForgeHomes,
  org: OrgConfig,
): Polled[] {
  const forge = forges.get(org.forge, org.name);
  if (!forge) return [];
  const polled = { forge: org.forge, org: org.name };
  const caller = { lane: 'poll', org: org.name } as const;
  const counted = (what: { org: string; source: string; stored: number }): void => metrics.entries.inc({ org: what.org, source: what.source }, what.stored);
  const common = { inbox: stores.inbox, cursors: stores.cursors, queue, clock, logger, startedAt, client: forge.client, counted };
  const offers = (name: OperationName): boolean => forges.get(org.forge, org.name)?.offers(name) ?? true;
  const everyMs = org.feed.everyS * 1000;
  const moved = new Set<string>();
  const feed = new FeedPoller(
    {
      ...common,
      read: (rows) => homes.learnFeed(org.forge, org.name, rows),
      moved: (repositoryId) => void moved.add(repositoryId),
      outageMs: Math.max(600_000, everyMs * 5),
    },
    polled,
  );
  const repositories = new KnownRepositories({ client: forge.client, offers, homes, clock }, polled);
  const tasks = new TaskPoller(
    { ...common, offers, repositories, moved, callsPerPoll: org.tasks.callsPerPoll, ownLogin: forge.capabilities?.self?.login ?? null },
    polled,
  );
  const listsMs = org.lists.everyS * 1000;
  const lists = new ListPoller(
    { ...common, offers, repositories, callsPerVisit: org.lists.callsPerVisit, everyMs: listsMs, graceMs: org.feed.graceS * 1000 },
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
      ? [{ name: `tasks/${org.forge}/${org.name}`, everyMs, isPressing: () => tasks.hasOpen, poll: () => callingAs(caller, () => tasks.poll()) }]
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
