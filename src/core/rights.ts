import { BOOL, listOf, oneOf, ownObject, TEXT } from './data-types.js';

/** What somebody may do in a repository, from nothing to everything; each level holds those before it. */
export const RIGHT_LEVELS = ['none', 'read', 'write', 'admin', 'owner'] as const;
export type RightLevel = (typeof RIGHT_LEVELS)[number];

/** Parts of a repository for which teams have levels of their own, as forges name them behind `repo.`. */
type RightUnit = 'code' | 'issues' | 'pulls' | 'releases' | 'actions';

/** The right that an action needs of whoever asks for it: this level in one of the units, or in the repository as a whole. */
export interface NeededRight {
  /** Empty = of the whole repository (`admin`), or of the organization (`owner`). */
  readonly units: readonly RightUnit[];
  readonly level: RightLevel;
}

/** What was read about somebody's rights. */
export interface ActorRights {
  /** Holds for the repository as a whole. */
  readonly level: RightLevel;
  /** Levels by unit (`issues`), where they are above `level`. */
  readonly units: Readonly<Record<string, RightLevel>>;
  /** Where they come from, or why they cannot be known, in one sentence. */
  readonly reason: string;
}

export function isLevel(word: string): word is RightLevel {
  return (RIGHT_LEVELS as readonly string[]).includes(word);
}

export function higherLevel(a: RightLevel, b: RightLevel): RightLevel {
  return RIGHT_LEVELS.indexOf(a) >= RIGHT_LEVELS.indexOf(b) ? a : b;
}

/** The level that counts for what is needed: the highest of the repository's own and those of the units. */
export function levelFor({ units }: NeededRight, rights: ActorRights): RightLevel {
  return units.reduce<RightLevel>(
    (best, unit) => higherLevel(best, (Object.hasOwn(rights.units, unit) && rights.units[unit]) || 'none'),
    rights.level,
  );
}

export function holdsRight(needed: NeededRight, rights: ActorRights): boolean {
  return RIGHT_LEVELS.indexOf(levelFor(needed, rights)) >= RIGHT_LEVELS.indexOf(needed.level);
}

/** `write on issues or pulls`, `admin of the repository`, `ownership of the organization`. */
export function describeRight({ units, level }: NeededRight): string {
  if (units.length > 0) return `${level} on ${units.join(' or ')}`;
  return level === 'owner' ? 'ownership of the organization' : `${level} of the repository`;
}

export const RIGHTS = {
  /** What servers require for labels, milestones and assignees: write on one of the two. */
  tracker: { units: ['issues', 'pulls'], level: 'write' },
  code: { units: ['code'], level: 'write' },
  releases: { units: ['releases'], level: 'write' },
  actions: { units: ['actions'], level: 'write' },
  repositoryAdmin: { units: [], level: 'admin' },
  organizationOwner: { units: [], level: 'owner' },
} as const satisfies Record<string, NeededRight>;

/** What rules know of somebody's rights. */
export const actorRights = ownObject('ActorRights', {
  login: [TEXT, 'whose rights they are'],
  level: [oneOf(...RIGHT_LEVELS), 'what holds for the repository as a whole'],
  units: [{ kind: 'map', of: TEXT }, 'levels by unit (`issues`, `pulls`, `code`, `releases`, `actions`, …) from teams'],
  teams: [listOf(TEXT), 'names of the teams they are in, whether or not these reach the repository'],
  is_known: [BOOL, 'false = nothing could be read: an outsider'],
  reason: [TEXT, 'where the rights come from, in one sentence'],
});
