import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import type { ForgeEvent } from '../../core/event.js';
import { Logger } from '../../core/logger.js';
import { within } from '../../core/within.js';
import { ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';
import { ArrivalToIntents } from '../decide.js';
import { InboxStore } from '../inbox-store.port.js';
import { JournalStore } from '../journal-store.port.js';
import { LineTurns, Looks } from '../line-turns.js';
import { LINES_AT_ONCE, WorkQueue } from '../work-queue.port.js';
import { CrashLoopGuard } from './crash-loop-guard.js';
import { BatchDecider } from './decide-arrivals.js';
import { DueDecider, LEFT_MS } from './decide-due.js';

/** Arrivals in one transaction: more would hold its locks for too long. While several organizations have turns here, fewer. */
const BATCH = { alone: 64, shared: 16 } as const;
/** So long after the turn of another organization. */
const SHARED_FOR_MS = 1_000;
/** A turn ends after this time, for others that wait. */
const TURN_MS = 250;
const EVENT_HANDS = { most: 33, refill: 8 } as const;
/** So long no other process takes the same event. One that takes longer may be decided twice, which is harmless. */
const EVENT_LEASE_MS = 2_000;
/** Events that are looked at while an organization has no rules. */
const LOOK = 500;

interface Undecided {
  readonly id: string;
  readonly org: string;
  /** Null = a run whose window is over. */
  readonly event: ForgeEvent | null;
}

/** Deals arrivals, events and runs whose window is over to those who decide them. */
@Injectable()
export class DecideTurns {
  private readonly running = new Set<Promise<boolean>>();
  private readonly events: LineTurns<Undecided>;
  private readonly looks = new Looks();
  private isStopping = false;
  /** Of the turn of arrivals that began last, and when one began that was of another. */
  private lastOrg: string | null = null;
  private changedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    @Inject(BatchDecider) private readonly arrivals: Pick<BatchDecider, 'decide'>,
    @Inject(ArrivalToIntents) private readonly flow: Pick<ArrivalToIntents, 'decideEvent' | 'checkWithoutRules'>,
    @Inject(DueDecider) private readonly due: Pick<DueDecider, 'decideRun'>,
    @Inject(CrashLoopGuard) private readonly watch: Pick<CrashLoopGuard, 'batch' | 'run' | 'settled'>,
    @Inject(WorkQueue) private readonly queue: Pick<WorkQueue, 'ring' | 'serve'>,
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'dueArrivals' | 'undecidedEvents' | 'claimEvents'>,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'dueRuns'>,
    @Inject(ActiveRevisions) private readonly revisions: Pick<ActiveRevisions, 'active'>,
    @Inject(Clock) private readonly clock: Pick<Clock, 'monotonicMs'>,
    logger: Logger,
  ) {
    this.events = new LineTurns<Undecided>(
      'events',
      {
        deal: async (org, most, except) => {
          const items = await this.undecided(org, most, except);
          return { items, isFull: items.length >= most };
        },
        isDue: async (org, except) => {
          const due = await Promise.all([
            journal.dueRuns(1 + except.size, org),
            inbox.undecidedEvents(1 + except.size, org),
          ]);
          return due.flat().some((id) => !except.has(id));
        },
        work: (item) => this.decide(item),
      },
      EVENT_HANDS,
      logger,
      clock,
    );
  }

  async start(): Promise<void> {
    const { queue, inbox } = this;
    const isDue = (org: string): Promise<boolean> =>
      this.looks.isDue(org, async () => (await inbox.dueArrivals(1, { org, except: [] })).length > 0);
    await queue.serve('arrivals', LINES_AT_ONCE.arrivals, (org, help) => this.turn('arrivals', org, help), isDue);
    const isEventDue = (org: string): Promise<boolean> => this.events.isDue(org);
    await queue.serve('events', LINES_AT_ONCE.events, (org, help) => this.turn('events', org, help), isEventDue);
  }

  /** @returns whether it left work behind that is due */
  turn(topic: 'arrivals' | 'events', org: string, help: () => void = () => undefined): Promise<boolean> {
    if (topic === 'events') return this.events.turn(org, help);
    if (this.lastOrg !== null && org !== this.lastOrg) this.changedAtMs = this.clock.monotonicMs();
    this.lastOrg = org;
    const running = this.turnOfArrivals(org, help).finally(() => this.running.delete(running));
    this.running.add(running);
    return running;
  }

  private async turnOfArrivals(org: string, help: () => void): Promise<boolean> {
    const { inbox, arrivals, watch, clock } = this;
    const endsAtMs = clock.monotonicMs() + TURN_MS;
    for (let isFirst = true; !this.isStopping; isFirst = false) {
      const isShared = clock.monotonicMs() - this.changedAtMs < SHARED_FOR_MS;
      const most = isShared ? BATCH.shared : BATCH.alone;
      let done = 0;
      const { dealt, isHeldUp } = await watch.batch(
        'arrival',
        (except) => inbox.dueArrivals(most, { org, except }),
        async (ids) => void (done = await arrivals.decide(ids)),
      );
      if (done > 0) this.looks.foundWork(org);
      // Of a batch that was done in part, the rest was too much for one transaction, or is in other hands by now: the next deal tells.
      if (dealt === 0 || isHeldUp || (dealt < most && done === dealt)) return false;
      if (isFirst) help();
      if (clock.monotonicMs() >= endsAtMs) return true;
    }
    return false;
  }

  private async decide({ id, org, event }: Undecided): Promise<number | null> {
    const { flow, watch, queue } = this;
    if (!event) return this.due.decideRun(id);
    let leaveMs: number | null = LEFT_MS;
    await watch.run('event', id, async () => void (leaveMs = await flow.decideEvent(event)));
    // The next of its object may stand behind it.
    if (leaveMs === null) queue.ring('events', org);
    return leaveMs;
  }

  /** Begins nothing more, and waits for what is in hand, at most so long: what is not decided then stays due. */
  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    const inHand = [...this.running, this.events.stop(), this.watch.settled()];
    await within(graceMs, Promise.allSettled(inHand)).catch(() => undefined);
  }

  private async undecided(org: string, most: number, except: ReadonlySet<string>): Promise<Undecided[]> {
    const { inbox, journal, revisions, flow } = this;
    const due = (await journal.dueRuns(most + except.size, org)).filter((id) => !except.has(id)).slice(0, most);
    const runs = due.map((id) => ({ id, org, event: null }));
    if (!(await revisions.active(org))) {
      for (const id of await inbox.undecidedEvents(LOOK, org)) await flow.checkWithoutRules(id);
      return runs;
    }
    if (runs.length === most) return runs;
    const events = await inbox.claimEvents(org, most - runs.length, [...except], EVENT_LEASE_MS);
    return [...runs, ...events.map((event) => ({ id: event.id, org, event }))];
  }
}
