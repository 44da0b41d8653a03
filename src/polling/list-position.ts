import { z } from 'zod';
import type { Json } from '../core/json.js';

/** How far the lists of issues and releases of an organization are known. */
const schema = z.object({
  /** The first visit, to the second: earlier changes are a baseline for comparison, never events. */
  since: z.iso.datetime(),
  /** Every issue that changed up to this time has been read. */
  settledTo: z.iso.datetime(),
  /** A reading that the calls did not suffice for: it goes on with this page, and settles up to this time. */
  reading: z.object({ page: z.int().positive(), until: z.iso.datetime() }).nullable(),
  /** Next page of the open issues as they were at first; null = all are known. */
  baselinePage: z.int().positive().nullable(),
  /** When a visit came to its end last. */
  visitedAt: z.iso.datetime().nullable(),
  /** Id of the repository whose releases were read last. */
  after: z.string().nullable(),
  /** Ids of the repositories whose releases were read at least once. */
  seen: z.array(z.string()),
});

export type ListPosition = z.output<typeof schema>;

/** @returns null when nothing usable is stored: the next visit is the first one */
export function readListPosition(position: Json | undefined): ListPosition | null {
  const read = schema.safeParse(position);
  return read.success ? read.data : null;
}
