import { PassingMap, PassingSet } from './passing.js';

export interface UnverifiedLimits {
  /** Memory of requests from their first byte until the signature is verified: of all senders. */
  readonly bytes: number;
  /** The same of one sender: an IPv4 address or an IPv6 /64. */
  readonly bytesPerAddress: number;
}

/** Memory of a request beside its body: headers and the objects around them. */
export const REQUEST_BYTES = 8 * 1024;
/** Counts as received from the start, so that a new request does not look slow. */
const HEAD_START_BYTES = 16 * 1024;

/** What the budget calls on a request. */
interface ReceivingRequest {
  /** Bytes of the body that the sender announced, or the most that it may send. */
  readonly announced: number;
  /** Give up: answer, close, and release everything. */
  drop(): void;
  /** Stop reading until `resume`. */
  pause(): void;
  resume(): void;
}

interface Holder {
  bytes: number;
  /** Requests of which more is to come and that can be dropped, in the order they began. */
  readonly receiving: PassingSet<Receipt>;
}

/**
 * A budget for memory that senders get before they prove who they are. It counts received bytes, not announced ones.
 * When it is full, it drops the request that would take longest to finish, among those of the sender that holds most.
 * It pauses the last request of a sender instead, but only while complete bodies are about to be judged: otherwise
 * nothing would ever make room.
 */
export class UnverifiedBytes {
  readonly #holders = new PassingMap<string, Holder>();
  /** Complete requests that are about to be judged: their room becomes free soon. */
  readonly #whole = new PassingSet<Receipt>();
  /** Requests that wait for that room. */
  readonly #paused = new Set<Receipt>();
  #bytes = 0;

  /** @param nowMs milliseconds of a clock that only grows */
  constructor(
    private readonly limits: UnverifiedLimits,
    private readonly nowMs: () => number,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Start a request.
   * @returns null when there is no room and nothing to drop for it
   */
  begin(address: string, request: ReceivingRequest): Receipt | null {
    const holder = this.#holders.get(address) ?? { bytes: 0, receiving: new PassingSet<Receipt>() };
    this.#holders.set(address, holder);
    const receipt = new Receipt(this, address, holder, request, this.nowMs());
    // Not yet among the requests that can be dropped.
    if (!this.charge(receipt, REQUEST_BYTES)) {
      this.release(receipt);
      return null;
    }
    holder.receiving.add(receipt);
    return receipt;
  }

  /** Count bytes of a request and make room for them. @returns false = nothing else can be dropped for it now */
  charge(receipt: Receipt, bytes: number): boolean {
    receipt.bytes += bytes;
    receipt.holder.bytes += bytes;
    this.#bytes += bytes;
    return this.#makeRoom(receipt);
  }

  /** The request has arrived in full; it holds its room until it is released. */
  complete(receipt: Receipt): void {
    this.#leave(receipt);
    this.#whole.add(receipt);
  }

  release(receipt: Receipt): void {
    this.#leave(receipt);
    const { holder, address } = receipt;
    holder.bytes -= receipt.bytes;
    this.#bytes -= receipt.bytes;
    receipt.bytes = 0;
    if (holder.bytes === 0 && this.#holders.get(address) === holder) this.#holders.delete(address);
    for (const paused of this.#paused) {
      if (this.#whole.size > 0 && this.#isFullFor(paused.holder)) continue;
      this.#paused.delete(paused);
      paused.holder.receiving.add(paused);
      paused.request.resume();
    }
  }

  /** Wait until there is room, or nothing left that makes room; nobody drops it meanwhile. */
  pause(receipt: Receipt): void {
    receipt.holder.receiving.delete(receipt);
    this.#paused.add(receipt);
    receipt.request.pause();
  }

  #leave(receipt: Receipt): void {
    receipt.holder.receiving.delete(receipt);
    this.#whole.delete(receipt);
    this.#paused.delete(receipt);
  }

  #isFullFor(holder: Holder): boolean {
    return this.#bytes > this.limits.bytes || holder.bytes > this.limits.bytesPerAddress;
  }

  #makeRoom(receipt: Receipt): boolean {
    while (this.#isFullFor(receipt.holder)) {
      const holder = this.#bytes > this.limits.bytes ? this.#largest() : receipt.holder;
      const slowest = this.#slowestOf(holder);
      if (slowest === null || (slowest === receipt && holder.receiving.size === 1 && this.#whole.size > 0))
        return false;
      slowest.request.drop();
      // The caller notices that its own request was dropped.
      if (slowest === receipt) return true;
    }
    return true;
  }

  #largest(): Holder {
    let largest: Holder | undefined;
    for (const holder of this.#holders.values()) if (!largest || holder.bytes > largest.bytes) largest = holder;
    if (!largest) throw new Error('a budget that is full has a holder');
    return largest;
  }

  #slowestOf({ receiving }: Holder): Receipt | null {
    const now = this.nowMs();
    let slowest: Receipt | null = null;
    let most = -1;
    for (const receipt of receiving) {
      const msLeft = receipt.msLeft(now);
      if (msLeft > most) [slowest, most] = [receipt, msLeft];
    }
    return slowest;
  }
}

/** What one request holds of the budget. */
export class Receipt {
  bytes = 0;
  #received = 0;

  constructor(
    private readonly budget: UnverifiedBytes,
    readonly address: string,
    readonly holder: Holder,
    readonly request: ReceivingRequest,
    private readonly startedAtMs: number,
  ) {}

  /**
   * Count a part of the body. The request may be paused or dropped for it.
   * @param bytes of the body
   * @param memory bytes of memory that they take
   */
  received(bytes: number, memory: number): void {
    this.#received += bytes;
    // A part that fits into memory counted before needs no room: a body may come in thousands of parts.
    if (memory > 0 && !this.budget.charge(this, memory)) this.budget.pause(this);
  }

  /** Milliseconds for the rest of the body at the speed so far. */
  msLeft(nowMs: number): number {
    return (
      ((this.request.announced - this.#received) * Math.max(1, nowMs - this.startedAtMs)) /
      (this.#received + HEAD_START_BYTES)
    );
  }

  complete(): void {
    this.budget.complete(this);
  }

  /** Safe to call twice. */
  release(): void {
    this.budget.release(this);
  }
}
