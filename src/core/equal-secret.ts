import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares digests, so that neither content nor length shows in the time taken. */
export function equalSecret(secret: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(secret), digest(wanted));
}
