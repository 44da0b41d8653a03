import { setTimeout as wait } from 'node:timers/promises';
import { backoffMs, type Growth } from '../core/backoff.js';
import { messageOf } from '../core/errors.js';
import { newId } from '../core/ids.js';
import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import { readMessage, textOf, type Message } from './messages.js';
import type { Notifications } from './notifications.port.js';

export interface ListenTimes {
  /** So long the own proof may take on its way back. */
  readonly proofMs: number;
  /** Between two proofs. */
  readonly proofEveryMs: number;
}

const LOST: Growth = { firstMs: 100, maxMs: 5_000, between: [0.5, 1] };
/** What drops notifications is there until somebody changes the deployment. */
const DROPPED: Growth = { firstMs: 10_000, maxMs: 300_000 };
const CLOSE_MS = 500;

const FIX =
  'let store.url reach PostgreSQL directly, or through a pooler in session mode, or set queue.url to a Redis; until then the sweep finds the work of other processes';

/** The connection stands, and the own proof did not come back over it. */
class Dropped extends Error {}

interface ListenerGiven {
  readonly self: string;
  readonly notifications: Notifications;
  readonly heard: (told: Message) => void;
  /** Texts come through, from now on; those before were missed. */
  readonly begins: () => void;
  readonly logger: Logger;
  readonly times: ListenTimes;
}

/**
 * Listens for as long as the process works: connects anew when the connection ends, and proves that texts come through. A pooler in transaction mode
 * takes LISTEN and gives the connection of the server to somebody else. So the proof is sent by another connection while this one does nothing: sent on
 * this one, it would come back with its own answer. Each proof also tells the other processes that this one listens.
 */
export class ProvenListener {
  /** Whether texts come through, as far as is known. */
  isProven = false;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #proof = '';
  #onProof: () => void = () => undefined;
  /** What the log was told last. */
  #state: 'flows' | 'lost' | 'dropped' | null = null;

  constructor(private readonly given: ListenerGiven) {}

  /** Safe to call again. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Tells the others that their wake-ups are not taken here any more. */
  async close(): Promise<void> {
    if (!this.#running || this.#stop.signal.aborted) return;
    this.#stop.abort();
    this.#onProof();
    const { notifications, self } = this.given;
    const leaving = Promise.all([notifications.send([textOf({ from: self, does: 'leave' })]), this.#running]);
    await within(CLOSE_MS, leaving).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#listen(() => (failures = 0));
      } catch (error) {
        this.isProven = false;
        if (signal.aborted) return;
        this.#tell(error);
        const growth = error instanceof Dropped ? DROPPED : LOST;
        await this.#pause(backoffMs(failures, growth));
        failures += 1;
      }
    }
  }

  /** Until the connection ends, or does not bring the own proof. */
  async #listen(proven: () => void): Promise<never> {
    const connection = await this.given.notifications.listen((text) => this.#take(text));
    try {
      for (;;) {
        await Promise.race([connection.ended, this.#prove()]);
        this.#stop.signal.throwIfAborted();
        proven();
        this.#begin();
        await Promise.race([connection.ended, this.#pause(this.given.times.proofEveryMs)]);
        this.#stop.signal.throwIfAborted();
      }
    } finally {
      await connection.close();
    }
  }

  async #prove(): Promise<void> {
    const { notifications, self, times } = this.given;
    const proof = newId();
    const back = new Promise<void>((resolve) => (this.#onProof = resolve));
    this.#proof = proof;
    await notifications.send([textOf({ from: self, does: 'listen', proof })]);
    await within(times.proofMs, back).catch(() => {
      throw new Dropped();
    });
  }

  #take(text: string): void {
    const told = readMessage(text);
    if (!told) return;
    if (told.from !== this.given.self) this.given.heard(told);
    else if (told.does === 'listen' && told.proof === this.#proof) this.#onProof();
  }

  #begin(): void {
    if (this.isProven) return;
    this.isProven = true;
    if (this.#state !== 'flows') this.given.logger.info({}, 'queue.wake-ups-flow');
    this.#state = 'flows';
    this.given.begins();
  }

  /** Each trouble is told once, until it is over. */
  #tell(error: unknown): void {
    const trouble = error instanceof Dropped ? 'dropped' : 'lost';
    if (this.#state === trouble) return;
    this.#state = trouble;
    if (trouble === 'dropped') this.given.logger.warn({ fix: FIX }, 'queue.wake-ups-dropped');
    else this.given.logger.warn({ reason: messageOf(error) }, 'queue.listener-lost');
  }

  /** Ends early at the stop. */
  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
  }
}
