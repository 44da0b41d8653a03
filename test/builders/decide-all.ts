import { systemClock, type Clock } from '../../src/core/clock.js';
import type { Alerts } from '../../src/core/alerts.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { silentLogger, type Logger } from '../../src/core/logger.js';
import { silentSecurityLog, type SecurityLog } from '../../src/core/security-log.js';
import { ArrivalDecision, BatchKnowledge, type ArrivalNeeds } from '../../src/pipeline/decide/batch-knowledge.js';
import { ArrivalDecider } from '../../src/pipeline/decide/decide-arrival.js';
import { BatchDecider } from '../../src/pipeline/decide/decide-arrivals.js';
import type { AtHandDecider } from '../../src/pipeline/decide/decide-at-hand.js';
import { EventReader } from '../../src/pipeline/decide/event-reader.js';
import type { DecisionRecorder } from '../../src/pipeline/decide/record-decision.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import type { WorkQueue } from '../../src/pipeline/work-queue.port.js';
import { aConfig } from './a-config.js';

export const EVENT_READER = new EventReader(aConfig({}));

type Inbox = Pick<InboxStore, 'inBatch' | 'putOff' | 'dueArrivals'>;

/** What deciding about arrivals works with. */
export interface ArrivalParts {
  readonly inbox: Pick<InboxStore, 'inBatch' | 'putOff'>;
  readonly queue: Pick<WorkQueue, 'ring'>;
  readonly events: EventReader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: no event is decided with its arrival. */
  readonly atHand?: Pick<AtHandDecider, 'touchedBy' | 'decide'>;
  readonly recorder?: Pick<DecisionRecorder, 'written'>;
  /** Default: acts of any age make events. */
  readonly maxActAgeMs?: number | null;
  /** Knows organizations by their number. Default: only names are compared. */
  readonly orgs?: {
    numberOf(forge: string, org: string): Promise<string | null>;
    numberAtHand(forge: string, org: string): string | null | undefined;
    isRenamed(forge: string, org: string): Promise<boolean>;
  };
  /** How long a delivery may still come, in ms. Default: none does. */
  readonly awaitMs?: (fact: Pick<ForgeEvent, 'org' | 'forge' | 'kind' | 'source'>) => number;
  readonly security?: SecurityLog;
  readonly alerts?: Pick<Alerts, 'raise'>;
  readonly counted?: (what: { org: string; kind: string; source: string }) => void;
  readonly setAside?: (what: { org: string; hook: string; code: string }) => void;
  /** Repositories whose rules may have changed. */
  readonly nudged?: (org: string, repoId: string | null) => void;
}

const NO_NUMBERS = { numberOf: async () => null, numberAtHand: () => null, isRenamed: async () => false };

export function aBatchDecider(parts: ArrivalParts): BatchDecider {
  const { inbox, queue, events, clock, logger, orgs = NO_NUMBERS } = parts;
  const decider = new ArrivalDecider(
    aConfig({ retention: { maxAgeMs: parts.maxActAgeMs ?? null } }),
    events,
    parts.atHand ?? { touchedBy: () => null, decide: async () => null },
    { waitMs: parts.awaitMs ?? (() => 0) },
    clock,
    logger,
  );
  return new BatchDecider(
    decider,
    parts.recorder ?? { written: async () => undefined },
    inbox,
    queue,
    {
      pinned: (forge, org) => orgs.numberOf(forge, org),
      pinnedAtHand: (forge, org) => orgs.numberAtHand(forge, org),
      isRenamed: (forge, org) => orgs.isRenamed(forge, org),
    },
    { unguarded: () => ({}) as never },
    { nudge: (org, repoId) => parts.nudged?.(org, repoId) },
    {
      events: { inc: (what: never) => parts.counted?.(what) },
      setAside: { inc: (what: never) => parts.setAside?.(what) },
    },
    parts.alerts ?? { raise: () => undefined },
    parts.security ?? silentSecurityLog,
    clock,
    logger,
  );
}

/** What a turn does with a batch. @returns how many need no further look now */
export function decideArrivals(parts: ArrivalParts, ids: readonly string[]): Promise<number> {
  return aBatchDecider(parts).decide(ids);
}

/** What a worker does with arrivals, as often as it takes. */
export async function decideAll(inbox: Inbox, over: Partial<ArrivalParts> = {}): Promise<void> {
  for (let due = await inbox.dueArrivals(200); due.length > 0; due = await inbox.dueArrivals(200))
    await decideOnce(inbox, due, over);
}

/** What a worker does with these, one after the other. */
export async function decideOnce(
  inbox: Omit<Inbox, 'dueArrivals'>,
  arrivals: readonly string[],
  over: Partial<ArrivalParts> = {},
): Promise<void> {
  const queue = { ring: () => undefined };
  const parts = { inbox, queue, clock: systemClock, logger: silentLogger, events: EVENT_READER, ...over };
  for (const id of arrivals) await decideArrival(parts, id);
}

/** What became of an arrival, in short. */
export interface Decided {
  readonly arrivalId: string;
  /** Events it told first, and events that another arrival had told already. */
  readonly created: readonly string[];
  readonly joined: readonly string[];
  /** Why it makes no event. */
  readonly closed: string | null;
}

/** Decides about one arrival. @returns null when there was nothing to decide, or cannot be decided before another */
export async function decideArrival(parts: ArrivalParts, id: string): Promise<Decided | null> {
  const [decided] = await aBatchDecider(parts).decideOnce([id]);
  if (!decided || decided.outcome === 'waits') return null;
  const { created, joined, closed } = decided.outcome;
  return { arrivalId: id, created: created.map((event) => event.id), joined, closed };
}

/** A decision about one arrival that a test makes itself. @returns null when the arrival is not `stored` */
export async function decideBy<T>(
  inbox: Pick<InboxStore, 'inBatch'>,
  id: string,
  decide: (tx: ArrivalDecision) => T | Promise<T>,
  needs: ArrivalNeeds = {},
): Promise<T | null> {
  return inbox.inBatch(async (batch) => {
    const [arrival] = await batch.claim([id]);
    if (!arrival) return null;
    const known = await BatchKnowledge.load(batch, arrival.org, [{ arrival, ...needs }]);
    const decision = new ArrivalDecision(known, arrival);
    const answer = await decide(decision);
    known.keep(decision);
    await known.write();
    return answer;
  });
}
