import type { Repo } from '../rig/forge-process.js';

export interface FloodOrder {
  readonly port: number;
  readonly repos: readonly Repo[];
  readonly seconds: number;
  readonly perSecond: number;
  /** Deliveries under way at once, at most; what is due beyond them waits at the sender, and what waits when the time is over is not sent. */
  readonly connections: number;
  /** Each so manieth delivery asks for an effect. */
  readonly effectEvery: number;
}

export interface FloodResult {
  /** One for each delivery that was sent; 0 = no whole answer came. */
  readonly statuses: readonly number[];
  /** Why some had none. */
  readonly failures: readonly string[];
  /** Deliveries sent per second. */
  readonly perSecond: number;
  /** Milliseconds to an answer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const floodId = (n: number): string => `f100d000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
/** Which delivery of the flood an id is of; null = none. */
export const ofFlood = (id: string): number | null => (id.startsWith('f100d000-') ? parseInt(id.slice(-12), 16) : null);

export const isEffectWanted = (n: number, every: number): boolean => n % every === 0;
