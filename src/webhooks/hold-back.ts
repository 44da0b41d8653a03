import type { Socket } from 'node:net';

/** Shorter than a forge waits, so that it is still told why. */
export const HELD_BACK_MS = 3_000;

/**
 * Answer a refused sender late, if it is still there. Node takes in one new connection with each round of its loop: senders who are sent away at
 * once would stand in front of everybody again.
 */
export function holdBack(socket: Socket, answer: () => void): void {
  // The sender cut its body off. Keeping such requests would give memory to whoever comes and goes.
  if (socket.destroyed) return;
  const leave = (): void => clearTimeout(timer);
  const timer = setTimeout(() => {
    socket.off('close', leave);
    answer();
  }, HELD_BACK_MS);
  socket.once('close', leave);
}
