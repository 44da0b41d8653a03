import { alert, type Alerts } from '../../core/alerts.js';
import type { Clock } from '../../core/clock.js';
import type { Logger } from '../../core/logger.js';
import { defineReasons, textOf } from '../../core/reason.js';
import type { PoisonMessageStore, WatchedTopic } from '../poison-message-store.port.js';

interface CrashLoopGuardDeps {
  readonly store: PoisonMessageStore;
  readonly clock: Clock;
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly logger: Logger;
}

interface CrashLoopGuardOptions {
  /** Names this process. */
  readonly owner: string;
  /** When this process started. */
  readonly startedAt: Date;
  readonly leaseMs?: number;
  /** How long this process lives before it takes what another died with, and as long again for each further death: others go first. Default 10_000. */
  readonly aloneAfterMs?: number;
}

const quarantined = defineReasons({
  'work.processes-ended': ({ deaths, id }: { deaths: number; id: string }) =>
    `${deaths} processes ended while they decided it: nobody decides it again until \`forgehand release ${id}\``,
});

/** So many deaths, and it is left alone. */
const MAX_DEATHS = 3;
/** What is so old should have been decided long ago: whoever had it may have died. */
const OLD_MS = 30_000;
const LEASE_MS = 5_000;
const ALONE_AFTER_MS = 10_000;

/**
 * Work that ends its process would end it again and again, and hold up everything else. Ordinary work is done as it comes. What lay there when
 * this process started is written down before it begins; what a process died with is taken later, and with nothing else in hand, so that
 * nobody else is blamed; and what was in hand at three deaths is quarantined. A process that is killed from outside may have had anything in
 * hand: the second death and the third need each that it had this alone, and the third that it had lived twice as long.
 */
export class CrashLoopGuard {
  private readonly inHand = new Set<string>();
  private isAlone = false;
  private readonly bornMs: number;

  constructor(
    private readonly deps: CrashLoopGuardDeps,
    private readonly options: CrashLoopGuardOptions,
  ) {
    this.bornMs = deps.clock.monotonicMs();
  }

  /**
   * What is not done now stays due: the sweep brings it again.
   * @param work is told whether a process died with it before, and it is therefore done alone
   */
  async run(topic: WatchedTopic, id: string, work: (isAlone?: boolean) => Promise<void>): Promise<void> {
    const key = `${topic}/${id}`;
    if (!this.isSuspect(id)) return work();
    if (this.isAlone || this.inHand.has(key)) return;
    this.inHand.add(key);
    try {
      const deaths = (await this.begin(topic, id, 0)) ?? (await this.beginAlone(topic, id, key));
      if (deaths === null) return;
      if (deaths >= MAX_DEATHS) return await this.quarantine(topic, id, deaths);
      await this.work(topic, id, () => work(deaths > 0));
    } finally {
      this.inHand.delete(key);
      if (this.isAlone && this.inHand.size === 0) this.isAlone = false;
    }
  }

  private begin(topic: WatchedTopic, id: string, dares: number): Promise<number | null> {
    const { owner, leaseMs = LEASE_MS } = this.options;
    return this.deps.store.begin({ topic, id, owner, leaseMs, dares });
  }

  /** What a process died with: when nothing else is in hand here, and this process has lived for a while. */
  private async beginAlone(topic: WatchedTopic, id: string, key: string): Promise<number | null> {
    const { aloneAfterMs = ALONE_AFTER_MS } = this.options;
    const livedMs = this.deps.clock.monotonicMs() - this.bornMs;
    // Many are answered at once that a process died with: they do not keep each other waiting.
    this.inHand.delete(key);
    if (this.isAlone || this.inHand.size > 0 || livedMs < aloneAfterMs) return null;
    // Before the answer, or others would begin meanwhile.
    this.isAlone = true;
    this.inHand.add(key);
    return this.begin(topic, id, aloneAfterMs === 0 ? MAX_DEATHS : Math.floor(livedMs / aloneAfterMs));
  }

  private async work(topic: WatchedTopic, id: string, work: () => Promise<void>): Promise<void> {
    const { owner, leaseMs = LEASE_MS } = this.options;
    const renew = (): void => void this.deps.store.renew(topic, id, owner, leaseMs).catch(() => undefined);
    const timer = setInterval(renew, leaseMs / 3);
    timer.unref();
    try {
      await work();
    } finally {
      clearInterval(timer);
      await this.deps.store.end(topic, id, owner);
    }
  }

  private async quarantine(topic: WatchedTopic, id: string, deaths: number): Promise<void> {
    const { store, alerts, logger } = this.deps;
    const because = quarantined('work.processes-ended', { deaths, id });
    await store.quarantine(topic, id, textOf(because));
    logger.error({ topic, id, deaths }, 'work.quarantined');
    alerts.raise(`work.quarantined/${id}`, alert('work.quarantined', { topic, id, because }), { topic, id });
  }

  private isSuspect(id: string): boolean {
    const bornMs = timeOf(id);
    if (bornMs === null) return false;
    return bornMs < this.options.startedAt.getTime() || this.deps.clock.now().getTime() - bornMs > OLD_MS;
  }
}

/** Ids tell when they were made (UUID version 7): milliseconds since 1970; null for any other id. */
function timeOf(id: string): number | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id);
  return match ? parseInt(`${match[1]}${match[2]}`, 16) : null;
}
