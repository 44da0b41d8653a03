import { isRealDay, isRealTime } from '../../../core/real-time.js';

/** A time as people write it, or a day (its noon in UTC); null when it is neither, or does not exist. */
export function parseTime(text: string): Date | null {
  if (isRealDay(text)) return new Date(`${text}T12:00:00Z`);
  return isRealTime(text) ? new Date(text) : null;
}

/** RFC 3339 in UTC, without a fraction when it is whole. */
export function formatTime(time: Date): string {
  return time.toISOString().replace('.000Z', 'Z');
}
