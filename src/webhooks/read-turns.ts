import type { Socket } from 'node:net';

/**
 * Reads bodies of several parts in turns: one sender after another, a part at a time, and of each sender the body
 * closest to its end. Left alone, Node reads megabytes of each socket in one turn of its loop and accepts one new
 * connection: a few hundred senders would make a turn take seconds. Bodies that are read one after the other also
 * need little memory, and a waiting sender cannot return for more.
 */
export class ReadTurns {
  /** By sender: the waiting sockets and the bytes that each body still lacks. */
  readonly #waiting = new Map<string, Map<Socket, number>>();
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
