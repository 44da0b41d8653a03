import { defineAction, textOf, changed, conflict, refused, there, toWrite, type Decision } from './define-action.js';
import type { OpenCall } from './support/recovery.js';
import { say } from './reasons.js';
import { naming, optional, text } from './support/params.js';
import { branch, ifNamed, tag } from './support/objects.js';
import { orMissing, whereAllowed, type ForgeClient } from '../forge/forge-client.js';
import type { ForgeEvent } from '../core/event.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import { RIGHTS } from '../core/rights.js';

const SHA = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** Equal failures with a base that is not there, after which asking again is useless. */
const PERMANENT_AFTER = 3;
/** Where nothing tells why: servers give no reason to those who are no site administrators, and 500 is also what a busy one says. */
const HOPELESS_AFTER = 5;
/** A hook of the forge's own turned the push away: the name is protected, or a rule of the server forbids it. */
const TURNED_AWAY = /push ?rejected|protected|pre-receive|not allowed/i;

interface SeenBranch {
  readonly isThere: boolean;
  /** Its commit; null = none is told. */
  readonly sha: string | null;
  /** Commit of the base; null = it is no branch or tag that can be read. */
  readonly wantedSha: string | null;
  /** Where we ourselves made it start, by the journal; empty = we did not. */
  readonly madeFrom: string;
  readonly madeOfBase: string;
  /** After a lost answer: whether the commit that we sent lies below the one that is there; null = could not be read. */
  readonly grewFromOurs: boolean | null;
  /** After a lost answer: false = the base is not there, by all reads that could tell; null = not looked at, or it cannot be told. */
  readonly isBaseThere: boolean | null;
}

/** The name is the forge's own key: a second branch of it is refused (also a late twin, so no read need wait), and its commit tells whose it is. */
export const createBranch = defineAction({
  name: 'branch.create',
  summary: 'Make sure the repository has a branch that starts at a branch, tag or commit',
  target: 'repository',
  params: {
    new_branch_name: naming('branch', text('name of the branch', { max: 100, check: checkBranchName })),
    old_ref_name: optional(
      text('branch, tag or commit to start from. Default: the default branch', {
        check: (ref) => (ref === '' ? 'must not be empty' : null),
      }),
    ),
  },
  operations: ['createBranch', 'getBranch'],
  whereOffered: ['getTag'],
  readsAfterCall: ['compareCommits'],
  right: RIGHTS.code,
  naturalKey: 'new_branch_name',
  keyOf: ({ new_branch_name }) => textOf(new_branch_name),
  object: ({ new_branch_name }) => branch(new_branch_name),
  names: ({ old_ref_name }) => ifNamed(old_ref_name, branch).concat(ifNamed(old_ref_name, tag)),
  raises: ['branch.created', 'push'],
  effect: {
    refs: { branch: 'new_branch_name' },
    makes: { kind: 'branch', param: 'new_branch_name' },
    makesOnly: true,
  },
  example: { new_branch_name: 'release/1.4', old_ref_name: 'v1.4.0' },

  about: ({ new_branch_name: name }) => ({ what: 'branch', name }),
  whenTaken: ({ new_branch_name: name }) => say('cannot.name-branch', { name }),

  async look({ forge, place, call, recall }, { new_branch_name: branch, old_ref_name: base }): Promise<SeenBranch> {
    if (call) return lookAfter(forge, place, branch, base, shaSent(call.snapshot));
    const baseSha = base === undefined ? null : await resolve(forge, { ...place, base });
    const existing = await orMissing(forge.getBranch({ ...place, branch }));
    const detail = (existing && (await recall())?.detail) ?? {};
    const madeFrom = textOf(detail['sha']);
    const asksTag = existing !== null && baseSha === null && base !== undefined && madeFrom === '';
    return {
      ...NOT_LOOKED_AT,
      isThere: existing !== null,
      sha: existing?.commit?.id ?? null,
      wantedSha: asksTag ? await commitOfTag(forge, { ...place, base }) : baseSha,
      madeFrom,
      madeOfBase: textOf(detail['base']),
    };
  },

  compare({ wanted: { new_branch_name: name, old_ref_name: base }, seen, call, isAnsweredLate }) {
    if (call) return compareAfter(name, base, seen, call);
    const { isThere, sha, wantedSha } = seen;
    // The commit is sent, not the name: the name may point elsewhere by then, and an unknown name is a 500.
    if (!isThere) return toWrite(wantedSha, { makes: true, remember: { sha: wantedSha } });
    const about = { what: 'branch', name };
    if (base === undefined) return there(say('found.there', about));
    if (wantedSha !== null && sha === wantedSha)
      return there(say('found.there', { ...about, sha }), { detail: { sha, base } });
    // After an open call of ours the one that was first may be ourselves.
    const isFirst = isAnsweredLate && wantedSha === null;
    const madeFrom = isFirst ? (sha ?? '') : seen.madeFrom;
    const madeOfBase = isFirst ? base : seen.madeOfBase;
    if (madeFrom !== '' && (madeFrom === wantedSha || (wantedSha === null && madeOfBase === base)))
      return there(say('found.moved-on', { name, base }), { detail: { sha: madeFrom, base } });
    if (wantedSha === null) return conflict(say('found.unknown-base', { name, base }));
    return conflict(say('found.other-commit', { name, sha: sha ?? 'unknown', wanted: wantedSha }));
  },

  async write({ forge, place }, { new_branch_name: name, old_ref_name: base }, wantedSha) {
    const from = wantedSha ?? base;
    const body = { new_branch_name: name, ...(from === undefined ? {} : { old_ref_name: from }) };
    const sha = (await forge.createBranch({ ...place, body })).commit?.id ?? wantedSha;
    return changed(say('made.created', { what: 'branch', name, ...(sha ? { sha } : {}) }), {
      detail: { ...(sha ? { sha } : {}), ...(base === undefined ? {} : { base }) },
    });
  },

  recover: {
    settle: 'none',
    matcher: {
      echoes: ['branch.created', 'push'],
      isEcho: (event, { params, snapshot }) =>
        event.data['branch'] === params['new_branch_name'] && (event.kind !== 'push' || isFirstPush(event, snapshot)),
      shownBy: ({ kind, data }) => (kind === 'branch.created' ? [{ new_branch_name: data['branch'] ?? null }] : []),
      undoneBy: ({ kind, data }) => (kind === 'branch.deleted' ? [{ new_branch_name: data['branch'] ?? null }] : []),
    },
  },
});

const NOT_LOOKED_AT = { wantedSha: null, madeFrom: '', madeOfBase: '', grewFromOurs: null, isBaseThere: null } as const;

type Reads = Pick<ForgeClient, 'getBranch'> & Partial<Pick<ForgeClient, 'getTag' | 'compareCommits'>>;

/** @param from the commit that was sent; null = a tag, or the default branch */
async function lookAfter(
  forge: Reads,
  place: { readonly owner: string; readonly repo: string },
  branch: string,
  base: string | undefined,
  from: string | null,
): Promise<SeenBranch> {
  const existing = await orMissing(forge.getBranch({ ...place, branch }));
  if (!existing) return { ...NOT_LOOKED_AT, isThere: false, sha: null, isBaseThere: await isBaseThere() };
  const sha = existing.commit?.id ?? null;
  const isMoved = from !== null && sha !== null && sha !== from;
  const compared = isMoved
    ? await whereAllowed(forge.compareCommits, (compare) =>
        orMissing(compare({ ...place, basehead: `${sha}...${from}` })),
      )
    : null;
  const ahead = compared?.total_commits ?? null;
  return { ...NOT_LOOKED_AT, isThere: true, sha, grewFromOurs: ahead === null ? null : Number(ahead) === 0 };

  async function isBaseThere(): Promise<boolean | null> {
    if (base === undefined || /^[0-9a-f]{40,64}$/.test(base)) return null;
    if (await orMissing(forge.getBranch({ ...place, branch: base.replace(/^refs\/heads\//, '') }))) return true;
    const tag = await whereAllowed(forge.getTag, (get) =>
      orMissing(get({ ...place, tag: base.replace(/^refs\/tags\//, '') })),
    );
    return tag === undefined ? null : tag !== null;
  }
}

/** Special: a permanent error may look like any other, and the branch may have grown meanwhile. */
function compareAfter(
  name: string,
  base: string | undefined,
  { isThere, sha, grewFromOurs, isBaseThere }: SeenBranch,
  { snapshot, equalFailures: count, message: words }: OpenCall,
): Decision<string | null> {
  const about = { what: 'branch', name };
  if (!isThere) {
    const why = whyNone();
    if (why === null) return toWrite(null, { makes: true });
    return refused(say('cannot.make-branch', { name, base: base ?? null, why, count, words }));
  }
  const from = shaSent(snapshot) ?? '';
  const detail = { ...(from || sha ? { sha: from || sha } : {}), ...(base === undefined ? {} : { base }) };
  // No commit was pinned (a tag, or the default branch): it was not there before the call, and is now.
  if (from === '') return there(say('found.since-call', about), { detail });
  if (sha === from) return there(say('found.there', { ...about, sha: from }), { detail });
  if (grewFromOurs === true) return there(say('found.moved-on', { name, base: from.slice(0, 10) }), { detail });
  return conflict(say('found.other-commit', { name, sha: sha ?? '', wanted: from }));

  /** Null = it may still be made. */
  function whyNone() {
    if (isBaseThere === false && count >= PERMANENT_AFTER) return 'no-base';
    // A lost race says so too, but then the branch is there.
    if (count >= PERMANENT_AFTER && TURNED_AWAY.test(words ?? '')) return 'turned-away';
    return count >= HOPELESS_AFTER ? 'failing' : null;
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

/** Commit of the base; null when it is no branch and this table of operations has no way to resolve it (a tag). */
async function resolve(
  forge: Pick<ForgeClient, 'getBranch'>,
  { owner, repo, base }: { owner: string; repo: string; base: string },
): Promise<string | null> {
  if (SHA.test(base)) return base;
  const existing = await orMissing(forge.getBranch({ owner, repo, branch: base.replace(/^refs\/heads\//, '') }));
  return existing?.commit?.id ?? null;
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

/** Names that servers refuse with 422. */
function checkBranchName(name: string): string | null {
  if (name === '') return 'must not be empty';
  const isIllegal = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|^@$|(^|\/)\.|\.lock(\/|$)/.test(name);
  return isIllegal ? `is not a legal branch name: "${name}"` : null;
}
