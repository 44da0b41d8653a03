import { z } from 'zod';

/** How far the feed of an organization is known. Ids are decimal strings, compared as numbers: they grow, with gaps. */
export const feedPosition = z.object({
  /** The first start, to the second (the feed's resolution). */
  since: z.iso.datetime(),
  /** `since` moved on from the first start: rows that are older than it are history, whatever their ids. */
  hasMoved: z.boolean().default(false),
  /** Rows up to this id that are older than `since` are history; null = no poll came to its end yet, and all older rows are. */
  historyTo: z.string().regex(/^\d+$/).nullable(),
  /** Every row before this time has been read, except rows that a server shows late. */
  settledTo: z.iso.datetime(),
});

export type FeedPosition = z.output<typeof feedPosition>;

export function isUpTo(id: string, limit: string): boolean {
  return BigInt(id) <= BigInt(limit);
}

export function largestId(ids: readonly string[], least = '0'): string {
  return ids.reduce((largest, id) => (isUpTo(id, largest) ? largest : id), least);
}

/** False of a row that tells no time. */
export function isBefore(time: string | null, since: string): boolean {
  return time !== null && Date.parse(time) < Date.parse(since);
}

/** Whole seconds, as both the feed and the task lists tell times. */
export function toWholeSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}
