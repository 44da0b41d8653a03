import type { z } from 'zod';
import type { Seconds } from '../basics.js';
import type { Shape, ShapeDifference } from '../profile-shapes.js';
import type { Profile } from '../profiles.js';
import type { World } from '../world.js';
import { rfc3339 } from './time.js';
import type { User } from '../entities/people.js';

/** For whom and from where something is shown: renderers take it first, the object second. */
/** An object of the API as answers show it: the same description that the client reads them by. */
export type Shown<Schema extends z.ZodType> = z.input<Schema>;

export interface View {
  world: World;
  profile: Profile;
  /** `http://host:port`, no slash at the end. */
  baseUrl: string;
  /** Null = nobody (also in deliveries). */
  viewer: User | null;
}

export function apiUrl(view: View, path: string): string {
  return `${view.baseUrl}/api/v1${path}`;
}

export function webUrl(view: View, path: string): string {
  return `${view.baseUrl}${path}`;
}

/** A time of the forge in its display zone; 0 gives 1970 in that zone, as real servers show an unset time. */
export function shownTime(view: View, at: Seconds): string {
  return rfc3339(at, view.world.timeZone);
}

/** A time or null. */
export function shownTimeOrNull(view: View, at: Seconds): string | null {
  return at === 0 ? null : shownTime(view, at);
}

/** How real servers show times that they never had. */
export const NEVER = '0001-01-01T00:00:00Z';

/** An object as this server shows it, out of one that has the fields of all servers. */
export function shaped<T extends object>(view: View, shape: Shape, object: T): Partial<T> {
  const difference = view.profile.shapes[shape];
  if (!difference) return object;
  const entries = Object.entries(object).filter(([key, value]) => isShown(difference, key, value));
  return Object.fromEntries(
    inOrder(entries, difference.behind ?? {}).map(([key, value]) => [
      difference.named?.[key] ?? key,
      valueOf(difference, key, value),
    ]),
  ) as Partial<T>;
}

function isShown({ without = [], omitEmpty = [] }: ShapeDifference, key: string, value: unknown): boolean {
  if (without.includes(key)) return false;
  return !(
    omitEmpty.includes(key) &&
    (value === null || value === undefined || value === 0 || value === '' || value === false)
  );
}

function valueOf({ fixed, nullWhenEmpty = [] }: ShapeDifference, key: string, value: unknown): unknown {
  if (fixed && key in fixed) return fixed[key];
  return nullWhenEmpty.includes(key) && Array.isArray(value) && value.length === 0 ? null : value;
}

type Entry = [string, unknown];

function inOrder(entries: Entry[], behind: Readonly<Record<string, string>>): Entry[] {
  const moved = entries.filter(([key]) => key in behind);
  if (moved.length === 0) return entries;
  const staying = entries.filter(([key]) => !(key in behind));
  return staying.flatMap((entry) => [entry, ...moved.filter(([key]) => behind[key] === entry[0])]);
}
