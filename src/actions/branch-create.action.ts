import { defineAction, textOf, changed, conflict, unchanged, type Outcome } from './define-action.js';
import { say } from './reasons.js';
import { naming, optional, text } from './support/params.js';
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
import { branch, given, tag } from './support/objects.js';
import { isRefused, orMissing, whereAllowed, type ForgeClient } from '../forge/forge-client.js';
import type { ForgeEvent } from '../core/event.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import { RIGHTS } from '../core/rights.js';

const SHA = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** Equal failures with a base that is not there, after which asking again is useless (reliability A5). */
const PERMANENT_AFTER = 3;
/** Where nothing tells why: servers give no reason to those who are no site administrators, and 500 is also what a busy one says. */
const HOPELESS_AFTER = 5;
/** A hook of the forge's own turned the push away: the name is protected, or a rule of the server forbids it. */
const TURNED_AWAY = /push ?rejected|protected|pre-receive|not allowed/i;

interface WantedBranch {
  readonly new_branch_name: string;
  readonly old_ref_name?: string | undefined;
}

interface SeenBranch {
  /** Commit of the branch now; null = there is no such branch. */
  readonly sha: string | null;
  /** Whether the commit that we sent lies below the one that is there; null = could not be read. */
  readonly grewFromOurs: boolean | null;
  /** False = the base is not there, by all reads that could tell; null = not looked at, or it cannot be told. */
  readonly baseThere: boolean | null;
}

/** The forge keeps one branch of a name: a late twin is refused, so the read needs no wait. The commit tells whose it is. */
const branchRecovery = defineRecovery<WantedBranch, SeenBranch>({
  reads: ['getBranch'],
  mayRead: ['getTag', 'compareCommits'],
  settle: 'none',
  told: {
    echoes: ['branch.created', 'push'],
    isEcho: (event, { params, snapshot }) =>
      event.data['branch'] === params['new_branch_name'] && (event.kind !== 'push' || isFirstPush(event, snapshot)),
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
  said: forgeWords,
}: RecoveryFacts<WantedBranch, SeenBranch>): Verdict {
  const { new_branch_name: branch, old_ref_name: base } = wanted;
  const about = { what: 'branch', name: branch };
  // Op 2 belongs to the 20: without it nothing can be told, and sending again ends as "is there already".
  if (seen === null) return askPerson(say('found.unreadable', { ...about, then: 'nothing' }));
  if (seen.sha === null) {
    const why = whyNone();
    if (why === null) return resend(say('found.absent', about));
    return settledAs(
      'refused',
      say('cannot.make-branch', { name: branch, base: base ?? null, why, count: equalFailures, words: forgeWords }),
    );
  }
  const from = shaSent(snapshot);
  const detail = { ...(from === null ? {} : { sha: from }), ...(base === undefined ? {} : { base }) };
  if (from === null) {
    // No commit was pinned (a tag, or the default branch): it was not there before the call, and is now.
    return done(say('found.since-call', about), {
      detail: { ...detail, ...(seen.sha === '' ? {} : { sha: seen.sha }) },
    });
  }
  if (seen.sha === from) return done(say('found.there', { ...about, sha: from }), { detail });
  if (seen.grewFromOurs === true)
    return done(say('found.moved-on', { name: branch, base: from.slice(0, 10) }), { detail });
  return settledAs('conflict', say('found.other-commit', { name: branch, sha: seen.sha, wanted: from }));

  /** Null = it may still be made. */
  function whyNone() {
    if (seen?.baseThere === false && equalFailures >= PERMANENT_AFTER) return 'no-base';
    // A lost race says so too, but then the branch is there.
    if (equalFailures >= PERMANENT_AFTER && TURNED_AWAY.test(forgeWords ?? '')) return 'turned-away';
    return equalFailures >= HOPELESS_AFTER ? 'failing' : null;
  }
}

/** The push that made the branch, not one to it. The row of the feed does not say which: it has no commit, or ends where the branch starts. */
function isFirstPush({ data }: ForgeEvent, snapshot: JsonObject | null): boolean {
  const { created, commits, after } = data;
  if (typeof created === 'boolean') return created;
  return (Array.isArray(commits) && commits.length === 0) || (after !== undefined && after === shaSent(snapshot));
}

function shaSent(snapshot: unknown): string | null {
  const sha = isJsonObject(snapshot) ? snapshot['sha'] : null;
  return typeof sha === 'string' ? sha : null;
}

/** The name is the forge's own key: a second branch of it is refused, and its commit tells whose it is. */
export const createBranch = defineAction({
  name: 'branch.create',
  summary: 'Make sure the repository has a branch that starts at a branch, tag or commit',
  target: 'repository',
  params: {
    new_branch_name: naming('branch', text({ summary: 'name of the branch', max: 100, check: checkBranchName })),
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
  object: ({ new_branch_name }) => branch(new_branch_name),
  names: ({ old_ref_name }) => given(old_ref_name, branch).concat(given(old_ref_name, tag)),
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
      return changed(say('made.created', { what: 'branch', name: branch, ...(sha ? { sha } : {}) }), {
        detail: { ...(sha ? { sha } : {}), ...(base === undefined ? {} : { base }) },
      });
    } catch (error) {
      if (!isRefused(error, 409)) throw error;
      const winner = await orMissing(forge.getBranch({ owner, repo, branch }));
      if (!winner) return conflict(say('cannot.name-branch', { name: branch }));
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
  const about = { what: 'branch', name: branch };
  if (base === undefined) return unchanged(say('found.there', about));
  if (wantedSha !== null && foundSha === wantedSha)
    return unchanged(say('found.there', { ...about, sha: wantedSha }), { sha: wantedSha, base });
  if (madeFrom !== '' && (madeFrom === wantedSha || (wantedSha === null && madeOfBase === base))) {
    return unchanged(say('found.moved-on', { name: branch, base }), { sha: madeFrom, base });
  }
  if (wantedSha === null) return conflict(say('found.unknown-base', { name: branch, base }));
  return conflict(say('found.other-commit', { name: branch, sha: foundSha ?? 'unknown', wanted: wantedSha }));
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
  return isIllegal ? `is not a legal branch name: "${name}"` : null;
}
