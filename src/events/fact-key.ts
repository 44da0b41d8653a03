import type { EventKind } from '../core/event-kinds.js';

/** All zeros, 40 or 64 of them: "there was nothing" or "there is nothing any more". */
export function isZeroSha(sha: string): boolean {
  return /^0+$/.test(sha);
}

/**
 * `repository id | kind | parts`, each part escaped so that a `|` in a branch name cannot make two facts one.
 * No clock value ever stands in a key: server times have one-second resolution and differ between the two tellings.
 * @param repoId decimal string; `-` where the fact belongs to no repository
 */
export function factKeyOf(repoId: string, kind: EventKind, ...parts: readonly string[]): string {
  return [repoId, kind, ...parts.map(encodeURIComponent)].join('|');
}
