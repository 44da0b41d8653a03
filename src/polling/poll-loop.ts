import { Inject, Injectable } from '@nestjs/common';
import { backoffMs } from '../platform/backoff.js';
import { alert, Alerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import { Random } from '../core/random.js';
import { isOrgStopped } from '../forge/org-numbers.js';
import { PollLeases } from './poll-leases.js';
import { PollPaces } from './poll-paces.js';
import { Pollers, type Polled } from './pollers.js';

interface Turn {
  dueAtMs: number;
  /** Null before the first poll. */
  endedAtMs: number | null;
  failures: number;
  running: Promise<void> | null;
}

/** Failures in a row that raise an alert; single ones are usual. */
const ALERT_AFTER = 3;
const MAX_WAIT_MS = 300_000;
/** Keeps pollers of many organizations from starting at the same time. */
const JITTER = [0.9, 1.1] as const;

/** Decides which sources are due, of the forges that this process polls; a timer of the framework calls it. Polls of one source never overlap. */
@Injectable()
export class PollLoop {
  private readonly turns = new Map<string, Turn>();
  private isStopped = false;

  constructor(
    @Inject(Pollers) private readonly pollers: Pick<Pollers, 'list'>,
    @Inject(PollLeases) private readonly leases: Pick<PollLeases, 'holds' | 'noteOutcome' | 'release'>,
    @Inject(PollPaces) private readonly paces: Pick<PollPaces, 'plan' | 'everyMs' | 'noteCalls' | 'forget'>,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly logger: Logger,
    private readonly alerts: Alerts,
  ) {}

  wake(): void {
    if (this.isStopped) return;
    const now = this.clock.monotonicMs();
    const sources = this.pollers.list();
    if (sources.length < this.turns.size) this.forget(new Set(sources.map(({ name }) => name)));
    const own = sources.filter(({ forge }) => this.leases.holds(forge));
    this.paces.plan(own);
    for (const source of own) {
      const turn = this.turnOf(source, now);
      if (turn.running || !this.isDue(source, turn, now)) continue;
      turn.running = this.pollOnce(source, turn).finally(() => (turn.running = null));
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.turns.values()].map(({ running }) => running ?? Promise.resolve()));
    await this.leases.release();
  }

  /** Of an organization that a reload took away. */
  private forget(names: ReadonlySet<string>): void {
    for (const [name, turn] of this.turns) {
      if (names.has(name) || turn.running) continue;
      this.turns.delete(name);
      this.paces.forget(name);
      this.alerts.resolve(`poller.failing/${name}`);
    }
  }

  private turnOf(source: Polled, now: number): Turn {
    const earlier = this.turns.get(source.name);
    if (earlier) return earlier;
    const turn: Turn = { dueAtMs: now + (source.startAfterMs ?? 0), endedAtMs: null, failures: 0, running: null };
    this.turns.set(source.name, turn);
    return turn;
  }

  /** What presses since its last poll, or had a longer period then, does not wait for the end of that. */
  private isDue(source: Polled, { dueAtMs, endedAtMs, failures }: Turn, now: number): boolean {
    if (dueAtMs <= now) return true;
    return failures === 0 && endedAtMs !== null && endedAtMs + this.paces.everyMs(source) * JITTER[1] <= now;
  }

  private async pollOnce(source: Polled, turn: Turn): Promise<void> {
    const { clock, random, logger, alerts } = this;
    try {
      this.paces.noteCalls(source, await source.poll());
      turn.failures = 0;
      this.leases.noteOutcome(source.forge, true);
      alerts.resolve(`poller.failing/${source.name}`);
    } catch (error) {
      // A read that the shutdown cut off is no failure of the forge.
      if (this.isStopped) return;
      // An organization that is stopped has an alert of its own.
      if (!isOrgStopped(error)) {
        turn.failures += 1;
        this.leases.noteOutcome(source.forge, false);
      }
      logger.warn({ source: source.name, failures: turn.failures, error }, 'poll.failed');
      if (turn.failures >= ALERT_AFTER)
        alerts.raise(
          `poller.failing/${source.name}`,
          alert('poller.failing', { source: source.name, org: source.org, failures: turn.failures }),
          { source: source.name, failures: turn.failures },
        );
    }
    const firstMs = turn.failures === 0 ? this.paces.everyMs(source) : source.everyMs;
    const growth = { firstMs, maxMs: Math.max(firstMs, MAX_WAIT_MS), between: JITTER };
    turn.endedAtMs = clock.monotonicMs();
    turn.dueAtMs = turn.endedAtMs + backoffMs(turn.failures, growth, () => random.next());
  }
}
