import type { Socket } from 'node:net';

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
