import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { ThisProcess } from '../../config/this-process.js';
import { alert, Alerts } from '../../core/alerts.js';
import { Clock } from '../../core/clock.js';
import { madeAtMs } from '../../core/ids.js';
import { messageOf } from '../../core/errors.js';
import { Logger } from '../../core/logger.js';
import { defineReasons, textOf } from '../../core/reason.js';
import { PoisonMessageStore, type WatchedTopic } from '../poison-message-store.port.js';

@Injectable()
export class CrashLoopTimes {
  /** What a process that died had in hand is free for others after this time. */
  readonly leaseMs: number = 5_000;
  /** How long this process lives before it takes what another died with, and six times as long for what two died with: others go first. */
  readonly aloneAfterMs: number = 10_000;
}

const quarantined = defineReasons({
  'work.processes-ended': ({ deaths, id }: { deaths: number; id: string }) =>
    `${deaths} processes ended while they decided it: nobody decides it again until \`forgehand release ${id}\``,
});

type Work = () => Promise<void>;
/** Decides about these together. */
type BatchWork = (ids: readonly string[]) => Promise<void>;

/** So many deaths, and it is left alone. */
const MAX_DEATHS = 3;
/** What is so old should have been decided long ago: whoever had it may have died. */
const OLD_MS = 30_000;
/** What is not to be had yet is asked for again after so long. */
const LOOK_AGAIN_MS = 1_000;
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
 * six for the 64 arrivals of a batch. Taking them one by one costs a wait of ten seconds, and then one decision at a time;
 * new work goes on beside it.
 */
@Injectable()
export class CrashLoopGuard {
  private readonly inHand = new Set<string>();
  /** What a process died with, and waits here to be taken alone. */
  private readonly waiting = new Set<string>();
  private readonly oneByOne = pLimit(1);
  private readonly running = new Set<Promise<void>>();
  private isAlone = false;
  /** Called when nothing is in hand any more. */
  private emptied = (): void => undefined;
  /** What could not be taken alone, and the age of this process at which it is tried again: each try keeps others waiting. */
  private readonly refused = new LRUCache<string, number>({ max: REFUSED_KEPT });
  private readonly bornMs: number;

  constructor(
    private readonly store: PoisonMessageStore,
    @Inject(ThisProcess) private readonly self: Pick<ThisProcess, 'name' | 'startedAt'>,
    private readonly times: CrashLoopTimes,
    private readonly clock: Clock,
    @Inject(Alerts) private readonly alerts: Pick<Alerts, 'raise'>,
    private readonly logger: Logger,
  ) {
    this.bornMs = clock.monotonicMs();
  }

  /**
   * What is not done now stays due: the next turn brings it again.
   */
  async run(topic: WatchedTopic, id: string, work: Work): Promise<void> {
    const key = keyOf(topic, id);
    if (!this.isSuspect(id)) return work();
    if (this.isAlone || this.inHand.has(key) || this.waiting.has(key)) return;
    const begun = await this.hold(topic, [id], 0, async (heldIds) => (heldIds.size > 0 ? work() : undefined));
    if (begun.size === 0) await this.inItsTurn(topic, id, work);
  }

  /**
   * A turn of a line: what is dealt to it is decided together, but for what a process died with, which is decided alone, beside the turn.
   * @param deal what is due, without these
   * @returns how many were dealt; `isHeldUp`: something is decided alone now, and what lies there waits for it
   */
  async batch(
    topic: WatchedTopic,
    deal: (except: readonly string[]) => Promise<readonly string[]>,
    work: BatchWork,
  ): Promise<{ readonly dealt: number; readonly isHeldUp: boolean }> {
    const ids = await deal(this.leftAlone(topic));
    const suspects = ids.filter((id) => this.isSuspect(id));
    const isHeldUp = suspects.length > 0 && this.isAlone;
    const workOn = async (heldIds: ReadonlySet<string>): Promise<void> => {
      const together = ids.filter((id) => heldIds.has(id) || !suspects.includes(id));
      if (together.length > 0) await work(together);
    };
    if (suspects.length === 0 || isHeldUp) await workOn(new Set());
    else {
      const begun = await this.hold(topic, suspects, 0, workOn);
      for (const id of suspects) if (!begun.has(id)) this.setAside(topic, id, () => work([id]));
    }
    return { dealt: ids.length, isHeldUp };
  }

  /** Another process may have it in hand, which began it a moment before. Only what is still due a moment later, and not to be had, is what one died with. */
  private setAside(topic: WatchedTopic, id: string, work: Work): void {
    const key = keyOf(topic, id);
    if (this.refused.has(key)) this.beside(this.inItsTurn(topic, id, work));
    else this.refused.set(key, this.livedMs() + LOOK_AGAIN_MS);
  }

  /** Waits for what is decided alone. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private beside(work: Promise<void>): void {
    const running = work
      .catch((error: unknown) => this.logger.error({ reason: messageOf(error) }, 'turn.work-failed'))
      .finally(() => this.running.delete(running));
    this.running.add(running);
  }

  /** What waits to be taken alone, or was not to be had a moment ago. */
  private leftAlone(topic: WatchedTopic): string[] {
    const livedMs = this.livedMs();
    const refused = [...this.refused].filter(([, untilMs]) => untilMs > livedMs).map(([key]) => key);
    const prefix = keyOf(topic, '');
    return [...this.waiting, ...this.inHand, ...refused].flatMap((key) =>
      key.startsWith(prefix) ? [key.slice(prefix.length)] : [],
    );
  }

  /** A process that dies has many in hand: they go one after another here, for each turn would bring one on. */
  private async inItsTurn(topic: WatchedTopic, id: string, work: Work): Promise<void> {
    const key = keyOf(topic, id);
    if (this.waiting.has(key)) return;
    this.waiting.add(key);
    await this.oneByOne(async () => {
      this.waiting.delete(key);
      await this.takeAlone(topic, id, key, work);
    });
  }

  /** What a process died with: when nothing else is in hand here, and this process has lived for a while. */
  private async takeAlone(topic: WatchedTopic, id: string, key: string, work: Work): Promise<void> {
    const { aloneAfterMs } = this.times;
    const livedMs = this.livedMs();
    if (livedMs < aloneAfterMs) this.refused.set(key, Math.min(aloneAfterMs, livedMs + LOOK_AGAIN_MS));
    if (livedMs < (this.refused.get(key) ?? 0)) return;
    // Before the first wait, or others would begin meanwhile: each turn brings them, and it would never be alone.
    this.isAlone = true;
    try {
      const dares = livedMs < LAST_AFTER_TIMES * aloneAfterMs ? 1 : MAX_DEATHS - 1;
      const isTaken =
        (await this.hasNothingInHand()) &&
        (
          await this.hold(topic, [id], aloneAfterMs === 0 ? MAX_DEATHS : dares, async (heldIds) =>
            heldIds.size > 0 ? work() : undefined,
          )
        ).size > 0;
      if (!isTaken) this.refused.set(key, this.livedMs() + aloneAfterMs);
    } finally {
      this.isAlone = false;
    }
  }

  private livedMs(): number {
    return this.clock.monotonicMs() - this.bornMs;
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

  /**
   * Works on those that it can have, written down meanwhile.
   * @returns which of them: the others are in other hands, or had more deaths than are dared
   */
  private async hold(
    topic: WatchedTopic,
    ids: readonly string[],
    dares: number,
    work: (heldIds: ReadonlySet<string>) => Promise<void>,
  ): Promise<ReadonlySet<string>> {
    const { leaseMs } = this.times;
    const { name: owner } = this.self;
    const { store } = this;
    const keys = ids.map((id) => keyOf(topic, id));
    for (const key of keys) this.inHand.add(key);
    try {
      const begun = await store.begin({ topic, ids, owner, leaseMs, dares });
      const heldIds = new Set<string>();
      for (const [id, deaths] of begun)
        if (deaths >= MAX_DEATHS) await this.quarantine(topic, id, deaths);
        else heldIds.add(id);
      const renew = (): void => void store.renew(topic, [...heldIds], owner, leaseMs).catch(() => undefined);
      const timer = heldIds.size > 0 ? setInterval(renew, leaseMs / 3) : null;
      timer?.unref();
      try {
        await work(heldIds);
      } finally {
        if (timer) clearInterval(timer);
        if (heldIds.size > 0) await store.end(topic, [...heldIds], owner);
      }
      return new Set(begun.keys());
    } finally {
      for (const key of keys) this.inHand.delete(key);
      if (this.inHand.size === 0) this.emptied();
    }
  }

  private async quarantine(topic: WatchedTopic, id: string, deaths: number): Promise<void> {
    const { store, alerts, logger } = this;
    const because = quarantined('work.processes-ended', { deaths, id });
    await store.quarantine(topic, id, textOf(because));
    logger.error({ topic, id, deaths }, 'work.quarantined');
    alerts.raise(`work.quarantined/${id}`, alert('work.quarantined', { topic, id, because }), { topic, id });
  }

  private isSuspect(id: string): boolean {
    const bornMs = madeAtMs(id);
    if (bornMs === null) return false;
    return bornMs < this.self.startedAt.getTime() || this.clock.now().getTime() - bornMs > OLD_MS;
  }
}

function keyOf(topic: WatchedTopic, id: string): string {
  return `${topic}/${id}`;
}
