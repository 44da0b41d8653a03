import type { z } from 'zod';
import type { EntrySource } from '../core/event.js';
import type { Json } from '../core/json.js';
import type { PolledOrg } from '../pipeline/receive.js';
import type { CursorStore } from './cursor-store.port.js';

interface Source<Position> extends PolledOrg {
  readonly source: EntrySource;
  /** What it does not take, nobody can go on from. */
  readonly schema: z.ZodType<Position>;
  /** The position before the first poll ever, with the time of the first start. */
  readonly first: Position & Json;
}

interface Kept<Position> {
  readonly position: Position;
  readonly advancedAt: Date | null;
}

/**
 * Reads the position of a source. The first poll ever stores its start before it reads anything from the forge. Otherwise, if the process is
 * killed during this poll, the next process takes its own start for the first, and the acts before it for history.
 */
export async function keptPosition<Position>(
  cursors: CursorStore,
  { forge, org, source, schema, first }: Source<Position>,
): Promise<Kept<Position>> {
  const cursor = await cursors.read(forge, org, source);
  const position = cursor && schema.safeParse(cursor.position).data;
  if (position) return { position, advancedAt: cursor.advancedAt };
  if (cursor) await cursors.write(forge, org, source, first);
  else await cursors.begin(forge, org, source, first);
  // Another process may have begun at the same time: all of them go on from the start that is stored.
  const firstCursor = await cursors.read(forge, org, source);
  return { position: schema.safeParse(firstCursor?.position).data ?? first, advancedAt: null };
}

const DAY_MS = 86_400_000;

/** A time before which rows are history. */
interface Beginning {
  readonly since: string;
  /** `since` has moved on from the first start. What is older may be forgotten. */
  readonly hasMoved: boolean;
}

/**
 * The position with a beginning that is not older than what the bot remembers: the keys of older rows may be gone, and whatever a list still shows of them is history.
 * A beginning never goes back, not even with the clock. It moves by whole days, so that polls of processes whose clocks differ seldom disagree.
 * @param historyDays null = everything is remembered
 */
export function movedOn<Position extends Beginning>(
  position: Position,
  now: Date,
  historyDays: number | null,
): Position {
  if (historyDays === null) return position;
  const begins = historyBegins(now, historyDays);
  return Date.parse(position.since) < begins.getTime()
    ? { ...position, since: begins.toISOString(), hasMoved: true }
    : position;
}

export function historyBegins(now: Date, historyDays: number): Date {
  return new Date((Math.floor(now.getTime() / DAY_MS) - historyDays) * DAY_MS);
}
