import type { Clock } from '../../core/clock.js';

const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 10_000;

/** Logins that failed within a minute, of one address and of all. What succeeds is not counted. */
export class LoginLimit {
  private readonly failures = new Map<string, number[]>();
  private all: number[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly ofOne: number,
    private readonly ofAll: number,
  ) {}

  /** Seconds until another try is taken; 0 = now. */
  waitS(address: string): number {
    const since = this.clock.monotonicMs() - WINDOW_MS;
    const own = this.recent(this.failures.get(address), since);
    this.all = this.recent(this.all, since);
    const oldest = own.length >= this.ofOne ? own[0] : this.all.length >= this.ofAll ? this.all[0] : undefined;
    return oldest === undefined ? 0 : Math.ceil((oldest - since) / 1000);
  }

  failed(address: string): void {
    const now = this.clock.monotonicMs();
    this.all.push(now);
    if (this.failures.size >= MOST_ADDRESSES) this.forget(now - WINDOW_MS);
    this.failures.set(address, [...this.recent(this.failures.get(address), now - WINDOW_MS), now]);
  }

  private recent(times: readonly number[] | undefined, since: number): number[] {
    return (times ?? []).filter((at) => at > since);
  }

  private forget(since: number): void {
    for (const [address, times] of this.failures)
      if (this.recent(times, since).length === 0) this.failures.delete(address);
  }
}
