/** Time as a port: deciding code never reads a clock of its own. */
export abstract class Clock {
  /** Wall time, for facts that people read. */
  abstract now(): Date;
  /** Milliseconds that only grow, for durations and guards. */
  abstract monotonicMs(): number;
}

export const systemClock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
} satisfies Clock;
