import type { OperationAnswers } from '../../forge/server-access.js';
import type { OperationName } from '../../forge/operations.js';

/** What may not be older than this, in ms. 0 = it is asked now; Infinity = what is known does, however old. */
export interface Freshness {
  /** Version, clock and scopes. */
  readonly server: number;
  /** Operations. Those that nobody asked about yet are asked about in any case. */
  readonly operations: number;
  /** Operations of which the forge said that they are missing, or not for this token. */
  readonly shut: number;
  /** Which organization has the name. */
  readonly identity: number;
  readonly hooks: number;
  readonly rights: number;
}

const HOUR_MS = 3_600_000;
/** Looks of one organization after the other ask once for what is of the forge. */
const OF_FORGE_MS = 5_000;
/** What is missing is looked at again when somebody asks about it, but not more often than so: it may have been granted. */
export const LOOK_AGAIN_MS = 30_000;

/** A revision became active, or its forge was reached. The nightly audit renews what is of the forge. */
export const ACTIVATED: Freshness = {
  server: 25 * HOUR_MS,
  operations: Infinity,
  shut: Infinity,
  identity: 25 * HOUR_MS,
  hooks: HOUR_MS,
  rights: HOUR_MS,
};

/** Something is held back or missing, and somebody asks about it. */
export const AGAIN: Freshness = {
  server: LOOK_AGAIN_MS,
  operations: Infinity,
  shut: LOOK_AGAIN_MS,
  identity: Infinity,
  hooks: LOOK_AGAIN_MS,
  rights: LOOK_AGAIN_MS,
};

/** Somebody wants to know how it is now. */
export const NOW: Freshness = {
  server: OF_FORGE_MS,
  operations: Infinity,
  shut: OF_FORGE_MS,
  identity: 0,
  hooks: 0,
  rights: 0,
};

/** The nightly audit of an organization. Its webhook has an audit of its own. */
export const NIGHTLY: Freshness = { ...ACTIVATED, identity: 0, hooks: Infinity, rights: 0 };

/** The nightly audit of a forge. */
export const ALL_AGAIN: Pick<Freshness, 'operations' | 'shut'> = { operations: 0, shut: 0 };

/** What a revision needs to be judged. */
export interface Needed {
  readonly operations: readonly OperationName[];
  /** Whether one of its actions needs a right in the organization. */
  readonly rights: boolean;
}

interface WhenSeen {
  readonly operations: OperationAnswers;
  /** Null = never. */
  readonly identity: Date | null;
  readonly hooks: Date | null;
  readonly rights: Date | null;
}

interface ToAsk {
  readonly operations: readonly OperationName[];
  readonly identity: boolean;
  readonly hooks: boolean;
  readonly rights: boolean;
}

/** What must be asked of the forge before a revision can be judged. Pure. */
export function whatToAsk(needed: Needed, seen: WhenSeen, fresh: Freshness, now: Date): ToAsk {
  const isOld = (at: Date | null, ms: number): boolean => at === null || at.getTime() <= now.getTime() - ms;
  return {
    operations: operationsToAsk(needed.operations, seen.operations, fresh, now),
    identity: isOld(seen.identity, fresh.identity),
    hooks: isOld(seen.hooks, fresh.hooks),
    rights: needed.rights && isOld(seen.rights, fresh.rights),
  };
}

/** Of these operations, those that must be asked about. Pure. */
export function operationsToAsk(
  names: readonly OperationName[],
  knowledge: OperationAnswers,
  fresh: Pick<Freshness, 'operations' | 'shut'>,
  now: Date,
): OperationName[] {
  return names.filter((name) => {
    const answer = knowledge[name];
    if (answer === undefined) return true;
    const isShut = answer.is === 'missing' || answer.is === 'scope';
    return Date.parse(answer.at) <= now.getTime() - Math.min(fresh.operations, isShut ? fresh.shut : Infinity);
  });
}
