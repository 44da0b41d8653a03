import type { Clock } from '../../core/clock.js';

const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 10_000;

/** Where somebody logs in from. */
export interface Source {
  readonly address: string;
  /** It is the address of a proxy that does not say for whom it asks, or is not trusted to. */
  readonly isShared: boolean;
}

/** Logins that failed within a minute, of one address and of all. What succeeds is not counted. */
export class LoginLimit {
  private readonly failures = new Map<string, number[]>();
  private all: number[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly most: { readonly ofOne: number; readonly ofShared: number; readonly ofAll: number },
  ) {}

  /** Seconds until another try is taken; 0 = now. */
  waitS({ address, isShared }: Source): number {
    const { ofOne, ofShared, ofAll } = this.most;
    const since = this.clock.monotonicMs() - WINDOW_MS;
    const own = this.recent(this.failures.get(address), since);
    this.all = this.recent(this.all, since);
    const isOver = own.length >= (isShared ? ofShared : ofOne);
    const oldest = isOver ? own[0] : this.all.length >= ofAll ? this.all[0] : undefined;
    return oldest === undefined ? 0 : Math.ceil((oldest - since) / 1000);
  }

  failed({ address }: Pick<Source, 'address'>): void {
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
