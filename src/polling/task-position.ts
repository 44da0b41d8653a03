import { z } from 'zod';
import type { Json } from '../core/json.js';

const idText = z.string().regex(/^\d+$/);

/** How far the task lists of an organization's repositories are known. */
const schema = z.object({
  /** The first start, to the second. Rows that changed last before it are history. */
  since: z.iso.datetime(),
  /** Id of the repository read last: the next poll goes on behind it when the calls do not reach for all. */
  after: idText.nullable(),
  /** By repository id: tasks seen but not ended, which the list shows further down as new ones come. */
  open: z.record(idText, z.array(idText)),
  /** When the repository that has waited longest was read last; null while some were never read. Tells how old the picture of tasks is. */
  oldestReadAt: z.iso.datetime().nullable().default(null),
  /** The organization's newest runs as they were seen last; null where the forge does not list them. */
  runs: z.record(idText, z.string()).nullable().default(null),
  /** Repositories whose runs changed, and whose tasks were not read since. */
  busy: z.array(idText).default([]),
});

export type TaskPosition = z.output<typeof schema>;

/** @returns null when nothing usable is stored: the next poll is the first one */
export function readTaskPosition(position: Json | undefined): TaskPosition | null {
  const read = schema.safeParse(position);
  return read.success ? read.data : null;
}
