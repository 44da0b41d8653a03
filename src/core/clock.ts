import { portToken } from './part.js';

/** Time as a port: deciding code never reads a clock of its own. */
export interface Clock {
  /** Wall time, for facts that people read. */
  now(): Date;
  /** Milliseconds that only grow, for durations and guards. */
  monotonicMs(): number;
}

export const CLOCK = portToken<Clock>('Clock');

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};
