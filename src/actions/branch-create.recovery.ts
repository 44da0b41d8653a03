import { isJsonObject } from '../core/json.js';
import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { orMissing, whereAllowed } from './support/where-offered.js';

/** Equal failures with a base that is not there, after which asking again is useless (reliability A5). */
const PERMANENT_AFTER = 3;
/** Where nothing tells why: servers give no reason to those who are no site administrators, and 500 is also what a busy one says. */
const HOPELESS_AFTER = 5;
/** A hook of the forge's own turned the push away: the name is protected, or a rule of the server forbids it. */
const TURNED_AWAY = /push ?rejected|protected|pre-receive|not allowed/i;

export interface WantedBranch {
  readonly new_branch_name: string;
  readonly old_ref_name?: string | undefined;
}

export interface SeenBranch {
  /** Commit of the branch now; null = there is no such branch. */
  readonly sha: string | null;
  /** Whether the commit that we sent lies below the one that is there; null = could not be read. */
  readonly grewFromOurs: boolean | null;
  /** False = the base is not there, by all reads that could tell; null = not looked at, or it cannot be told. */
  readonly baseThere: boolean | null;
}

/** The forge keeps one branch of a name: a late twin is refused, so the read needs no wait. The commit tells whose it is. */
export const branchRecovery = defineRecovery<WantedBranch, SeenBranch>({
  reads: ['getBranch'],
  mayRead: ['getTag', 'compareCommits'],
  settle: 'none',
  told: {
    shownBy: ({ kind, data }) => (kind === 'branch.created' ? [{ new_branch_name: data['branch'] ?? null }] : []),
    undoneBy: ({ kind, data }) => (kind === 'branch.deleted' ? [{ new_branch_name: data['branch'] ?? null }] : []),
  },

  async read({ forge, target, snapshot }, { new_branch_name: branch, old_ref_name: base }) {
    const { owner, repo } = placeOf(target);
    const found = await orMissing(forge.getBranch?.({ owner, repo, branch }) ?? Promise.resolve(null));
    const sha = found?.commit?.id ?? null;
    const from = shaSent(snapshot);
    if (found) {
      const compared =
        from === null || sha === null || sha === from
          ? undefined
          : await whereAllowed(forge.compareCommits, (compare) =>
              orMissing(compare({ owner, repo, basehead: `${sha}...${from}` })),
            );
      const ahead = compared?.total_commits;
      return {
        sha: sha ?? '',
        grewFromOurs: ahead === undefined || ahead === null ? null : Number(ahead) === 0,
        baseThere: null,
      };
    }
    return { sha: null, grewFromOurs: null, baseThere: await isThere(base) };

    async function isThere(ref: string | undefined): Promise<boolean | null> {
      if (ref === undefined || /^[0-9a-f]{40,64}$/.test(ref)) return null;
      if (
        await orMissing(
          forge.getBranch?.({ owner, repo, branch: ref.replace(/^refs\/heads\//, '') }) ?? Promise.resolve(null),
        )
      )
        return true;
      const tag = await whereAllowed(forge.getTag, (get) =>
        orMissing(get({ owner, repo, tag: ref.replace(/^refs\/tags\//, '') })),
      );
      return tag === undefined ? null : tag !== null;
    }
  },

  decide: decideBranch,
});

export function decideBranch({
  wanted,
  snapshot,
  seen,
  equalFailures,
  said,
}: RecoveryFacts<WantedBranch, SeenBranch>): Verdict {
  const { new_branch_name: branch, old_ref_name: base } = wanted;
  // Op 2 belongs to the 20: without it nothing can be told, and sending again ends as "is there already".
  if (seen === null) return askPerson(`branch ${branch} cannot be read`);
  if (seen.sha === null) {
    if (seen.baseThere === false && equalFailures >= PERMANENT_AFTER)
      return settledAs(
        'refused',
        `branch ${branch} cannot be made: ${base ?? 'the base'} is not there (${equalFailures} equal failures)`,
      );
    const words = said ?? 'it gives no reason';
    // A lost race says so too, but then the branch is there.
    if (equalFailures >= PERMANENT_AFTER && TURNED_AWAY.test(words))
      return settledAs(
        'refused',
        `branch ${branch} cannot be made: the forge turns it away (${equalFailures} equal failures, ${words})`,
      );
    if (equalFailures >= HOPELESS_AFTER)
      return settledAs(
        'refused',
        `branch ${branch} cannot be made: ${equalFailures} equal failures and no branch (${words}); is its name protected?`,
      );
    return resend(`branch ${branch} is not there`);
  }
  const from = shaSent(snapshot);
  const detail = { ...(from === null ? {} : { sha: from }), ...(base === undefined ? {} : { base }) };
  if (from === null) {
    // No commit was pinned (a tag, or the default branch): it was not there before the call, and is now.
    return done(`branch ${branch} is there, and was not before the call`, {
      detail: { ...detail, ...(seen.sha === '' ? {} : { sha: seen.sha }) },
    });
  }
  if (seen.sha === from) return done(`branch ${branch} is there, at ${from.slice(0, 10)}`, { detail });
  if (seen.grewFromOurs === true)
    return done(`branch ${branch} is there and has moved on from ${from.slice(0, 10)}`, { detail });
  return settledAs(
    'conflict',
    `branch ${branch} is there at another commit (${seen.sha.slice(0, 10)}, sent ${from.slice(0, 10)})`,
  );
}

function shaSent(snapshot: unknown): string | null {
  const sha = isJsonObject(snapshot) ? snapshot['sha'] : null;
  return typeof sha === 'string' ? sha : null;
}
