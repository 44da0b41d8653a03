import type { Id, Mode, Seconds, Unit, Visibility } from './basics.js';

export interface User {
  kind: 'user';
  id: Id;
  login: string;
  fullName: string;
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
  repoAdminChangeTeamAccess: boolean;
}

export type Owner = User | Organization;

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

export interface PackageFile {
  id: Id;
  name: string;
  content: Buffer;
}

/** One row of an owner's activity feed. */
export interface FeedRow {
  id: Id;
  /** Whose feed it is in: the owning organization. */
  receiverId: Id;
  actorId: Id;
  opType: string;
  repoId: Id;
  refName: string;
  content: string;
  /** 0n = none. */
  commentId: Id;
  isPrivate: boolean;
  created: Seconds;
}
