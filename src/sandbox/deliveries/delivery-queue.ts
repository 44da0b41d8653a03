import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Clock } from '../../core/clock.js';
import { buildDeliveryRequest, type DeliveryStyle, type HookTarget } from './delivery-request.js';
import { DeliveryFaults, type CopyId } from './delivery-faults.js';
import type { HookEventType } from './hook-events.js';
import { postDelivery, type DeliveryOutcome } from './post-delivery.js';

export interface QueuedHook extends HookTarget {
  readonly id: string;
}

/** What is to be told to one hook. */
export interface DeliveryText {
  readonly type: HookEventType;
  readonly json: string;
  /** The body's `action`, for the history. */
  readonly action: string | null;
}

export interface DeliveryRecord {
  /** In the order of queueing, from 1. */
  readonly n: number;
  /** The delivery id as sent. */
  readonly id: string;
  readonly hook: QueuedHook;
  readonly text: DeliveryText;
  readonly isForged: boolean;
  /** Id of the delivery this is a copy of. */
  readonly copyOf: string | null;
  readonly createdAt: Date;
  state: 'waiting' | 'sent' | 'failed' | 'dropped';
  /** Status of the receiver's answer. */
  status: number | null;
  error: string | null;
}

export interface SavedDeliveries {
  readonly records: readonly DeliveryRecord[];
  readonly count: number;
}

interface DeliveryQueueOptions {
  readonly style: DeliveryStyle;
  readonly clock: Clock;
  /** Default 5_000, as the real servers. */
  readonly timeoutMs?: number;
}

const KEPT = 10_000;
/** What is to go out in another order waits no longer for company. */
const WINDOW_MS = 1_000;

/**
 * Sends deliveries in the background: each once, in order per hook, hooks independent of each other. The history keeps the last ten
 * thousand. Faults asked for (`faults`) are decided when a delivery is queued, so that they follow the order of the acts.
 */
export class DeliveryQueue {
  readonly faults = new DeliveryFaults();
  readonly #options: DeliveryQueueOptions;
  readonly #agent = new Agent({ connections: 4 });
  readonly #records: DeliveryRecord[] = [];
  readonly #queues = new Map<string, Promise<void>>();
  /** Held back: sent when their time comes. */
  readonly #delayed = new Map<NodeJS.Timeout, () => void>();
  #window: DeliveryRecord[] = [];
  #windowTimer: NodeJS.Timeout | null = null;
  #count = 0;
  #isClosed = false;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
  }

  send(hook: QueuedHook, text: DeliveryText): DeliveryRecord {
    const fate = this.faults.meet({ hook: hook.id, eventType: text.type });
    const record = this.#add(hook, text, randomUUID(), null, false);
    if (fate.isDropped) record.state = 'dropped';
    else if (fate.delayMs > 0) this.#later(record, fate.delayMs);
    else this.#inOrderOrNot(record);
    if (fate.copy !== null) this.resend(record, fate.copy);
    return record;
  }

  /** Send a delivery again, under its own or a new id; never dropped. */
  resend(original: DeliveryRecord, id: CopyId): DeliveryRecord {
    const record = this.#add(
      original.hook,
      original.text,
      id === 'same' ? original.id : randomUUID(),
      original.id,
      original.isForged,
    );
    this.#post(record);
    return record;
  }

  /** Send a delivery again, signed by somebody who does not know the hook's secret nor its authorization. */
  forge(original: DeliveryRecord): DeliveryRecord {
    const { hook } = original;
    const authorizationHeader = hook.authorizationHeader === '' ? '' : `Bearer ${randomUUID()}`;
    const record = this.#add(
      { ...hook, secret: randomUUID(), authorizationHeader },
      original.text,
      randomUUID(),
      original.id,
      true,
    );
    this.#post(record);
    return record;
  }

  /** Oldest first. */
  history(): readonly DeliveryRecord[] {
    return this.#records;
  }

  /** Resolves when nothing waits any more, also nothing that came in meanwhile. */
  async settled(): Promise<void> {
    while (this.#queues.size + this.#delayed.size + this.#window.length > 0) {
      this.#sendWindow();
      await (this.#queues.size > 0 ? Promise.all(this.#queues.values()) : wait(10));
    }
  }

  /** For the state file: the history, and what was not sent yet. */
  save(): SavedDeliveries {
    return { records: this.#records, count: this.#count };
  }

  /** What a stop kept from going out goes out now. */
  restore({ records, count }: SavedDeliveries): void {
    this.#records.push(...records);
    this.#count = count;
    for (const record of records) if (record.state === 'waiting') this.#post(record);
  }

  /** Ends connections; what still waits is not sent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [timer, send] of this.#delayed) {
      clearTimeout(timer);
      send();
    }
    await this.#agent.destroy();
    await this.settled();
  }

  #add(hook: QueuedHook, text: DeliveryText, id: string, copyOf: string | null, isForged: boolean): DeliveryRecord {
    this.#count += 1;
    const record: DeliveryRecord = {
      n: this.#count,
      id,
      hook,
      text,
      isForged,
      copyOf,
      createdAt: this.#options.clock.now(),
      state: 'waiting',
      status: null,
      error: null,
    };
    this.#records.push(record);
    if (this.#records.length > KEPT) this.#records.shift();
    return record;
  }

  #later(record: DeliveryRecord, ms: number): void {
    const send = (): void => {
      this.#delayed.delete(timer);
      this.#post(record);
    };
    const timer = setTimeout(send, ms);
    this.#delayed.set(timer, send);
  }

  #inOrderOrNot(record: DeliveryRecord): void {
    const { reordering } = this.faults;
    if (!reordering) return this.#post(record);
    this.#window.push(record);
    if (this.#window.length >= reordering.window) return this.#sendWindow();
    this.#windowTimer ??= setTimeout(() => this.#sendWindow(), WINDOW_MS);
  }

  #sendWindow(): void {
    if (this.#windowTimer) clearTimeout(this.#windowTimer);
    this.#windowTimer = null;
    const window = this.#window;
    this.#window = [];
    const order = this.faults.reordering?.random.shuffle(window) ?? window;
    this.faults.reordered(order.filter((record, place) => record !== window[place]).length);
    for (const record of order) this.#post(record);
  }

  #post(record: DeliveryRecord): void {
    const hookId = record.hook.id;
    const before = this.#queues.get(hookId) ?? Promise.resolve();
    const after = before
      .then(() => this.#sendNow(record))
      .then(() => {
        if (this.#queues.get(hookId) === after) this.#queues.delete(hookId);
      });
    this.#queues.set(hookId, after);
  }

  async #sendNow(record: DeliveryRecord): Promise<void> {
    // Stays waiting: with a state file it goes out after the next start.
    if (this.#isClosed) return;
    const outcome = await this.#exchange(record);
    record.status = outcome.status;
    record.error = outcome.error;
    record.state = outcome.status !== null && outcome.status >= 200 && outcome.status < 300 ? 'sent' : 'failed';
  }

  #exchange(record: DeliveryRecord): Promise<DeliveryOutcome> {
    const request = buildDeliveryRequest(
      record.hook,
      { id: record.id, type: record.text.type, json: record.text.json },
      this.#options.style,
    );
    return postDelivery(record.hook.url, request, {
      dispatcher: this.#agent,
      timeoutMs: this.#options.timeoutMs ?? 5_000,
    });
  }
}
