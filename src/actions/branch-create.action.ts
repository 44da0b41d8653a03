import { RIGHTS } from '../core/rights.js';
import type { ForgeClient } from '../forge/forge-client.js';
import { branchRecovery } from './branch-create.recovery.js';
import { defineAction, textOf } from './define-action.js';
import { changed, conflict, unchanged, type Outcome } from './support/outcome.js';
import { optional, text } from './support/params.js';
import { isRefused, orMissing, whereAllowed } from './support/where-offered.js';

const SHA = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** The name is the forge's own key: a second branch of it is refused, and its commit tells whose it is. */
export const createBranch = defineAction({
  name: 'branch.create',
  summary: 'Make sure the repository has a branch that starts at a branch, tag or commit',
  target: 'repository',
  params: {
    new_branch_name: text({ summary: 'name of the branch', max: 100, check: checkBranchName }),
    old_ref_name: optional(
      text({
        summary: 'branch, tag or commit to start from. Default: the default branch',
        check: (ref) => (ref === '' ? 'must not be empty' : null),
      }),
    ),
  },
  operations: ['createBranch', 'getBranch'],
  whereOffered: ['getTag'],
  right: RIGHTS.code,
  naturalKey: 'new_branch_name',
  keyOf: ({ new_branch_name }) => textOf(new_branch_name),
  raises: ['branch.created', 'push'],
  example: { new_branch_name: 'release/1.4', old_ref_name: 'v1.4.0' },

  recover: branchRecovery,

  async ensure({ target, forge, recall, remember, openCalls }, { new_branch_name: branch, old_ref_name: base }) {
    const { owner, name: repo } = target;
    const wantedSha = base === undefined ? null : await resolve(forge, { owner, repo, base });
    const existing = await orMissing(forge.getBranch({ owner, repo, branch }));
    if (existing) {
      const madeBefore = (await recall())?.detail ?? {};
      const isOurs = textOf(madeBefore['sha']) !== '';
      return judge({
        branch,
        base,
        wantedSha: wantedSha ?? (base === undefined || isOurs ? null : await commitOfTag(forge, { owner, repo, base })),
        foundSha: existing.commit?.id ?? null,
        madeFrom: textOf(madeBefore['sha']),
        madeOfBase: textOf(madeBefore['base']),
      });
    }
    // The commit is sent, not the name: the name may point elsewhere by then, and an unknown name is a 500 (reliability F4).
    const from = wantedSha ?? base;
    remember({ sha: wantedSha });
    try {
      const made = await forge.createBranch({
        owner,
        repo,
        body: { new_branch_name: branch, ...(from === undefined ? {} : { old_ref_name: from }) },
      });
      const sha = made.commit?.id ?? wantedSha;
      return changed(`branch ${branch} created${sha ? ` at ${sha.slice(0, 10)}` : ''}`, {
        detail: { ...(sha ? { sha } : {}), ...(base === undefined ? {} : { base }) },
      });
    } catch (error) {
      if (!isRefused(error, 409)) throw error;
      const winner = await orMissing(forge.getBranch({ owner, repo, branch }));
      if (!winner)
        return conflict(
          `branch ${branch} cannot be made: a tag of this name, or a branch that it clashes with, is there`,
        );
      // After an open call of ours the one that was first may be ourselves.
      const madeFrom = openCalls > 0 && wantedSha === null ? (winner.commit?.id ?? '') : '';
      return judge({
        branch,
        base,
        wantedSha,
        foundSha: winner.commit?.id ?? null,
        madeFrom,
        madeOfBase: madeFrom === '' ? '' : (base ?? ''),
      });
    }
  },
});

interface Found {
  branch: string;
  base: string | undefined;
  wantedSha: string | null;
  foundSha: string | null;
  /** Where we ourselves made it start, by the journal; empty = we did not. */
  madeFrom: string;
  madeOfBase: string;
}

function judge({ branch, base, wantedSha, foundSha, madeFrom, madeOfBase }: Found): Outcome {
  if (base === undefined) return unchanged(`branch ${branch} is there`);
  if (wantedSha !== null && foundSha === wantedSha)
    return unchanged(`branch ${branch} is there, at ${wantedSha.slice(0, 10)}`, { sha: wantedSha, base });
  if (madeFrom !== '' && (madeFrom === wantedSha || (wantedSha === null && madeOfBase === base))) {
    return unchanged(`branch ${branch} was made from ${base} before and has moved on`, { sha: madeFrom, base });
  }
  if (wantedSha === null) return conflict(`branch ${branch} is there, and where ${base} points cannot be read here`);
  return conflict(
    `branch ${branch} is there at another commit (${foundSha?.slice(0, 10) ?? 'unknown'}, wanted ${wantedSha.slice(0, 10)})`,
  );
}

/** Commit of the base; null when it is no branch and this table of operations has no way to resolve it (a tag). */
async function resolve(
  forge: Pick<ForgeClient, 'getBranch'>,
  { owner, repo, base }: { owner: string; repo: string; base: string },
): Promise<string | null> {
  if (SHA.test(base)) return base;
  const found = await orMissing(forge.getBranch({ owner, repo, branch: base.replace(/^refs\/heads\//, '') }));
  return found?.commit?.id ?? null;
}

/** Commit of a tag, asked only about a branch that is there and that no record calls ours; null when there is none, or the forge does not tell. */
async function commitOfTag(
  forge: Partial<Pick<ForgeClient, 'getTag'>>,
  { owner, repo, base }: { owner: string; repo: string; base: string },
): Promise<string | null> {
  const tag = await whereAllowed(forge.getTag, (get) =>
    orMissing(get({ owner, repo, tag: base.replace(/^refs\/tags\//, '') })),
  );
  return tag?.commit?.sha ?? null;
}

/** Names that servers refuse with 422. Source: api-behaviour op 1. */
function checkBranchName(name: string): string | null {
  if (name === '') return 'must not be empty';
  const isIllegal = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|^@$|(^|\/)\.|\.lock(\/|$)/.test(name);
  return isIllegal ? 'is not a legal branch name' : null;
}
