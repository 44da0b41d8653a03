import { portToken } from '../core/part.js';

/**
 * `arrival`: decide a stored arrival. `event`: match an event against rules. `intent`: execute an intent that an event caused; `background`:
 * one that a schedule or a plan caused, which nobody waits for. An intent that is announced under the other topic is executed all the same.
 */
export type Topic = 'arrival' | 'event' | 'intent' | 'background';
export const TOPICS: readonly Topic[] = ['arrival', 'event', 'intent', 'background'];

/**
 * Wake-ups only: a job carries ids and nothing else, and an id may come twice, late or never. The sweep over the store finds due
 * work that no job announced, so `announce` must never throw and never hang (it is raced against a timer).
 */
export interface WakeQueue {
  /** @param org whose they are, so that no organization waits behind the flood of another; absent = nobody knows, as with what the sweep finds */
  announce(topic: Topic, ids: readonly string[], org?: string): Promise<void>;
  /** At most `concurrency` handlers of the topic at once, of one organization one less. A handler that throws is logged; the sweep tries again. */
  consume(topic: Topic, concurrency: number, handle: (id: string) => Promise<void>): Promise<void>;
  /** Optional: in queues that keep nothing for later. `look` is called when wake-ups may have been missed. */
  whenMissed?(look: () => void): void;
  /** Whether wake-ups flow now (false = only the sweep works). */
  healthy(): Promise<boolean>;
  /** Stop taking, wait for running handlers (at most `graceMs`), close connections. */
  close(graceMs: number): Promise<void>;
}

export const WAKE_QUEUE = portToken<WakeQueue>('WakeQueue');
