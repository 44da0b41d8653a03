import type { Clock } from '../../core/clock.js';

const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 10_000;

/** Where somebody logs in from. */
export interface Source {
  readonly address: string;
  /** It is the address of a proxy that does not say for whom it asks, or is not trusted to. */
  readonly isShared: boolean;
}

/** Tries that failed within a minute, of each address by itself: what one does never keeps another out. */
export class LoginLimit {
  private readonly failures = new Map<string, number[]>();

  constructor(
    private readonly clock: Clock,
    private readonly most: { readonly ofOne: number; readonly ofShared: number },
  ) {}

  /** One more of this address has failed. @returns 0 = within its limit; else seconds until it is again */
  failed({ address, isShared }: Source): number {
    const now = this.clock.monotonicMs();
    const since = now - WINDOW_MS;
    const most = isShared ? this.most.ofShared : this.most.ofOne;
    const recent = this.recent(address, since);
    const [oldest] = recent;
    if (oldest !== undefined && recent.length >= most) return Math.ceil((oldest - since) / 1000);
    // Set anew, so that the table is in the order of each address's last failure.
    this.failures.delete(address);
    this.forget(since);
    this.failures.set(address, [...recent, now]);
    return 0;
  }

  private recent(address: string, since: number): number[] {
    return (this.failures.get(address) ?? []).filter((at) => at > since);
  }

  /** Those that failed long ago; when there are too many others, also the one whose last failure is the oldest, so that the table never grows. */
  private forget(since: number): void {
    for (const [address, at] of this.failures) {
      if ((at.at(-1) ?? since) > since && this.failures.size < MOST_ADDRESSES) return;
      this.failures.delete(address);
    }
  }
}
