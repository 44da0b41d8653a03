import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { alert, type Alerts } from '../../core/alerts.js';
import type { Clock } from '../../core/clock.js';
import { madeAtMs } from '../../core/ids.js';
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
  /** How long this process lives before it takes what another died with, and six times as long for what two died with: others go first. Default 10_000. */
  readonly aloneAfterMs?: number;
}

const quarantined = defineReasons({
  'work.processes-ended': ({ deaths, id }: { deaths: number; id: string }) =>
    `${deaths} processes ended while they decided it: nobody decides it again until \`forgehand release ${id}\``,
});

type Work = (isAlone?: boolean) => Promise<void>;

/** So many deaths, and it is left alone. */
const MAX_DEATHS = 3;
/** What is so old should have been decided long ago: whoever had it may have died. */
const OLD_MS = 30_000;
const LEASE_MS = 5_000;
const ALONE_AFTER_MS = 10_000;
const LAST_AFTER_TIMES = 6;
/** So long what is to be taken alone waits until nothing else is in hand. */
const WAITS_FOR_OTHERS_MS = 5_000;
/** Of so much it is remembered that it was not to be had. What is forgotten is asked for once more, which does no harm. */
const REFUSED_KEPT = 1_000;

/**
 * Work that ends its process would end it again and again, and hold up everything else. Ordinary work is done as it comes. What lay there when
 * this process started is written down before it begins; what a process died with is taken later, and with nothing else in hand, so that
 * nobody else is blamed; and what was in hand at three deaths is quarantined. A process that is killed from outside may have had anything in
 * hand: the second death and the third need each that it had this alone, and the third that it had lived for a minute. Processes that live no longer
 * die of something else: a decision may hold its work for seconds, while it waits for a slow forge or a busy store, so that one kill in a few meets it.
 *
 * Three deaths are enough for one poison message, however many others were in hand: the first death makes suspects of all of them, the second
 * one finds the poison among them, and the third one confirms it. Halving the suspects would need log2 N deaths in place of the second one:
 * seven for the 129 arrivals that a worker takes at once. Taking them one by one costs a wait of ten seconds, and then one decision at a time;
 * new work goes on beside it.
 */
export class CrashLoopGuard {
  private readonly inHand = new Set<string>();
  /** What a process died with, and waits here to be taken alone. */
  private readonly waiting = new Set<string>();
  private readonly oneByOne = pLimit(1);
  private isAlone = false;
  /** Called when nothing is in hand any more. */
  private emptied = (): void => undefined;
  /** What could not be taken alone, and the age of this process at which it is tried again: each try keeps others waiting. */
  private readonly refused = new LRUCache<string, number>({ max: REFUSED_KEPT });
  private readonly bornMs: number;

  constructor(
    private readonly deps: CrashLoopGuardDeps,
    private readonly options: CrashLoopGuardOptions,
  ) {
    this.bornMs = deps.clock.monotonicMs();
  }

  /**
   * What is not done now stays due: the next turn brings it again.
   * @param work is told whether a process died with it before, and it is therefore done alone
   */
  async run(topic: WatchedTopic, id: string, work: Work): Promise<void> {
    const key = `${topic}/${id}`;
    if (!this.isSuspect(id)) return work();
    if (this.isAlone || this.inHand.has(key) || this.waiting.has(key)) return;
    if (await this.take(topic, id, key, 0, work)) return;
    // A process that dies has many in hand: they go one after another here, for each turn would bring one on.
    this.waiting.add(key);
    await this.oneByOne(async () => {
      this.waiting.delete(key);
      await this.takeAlone(topic, id, key, work);
    });
  }

  /** What a process died with: when nothing else is in hand here, and this process has lived for a while. */
  private async takeAlone(topic: WatchedTopic, id: string, key: string, work: Work): Promise<void> {
    const { aloneAfterMs = ALONE_AFTER_MS } = this.options;
    const livedMs = this.livedMs();
    if (livedMs < aloneAfterMs || livedMs < (this.refused.get(key) ?? 0)) return;
    // Before the first wait, or others would begin meanwhile: each turn brings them, and it would never be alone.
    this.isAlone = true;
    try {
      const dares = livedMs < LAST_AFTER_TIMES * aloneAfterMs ? 1 : MAX_DEATHS - 1;
      const isTaken =
        (await this.hasNothingInHand()) &&
        (await this.take(topic, id, key, aloneAfterMs === 0 ? MAX_DEATHS : dares, work));
      if (!isTaken) this.refused.set(key, this.livedMs() + aloneAfterMs);
    } finally {
      this.isAlone = false;
    }
  }

  private livedMs(): number {
    return this.deps.clock.monotonicMs() - this.bornMs;
  }

  /** Waits for it, but not for a decision that takes long: it may itself wait for a slow forge. */
  private async hasNothingInHand(): Promise<boolean> {
    if (this.inHand.size > 0)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, WAITS_FOR_OTHERS_MS);
        timer.unref();
        this.emptied = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    return this.inHand.size === 0;
  }

  /** @returns false when others have it, or it had more deaths than are dared */
  private async take(topic: WatchedTopic, id: string, key: string, dares: number, work: Work): Promise<boolean> {
    const { owner, leaseMs = LEASE_MS } = this.options;
    this.inHand.add(key);
    try {
      const deaths = await this.deps.store.begin({ topic, id, owner, leaseMs, dares });
      if (deaths === null) return false;
      if (deaths >= MAX_DEATHS) await this.quarantine(topic, id, deaths);
      else await this.work(topic, id, () => work(deaths > 0));
      return true;
    } finally {
      this.inHand.delete(key);
      if (this.inHand.size === 0) this.emptied();
    }
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
    const bornMs = madeAtMs(id);
    if (bornMs === null) return false;
    return bornMs < this.options.startedAt.getTime() || this.deps.clock.now().getTime() - bornMs > OLD_MS;
  }
}
