import type { Socket } from 'node:net';

/**
 * Bodies of several parts are read in turns: one sender after another, a part at a time, of each sender the body first that is nearest to its
 * end. Left alone, Node reads megabytes of each socket in one round of its loop, and takes in one new connection: a few hundred senders would
 * make a round take seconds, and nobody else would be answered. Bodies that are read one after the other take little memory together, and
 * those who wait for their turn cannot come again.
 */
export class ReadTurns {
  /** Of each sender, the sockets that wait and the bytes that each body still lacks. */
  readonly #waiting = new Map<string, Map<Socket, number>>();
  readonly #stopped = new WeakSet<Socket>();
  #isGoing = false;

  /** Stop reading; what was read already still comes. */
  pause(socket: Socket): void {
    // When a part was handed on, the stream asks for more in the same turn: this has to come after it.
    queueMicrotask(() => void socket.pause());
  }

  /** Stop reading for good: the connection is about to end. */
  stop(socket: Socket): void {
    this.#stopped.add(socket);
    this.pause(socket);
  }

  /** Read the next part when it is this sender's turn. A socket waits once, however many parts of one read (chunks) ask for the next. */
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
    // One part (64 KB at most) in a round: so many as new connections that are taken in.
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
