import type { Socket } from 'node:net';

interface Waiting {
  readonly socket: Socket;
  readonly bytesLeft: number;
}

/**
 * Bodies of several parts are read in turns: one sender after another, a part at a time, of each sender the body first that is nearest to its
 * end. Left alone, Node reads megabytes of each socket in one round of its loop, and takes in one new connection: a few hundred senders would
 * make a round take seconds, and nobody else would be answered. Bodies that are read one after the other take little memory together, and
 * those who wait for their turn cannot come again.
 */
export class ReadTurns {
  readonly #waiting = new Map<string, Set<Waiting>>();
  #isGoing = false;

  /** Stop reading; what was read already still comes. */
  pause(socket: Socket): void {
    // When a part was handed on, the stream asks for more in the same turn: this has to come after it.
    queueMicrotask(() => void socket.pause());
  }

  /** Read the next part when it is this sender's turn. */
  resume(address: string, socket: Socket, bytesLeft: number): void {
    const waiting = this.#waiting.get(address);
    if (waiting) waiting.add({ socket, bytesLeft });
    else this.#waiting.set(address, new Set([{ socket, bytesLeft }]));
    if (this.#isGoing) return;
    this.#isGoing = true;
    setImmediate(this.#go);
  }

  readonly #go = (): void => {
    // One part (64 KB at most) in a round: so many as new connections that are taken in.
    this.#next()?.resume();
    if (this.#waiting.size > 0) setImmediate(this.#go);
    else this.#isGoing = false;
  };

  #next(): Socket | null {
    const [first] = this.#waiting;
    if (!first) return null;
    const [address, waiting] = first;
    let next: Waiting | null = null;
    for (const one of waiting) {
      if (one.socket.destroyed) waiting.delete(one);
      else if (!next || one.bytesLeft < next.bytesLeft) next = one;
    }
    if (next) waiting.delete(next);
    this.#waiting.delete(address);
    // The next turn is another sender's.
    if (waiting.size > 0) this.#waiting.set(address, waiting);
    return next?.socket ?? null;
  }
}
