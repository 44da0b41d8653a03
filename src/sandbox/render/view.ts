import type { User } from '../resources/user.js';
import type { Seconds } from '../basics.js';
import type { Profile } from '../profiles.js';
import type { World } from '../world.js';
import { rfc3339 } from './time.js';

/** For whom and from where something is shown: renderers take it first, the object second. */
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
