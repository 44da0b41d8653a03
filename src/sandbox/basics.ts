import type { User } from './resources/user.js';

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

/** What a person without an account of their own is. */
export const NO_PERSON: Omit<User, 'id' | 'login'> = {
  kind: 'user',
  fullName: '',
  loginName: '',
  email: '',
  password: '',
  isAdmin: false,
  visibility: 'public',
  created: 0,
  lastLogin: 0,
  website: '',
  description: '',
  location: '',
  language: '',
  theme: '',
  diffViewStyle: '',
  hideEmail: true,
  hideActivity: false,
  pronouns: '',
  hidePronouns: false,
  repoUnitHints: false,
  restricted: false,
  prohibitLogin: true,
  mustChangePassword: false,
};

/** In whose place a deleted account is shown. */
export const GHOST: User = { ...NO_PERSON, id: -1n, login: 'Ghost' };

/** In whose name workflows write. */
export const ACTIONS_USER: User = {
  ...NO_PERSON,
  id: -2n,
  login: 'gitea-actions',
  fullName: 'Gitea Actions',
  email: 'gitea-actions@noreply.localhost',
};
