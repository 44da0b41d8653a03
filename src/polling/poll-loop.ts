import { Inject, Injectable } from '@nestjs/common';
import { backoffMs } from '../platform/backoff.js';
import { alert, Alerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import { Random } from '../core/random.js';
import { isOrgStopped } from '../forge/org-numbers.js';
import { PollLeases } from './poll-leases.js';
import { Pollers, type Polled } from './pollers.js';

interface Turn {
  dueAtMs: number;
  failures: number;
  running: Promise<void> | null;
}

/** Failures in a row that raise an alert; single ones are usual. */
const ALERT_AFTER = 3;
const MAX_WAIT_MS = 300_000;
/** How much sooner a pressing source has its next turn. */
const FAST = 0.25;
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
    for (const source of sources) {
      if (!this.leases.holds(source.forge)) continue;
      const turn = this.turnOf(source, now);
      if (turn.running || turn.dueAtMs > now) continue;
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
      this.alerts.resolve(`poller.failing/${name}`);
    }
  }

  private turnOf(source: Polled, now: number): Turn {
    const earlier = this.turns.get(source.name);
    if (earlier) return earlier;
    const turn: Turn = { dueAtMs: now + (source.startAfterMs ?? 0), failures: 0, running: null };
    this.turns.set(source.name, turn);
    return turn;
  }

  private async pollOnce(source: Polled, turn: Turn): Promise<void> {
    const { clock, random, logger, alerts } = this;
    try {
      await source.poll();
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
    const everyMs = turn.failures === 0 && source.isPressing?.() ? source.everyMs * FAST : source.everyMs;
    const growth = { firstMs: everyMs, maxMs: Math.max(source.everyMs, MAX_WAIT_MS), between: JITTER };
    turn.dueAtMs = clock.monotonicMs() + backoffMs(turn.failures, growth, () => random.next());
  }
}
