import type { Id, Mode, Seconds, Unit, Visibility } from '../basics.js';
export interface User {
  kind: 'user';
  id: Id;
  login: string;
  fullName: string;
  /** As an edit by an admin said; told to whom it concerns. */
  loginName: string;
  email: string;
  password: string;
  isAdmin: boolean;
  visibility: Visibility;
  created: Seconds;
  lastLogin: Seconds;
  website: string;
  description: string;
  location: string;
  language: string;
  theme: string;
  diffViewStyle: string;
  hideEmail: boolean;
  hideActivity: boolean;
  /** This and the next two: Forgejo only. */
  pronouns: string;
  hidePronouns: boolean;
  repoUnitHints: boolean;
  restricted: boolean;
  prohibitLogin: boolean;
  /** Everything is refused until the person chose a new password. */
  mustChangePassword: boolean;
}

/** Users and organizations share one space of ids and names. */
export interface Organization {
  kind: 'organization';
  id: Id;
  login: string;
  fullName: string;
  email: string;
  visibility: Visibility;
  created: Seconds;
  website: string;
  description: string;
  location: string;
}

export type Owner = User | Organization;

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

export interface Team {
  id: Id;
  orgId: Id;
  name: string;
  description: string;
  /** `owner` marks the team of owners, `admin` gives every unit; else `units` decides. */
  permission: Mode;
  units: Map<Unit, Mode>;
  includesAllRepositories: boolean;
  canCreateOrgRepo: boolean;
  visibility: Visibility;
  members: Set<Id>;
  repos: Set<Id>;
}

export interface Token {
  id: Id;
  userId: Id;
  name: string;
  scopes: string[];
  /** The token itself; shown once, in the answer that creates it. */
  value: string;
  createdAt: Seconds;
  lastUsedAt: Seconds;
}

/** A program that people may log in to with their account here. */
export interface OAuthApplication {
  id: Id;
  userId: Id;
  name: string;
  clientId: string;
  /** Shown in the answers that make it, and never again. */
  clientSecret: string;
  /** It can keep a secret; a public one cannot, and must use PKCE. */
  isConfidential: boolean;
  skipsSecondQuestion: boolean;
  redirectUris: string[];
  created: Seconds;
}

/** What somebody allowed an application, once and for all. */
export interface OAuthGrant {
  id: Id;
  userId: Id;
  applicationId: Id;
  /** As it was first asked for: it never changes. */
  scope: string;
  nonce: string;
  /** Number of the newest refresh token, where new ones end the earlier ones. */
  counter: number;
}

/** What a code stands for until it is exchanged. */
export interface OAuthCode {
  readonly grantId: Id;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly method: string;
  readonly validUntil: Seconds;
}

export interface AskedGrant {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly scope: string;
  readonly nonce: string;
  readonly challenge: string;
  readonly method: string;
}

/** What a browser's cookie stands for: who logged in with it, and what was last asked of that person. */
export interface WebSession {
  id: string;
  userId: Id | null;
  /** The request for a grant that the last consent page showed. */
  // oxlint-disable-next-line local/no-participle-names -- a name in state files
  asked: AskedGrant | null;
}

/** An action variable of an owner (repoId 0n) or of a repository (ownerId 0n). */
export interface Variable {
  id: Id;
  ownerId: Id;
  repoId: Id;
  /** Upper case. */
  name: string;
  data: string;
  description: string;
}

export interface PackageFile {
  id: Id;
  name: string;
  content: Buffer;
}

/** One version of a package. */
export interface PackageVersion {
  id: Id;
  ownerId: Id;
  creatorId: Id;
  /** The repository the package is linked to. */
  repoId: Id | null;
  type: string;
  name: string;
  version: string;
  createdAt: Seconds;
  files: PackageFile[];
}
