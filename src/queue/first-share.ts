/** So many ids of an organization go first at once, … */
const BURST = 40;
/** … and so many more with each second. */
const PER_S = 10;

interface Bucket {
  left: number;
  atMs: number;
}

/**
 * Which wake-ups go before those that wait in one queue of all organizations: as many of each organization as an ordinary day brings. What an
 * organization announces beyond that waits its turn behind everybody's share. Knows no clock: times are told, in ms of one that only grows.
 */
export class FirstShare {
  readonly #buckets = new Map<string, Bucket>();

  /** @returns how many of so many ids go first */
  take(org: string, count: number, nowMs: number): number {
    let bucket = this.#buckets.get(org);
    if (!bucket) this.#buckets.set(org, (bucket = { left: BURST, atMs: nowMs }));
    bucket.left = Math.min(BURST, bucket.left + ((nowMs - bucket.atMs) / 1000) * PER_S);
    bucket.atMs = nowMs;
    const taken = Math.min(count, Math.floor(bucket.left));
    bucket.left -= taken;
    return taken;
  }
}
