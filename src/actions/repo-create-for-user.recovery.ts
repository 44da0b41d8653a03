import { ForgeError } from '../core/errors.js';
import { defineRecovery, done, resend, settledAs, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { orMissing, whereAllowed } from './support/where-offered.js';

/** Clocks of forge and bot may differ by this much. */
const SKEW_MS = 120_000;

export interface WantedRepo {
  readonly username: string;
  readonly name: string;
  readonly auto_init?: boolean | undefined;
}

export interface SeenRepo {
  readonly there: boolean;
  readonly fullName: string | null;
  readonly id: string | null;
  /** Milliseconds since 1970; null where the forge does not tell. */
  readonly createdAtMs: number | null;
  /** A repository that has its first commit is not taken back any more. */
  readonly hasCommits: boolean;
}

/** Owner and name are the forge's own key; but the row comes before the storage and may be taken back (reliability F5). */
export const repoRecovery = defineRecovery<WantedRepo, SeenRepo>({
  reads: ['getRepo'],
  mayRead: [],
  settle: 'whole',
  told: {
    shownBy: ({ kind, repo }) =>
      kind === 'repository.created' && repo ? [{ username: repo.owner, name: repo.name }] : [],
    undoneBy: ({ kind, repo }) =>
      kind === 'repository.deleted' && repo ? [{ username: repo.owner, name: repo.name }] : [],
  },

  async read({ forge }, { username, name }) {
    const found = await whereAllowed(forge.getRepo, async (get) => {
      try {
        return await orMissing(get({ owner: username, repo: name }));
      } catch (error) {
        // The redirect of an old name is not the repository.
        if (error instanceof ForgeError && error.kind === 'moved') return null;
        throw error;
      }
    });
    if (found === undefined) return null;
    const createdAt = found?.created_at ? Date.parse(found.created_at) : NaN;
    return {
      there: found !== null,
      fullName: found?.full_name ?? null,
      id: found?.id ?? null,
      createdAtMs: Number.isNaN(createdAt) ? null : createdAt,
      hasCommits: found?.empty === false,
    };
  },

  decide: decideRepo,
});

export function decideRepo({ wanted, seen, firstSentAt }: RecoveryFacts<WantedRepo, SeenRepo>): Verdict {
  const full = `${wanted.username}/${wanted.name}`;
  // The forge refuses a second one (409), and after an open call that refusal counts as ours.
  if (seen === null)
    return resend(`whether repository ${full} is there cannot be read; making it again is refused when it is`);
  if (!seen.there) return resend(`repository ${full} is not there`);
  if (seen.fullName !== null && seen.fullName.toLowerCase() !== full.toLowerCase())
    return settledAs('conflict', `the forge answers ${seen.fullName} for ${full}`);
  if (seen.createdAtMs !== null && seen.createdAtMs < firstSentAt.getTime() - SKEW_MS)
    return settledAs('conflict', `repository ${full} is older than our call: somebody else made it`);
  return done(`repository ${full} is there, made since our call`, {
    sure: wanted.auto_init === true && seen.hasCommits,
    objectId: seen.id,
    detail: seen.id === null ? {} : { id: seen.id },
  });
}
