/** Ids are exact whatever their size: bigint inside, JSON numbers on the wire. */
export type Id = bigint;

/** Whole seconds since 1970, as a forge keeps its times; 0 = unset. */
export type Seconds = number;

export type Visibility = 'public' | 'limited' | 'private';

export const UNITS = [
  'repo.code',
  'repo.issues',
  'repo.pulls',
  'repo.releases',
  'repo.wiki',
  'repo.projects',
  'repo.packages',
  'repo.actions',
  'repo.ext_issues',
  'repo.ext_wiki',
] as const;
export type Unit = (typeof UNITS)[number];

/** Access modes from nothing to everything; compare with `atLeast`. */
export const MODES = ['none', 'read', 'write', 'admin', 'owner'] as const;
export type Mode = (typeof MODES)[number];

export function atLeast(mode: Mode, wanted: Mode): boolean {
  return MODES.indexOf(mode) >= MODES.indexOf(wanted);
}

export function higherOf(a: Mode, b: Mode): Mode {
  return atLeast(a, b) ? a : b;
}

export const NO_SHA = '0'.repeat(40);
