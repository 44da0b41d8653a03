import type { Clock } from '../../core/clock.js';
import type { Logger } from '../../core/logger.js';
import { within } from '../../core/within.js';
import type { ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';
import type { ArrivalToIntents } from '../decide.js';
import type { InboxStore } from '../inbox-store.port.js';
import type { JournalStore } from '../journal-store.port.js';
import { LineTurns } from '../line-turns.js';
import type { WorkQueue } from '../work-queue.port.js';
import type { LaterArrivals } from './later-arrivals.js';

interface DecideTurnsDeps {
  readonly queue: Pick<WorkQueue, 'ring' | 'serve'>;
  readonly inbox: Pick<InboxStore, 'dueArrivals' | 'undecidedEvents' | 'claimEvents'>;
  readonly journal: Pick<JournalStore, 'dueRuns'>;
  readonly revisions: Pick<ActiveRevisions, 'active'>;
  readonly flow: Pick<ArrivalToIntents, 'decideArrival' | 'decideEvent' | 'decideRun' | 'checkWithoutRules'>;
  readonly later?: Pick<LaterArrivals, 'of'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
}

/** Two transactions of arrivals: while the server works on one, this process reads the bodies of the next. */
const HANDS = { arrivals: { most: 129, refill: 64 }, events: { most: 33, refill: 8 } } as const;
/** Lines that have turns at once. */
const TURNS = { arrivals: 4, events: 8 } as const;
/** So long no other process takes the same event. One that takes longer may be decided twice, which is harmless. */
const EVENT_LEASE_MS = 2_000;
/** Events that are looked at while an organization has no rules. */
const LOOK = 500;

interface Undecided {
  readonly id: string;
  readonly org: string;
  readonly is: 'event' | 'run';
}

/** Deals arrivals, events and runs whose window is over to those who decide them. */
export class DecideTurns {
  private readonly arrivals: LineTurns<{ readonly id: string }>;
  private readonly events: LineTurns<Undecided>;

  constructor(private readonly deps: DecideTurnsDeps) {
    const { flow, logger, clock } = deps;
    this.arrivals = new LineTurns(
      'arrivals',
      {
        deal: async (org, most, except) => {
          const left = [...except, ...(deps.later?.of(org) ?? [])];
          const ids = await deps.inbox.dueArrivals(most, { org, except: left });
          return { items: ids.map((id) => ({ id })), isFull: ids.length === most };
        },
        work: ({ id }) => flow.decideArrival(id),
      },
      HANDS.arrivals,
      logger,
      clock,
    );
    this.events = new LineTurns<Undecided>(
      'events',
      {
        deal: async (org, most, except) => {
          const items = await this.undecided(org, most, except);
          return { items, isFull: items.length >= most };
        },
        work: async ({ id, org, is }) => {
          if (is === 'run') return flow.decideRun(id);
          const leaveMs = await flow.decideEvent(id);
          // The next of its object may stand behind it.
          if (leaveMs === null) deps.queue.ring('events', org);
          return leaveMs;
        },
      },
      HANDS.events,
      logger,
      clock,
    );
  }

  async start(): Promise<void> {
    await this.deps.queue.serve('arrivals', TURNS.arrivals, (org) => this.turn('arrivals', org));
    await this.deps.queue.serve('events', TURNS.events, (org) => this.turn('events', org));
  }

  /** @returns whether it left work behind that is due */
  turn(topic: 'arrivals' | 'events', org: string): Promise<boolean> {
    return this[topic].turn(org);
  }

  /** Begins nothing more, and waits for what is in hand, at most so long: what is not decided then stays due. */
  async stop(graceMs: number): Promise<void> {
    await within(graceMs, Promise.all([this.arrivals.stop(), this.events.stop()])).catch(() => undefined);
  }

  private async undecided(org: string, most: number, except: ReadonlySet<string>): Promise<Undecided[]> {
    const { inbox, journal, revisions, flow } = this.deps;
    const due = (await journal.dueRuns(most + except.size, org)).filter((id) => !except.has(id)).slice(0, most);
    const runs = due.map((id) => ({ id, org, is: 'run' as const }));
    if (!(await revisions.active(org))) {
      for (const id of await inbox.undecidedEvents(LOOK, org)) await flow.checkWithoutRules(id);
      return runs;
    }
    if (runs.length === most) return runs;
    const events = await inbox.claimEvents(org, most - runs.length, [...except], EVENT_LEASE_MS);
    return [...runs, ...events.map((id) => ({ id, org, is: 'event' as const }))];
  }
}
