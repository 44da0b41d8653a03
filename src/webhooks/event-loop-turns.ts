import type { Socket } from 'node:net';
import { FairScheduler } from '../platform/fair-scheduler.js';
import { PassingMap } from '../platform/passing.js';

/**
 * Reads bodies of several parts in turns: one sender after another, a part at a time, and of each sender the body
 * closest to its end. Left alone, Node reads megabytes of each socket in one turn of its loop and accepts one new
 * connection: a few hundred senders would make a turn take seconds. Bodies that are read one after the other also
 * need little memory, and a waiting sender cannot return for more.
 */
export class ReadTurns {
  /** By sender: the waiting sockets and the bytes that each body still lacks. */
  readonly #waiting = new PassingMap<string, Map<Socket, number>>();
  readonly #stopped = new WeakSet<Socket>();
  #isGoing = false;

  /** Stop reading; parts that were already read still arrive. */
  pause(socket: Socket): void {
    // After handing on a part, the stream asks for more in the same turn: pause after that.
    queueMicrotask(() => void socket.pause());
  }

  /** Stop reading for good, before the connection ends. */
  stop(socket: Socket): void {
    this.#stopped.add(socket);
    this.pause(socket);
  }

  /**
   * Read the next part in this sender's turn. A socket waits only once, even when several parts of one read (chunks)
   * ask for more.
   */
  resume(address: string, socket: Socket, bytesLeft: number): void {
    if (this.#stopped.has(socket)) return;
    const waiting = this.#waiting.get(address);
    if (waiting) waiting.set(socket, bytesLeft);
    else this.#waiting.set(address, new Map([[socket, bytesLeft]]));
    if (this.#isGoing) return;
    this.#isGoing = true;
    setImmediate(this.#go);
  }

  readonly #go = (): void => {
    // One part (at most 64 KB) per turn of the loop: as many as new connections.
    this.#next()?.resume();
    if (this.#waiting.size > 0) setImmediate(this.#go);
    else this.#isGoing = false;
  };

  #next(): Socket | null {
    const [first] = this.#waiting;
    if (!first) return null;
    const [address, waiting] = first;
    let next: Socket | null = null;
    let least = Infinity;
    for (const [socket, bytesLeft] of waiting) {
      if (socket.destroyed || this.#stopped.has(socket)) waiting.delete(socket);
      else if (bytesLeft < least) [next, least] = [socket, bytesLeft];
    }
    if (next) waiting.delete(next);
    this.#waiting.delete(address);
    // The next turn is another sender's.
    if (waiting.size > 0) this.#waiting.set(address, waiting);
    return next;
  }
}

/** Shorter than a forge waits, so that the sender still gets the reason. */
export const HELD_BACK_MS = 3_000;

/**
 * Answer a refused sender late, if it is still connected. Node accepts one new connection with each turn of its loop,
 * so senders that are refused at once would return before everybody else.
 */
export function holdBack(socket: Socket, answer: () => void): void {
  // The sender cut its body off. Keeping such requests would give memory to anyone who connects and leaves.
  if (socket.destroyed) return;
  const leave = (): void => clearTimeout(timer);
  const timer = setTimeout(() => {
    socket.off('close', leave);
    answer();
  }, HELD_BACK_MS);
  socket.once('close', leave);
}

/** Milliseconds of judging before the event loop continues. */
const SLICE_MS = 2;

/**
 * Bodies wait here to be judged, a little at a time. Node accepts one new connection with each turn of its loop, so
 * judging everything in one turn would keep new senders waiting until they give up. Whose body is next, says the
 * scheduler; this class only cuts the work into slices of the loop.
 */
export class JudgeTurns {
  readonly #turns = new FairScheduler<() => void>();
  #isGoing = false;

  /** @param nowMs milliseconds of a clock that only grows */
  constructor(private readonly nowMs: () => number) {}

  get size(): number {
    return this.#turns.size;
  }

  /** @param judge must not throw */
  add(org: string, judge: () => void): void {
    this.#turns.add(judge, org);
    if (this.#isGoing) return;
    this.#isGoing = true;
    setImmediate(this.#go);
  }

  readonly #go = (): void => {
    const until = this.nowMs() + SLICE_MS;
    do this.#judgeNext();
    while (this.#turns.size > 0 && this.nowMs() < until);
    if (this.#turns.size > 0) setImmediate(this.#go);
    else this.#isGoing = false;
  };
  #judgeNext(): void {
    const next = this.#turns.next();
    if (!next) return;
    next.item();
    this.#turns.ended(next.item);
  }
}
