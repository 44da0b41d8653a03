import { isJsonObject } from '../../core/json.js';

/**
 * The organization that a delivery belongs to, by the first place that exists: a fork belongs to the original's owner, a package body has no
 * repository, Forgejo's workflow ends have neither repository nor sender at the top.
 * @returns the name as written in the body, or null when no place has one
 */
export function organizationOf(eventType: string, body: unknown): string | null {
  const places = [
    ...(eventType === 'fork' ? [at(body, 'forkee', 'owner')] : []),
    at(body, 'repository', 'owner'),
    at(body, 'package', 'owner'),
    at(body, 'run', 'repository', 'owner'),
    at(body, 'organization'),
  ];
  for (const place of places) {
    const name = nameOf(place);
    if (name !== null) return name;
  }
  return null;
}

export function isSameOrganization(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (!isJsonObject(here) || !Object.hasOwn(here, key)) return undefined;
    here = here[key];
  }
  return here;
}

/** Users and owners say `login`, organizations (in workflow and package bodies) `name`, some both and `username` beside. */
function nameOf(place: unknown): string | null {
  if (!isJsonObject(place)) return null;
  for (const key of ['login', 'username', 'name']) {
    const name = place[key];
    if (typeof name === 'string' && name !== '') return name;
  }
  return null;
}
