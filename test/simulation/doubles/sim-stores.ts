import type { Clock } from '../../../src/core/clock.js';
import type { ForgeEvent } from '../../../src/core/event.js';
import type { Tick } from '../../../src/housekeeping/tick-store.js';
import { InMemoryInboxStore } from '../../fakes/in-memory-inbox-store.js';
import type { NewAttempt } from '../../../src/journal/journal-store.js';
import type { Attempt } from '../../../src/journal/run.js';
import { InMemoryJournalStore, type Row } from '../../fakes/in-memory-journal-store.js';
import { InMemoryTickStore } from '../../fakes/in-memory-tick-store.js';

/** One database: what the journal decided is not due in the inbox and among the ticks any more, in the same commit. */
export class SimStores {
  readonly journal: SimJournal;
  readonly inbox: SimInbox;
  readonly ticks: SimTicks;

  /** Null = database time. */
  private told: Date | null = null;

  constructor(clock: Clock) {
    this.journal = new SimJournal({ now: () => this.told ?? clock.now(), monotonicMs: () => clock.monotonicMs() });
    this.inbox = new SimInbox(this.journal);
    this.ticks = new SimTicks(this.journal);
  }

  /** For a planted bug: the clock of whoever asks, in the place of the database's. */
  async byClock<Result>(now: Date, ask: () => Promise<Result>): Promise<Result> {
    this.told = now;
    const answer = ask();
    this.told = null;
    return answer;
  }
}

/** As the fake one, and with what planted bugs leave out. */
class SimJournal extends InMemoryJournalStore {
  /** Claims look at their own row alone. */
  ignoresOthers = false;
  /** Whoever says so may send. */
  isUnfenced = false;

  constructor(private readonly time: Clock) {
    super(time);
  }

  override async markSent(intentId: string, epoch: number, attempt: NewAttempt): Promise<Attempt | null> {
    const row = this.isUnfenced ? [...this.peek()].find(({ intent }) => intent.id === intentId) : undefined;
    if (!row) return super.markSent(intentId, epoch, attempt);
    const current = row.intent.epoch;
    Object.assign(row, { intent: { ...row.intent, state: 'claimed' }, leaseUntilMs: this.time.now().getTime() + 5_000 });
    const written = await super.markSent(intentId, current, attempt);
    const kept = this.peekAttempts().find(({ id }) => id === attempt.id);
    if (kept) Object.assign(kept, { epoch });
    return written;
  }

  protected override isClaimable(row: Row): boolean {
    return this.ignoresOthers ? row.intent.state === 'planned' : super.isClaimable(row);
  }
}

class SimInbox extends InMemoryInboxStore {
  constructor(private readonly journal: InMemoryJournalStore) {
    super();
  }

  protected override isDecided(eventId: string): boolean {
    return this.journal.decidedEvents.has(eventId);
  }

  override async undecidedEvents(limit: number): Promise<string[]> {
    const open = this.allEvents().filter((event: ForgeEvent) => !this.journal.decidedEvents.has(event.id));
    return open.slice(0, limit).map(({ id }) => id);
  }
}

class SimTicks extends InMemoryTickStore {
  constructor(private readonly journal: InMemoryJournalStore) {
    super();
  }

  override async due(limit: number): Promise<Tick[]> {
    for (const row of this.rows) if (this.journal.decidedTicks.has(row.id)) row.state = 'decided';
    return super.due(limit);
  }
}
