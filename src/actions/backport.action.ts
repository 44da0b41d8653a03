import {
  defineAction,
  textOf,
  changed,
  conflict,
  notYet,
  refused,
  there,
  toWrite,
  unchanged,
  undone,
  type Decision,
  type EarlierStep,
} from './define-action.js';
import { say } from './reasons.js';
import { choice, id, naming, optional, referring, text, type ParamsOf } from './support/params.js';
import { branch, ifNamed, issue, label } from './support/objects.js';
import { isAbout, isSameLogin } from './support/compare.js';
import { labelsByName } from './support/labels-by-name.js';
import { placeOf } from './support/recovery.js';
import { idsOf } from './support/same-name.js';
import { orMissing, readAll, type ForgeClient } from '../forge/forge-client.js';
import { escapeTitle } from '../core/escape-markdown.js';
import { isSameName, objectName } from '../core/object-name.js';
import type { Commit } from '../core/objects/git.js';
import type { Comment, Pull } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

/** A server says no more of a conflict than of any other fault of its own, so it is asked twice. */
const CONFLICT_AFTER = 2;
/** Servers cut a longer title. */
const MAX_TITLE = 255;
/** Forgejo wants one, and neither asks anything of it. */
const ANY_SHA = '0'.repeat(40);

const params = {
  number: id('number of the merged pull request'),
  to: naming(
    'branch',
    text('branch that gets its changes', { max: 80, check: (name) => (name === '' ? 'must not be empty' : null) }),
  ),
  assign: optional(choice('author: who wrote the pull request', { words: ['author'] })),
  labels: optional(choice('copy: those of the pull request', { words: ['copy'] })),
  failed: referring('label', optional(text('label for the pull request when its changes do not apply'))),
};

type Wanted = ParamsOf<typeof params>;

interface Place {
  readonly owner: string;
  readonly repo: string;
}

/** The pull request whose changes are wanted, and where they go. */
interface Origin {
  /** Null = there is none. */
  readonly pull: Pull | null;
  /** The branch of the backport; a chain keeps the number of its first pull request. */
  readonly branch: string;
  /** The pull request of the backport, whoever opened it; the newest where there were several. */
  readonly backport: Pull | null;
}

interface SeenBranch extends Origin {
  /** Commit of the branch that gets the changes; null = there is none, or it was not asked for. */
  readonly target: string | null;
  /** Commit of the branch of the backport; null = there is none. */
  readonly tip: string | null;
  /** The branch of the backport has our commit. */
  readonly isOurs: boolean;
  /** The target has the merge itself. */
  readonly hasMerge: boolean;
  /** Null = it is not UTF-8, or was not asked for. */
  readonly diff: string | null;
  readonly author: { readonly name: string; readonly email: string } | null;
}

interface Patch {
  readonly branch: string;
  readonly content: string;
  readonly message: string;
  readonly author: SeenBranch['author'];
}

const shared = {
  target: 'repository',
  params,
  power: 'backport',
  right: RIGHTS.code,
  asksAct: true,
  naturalKey: 'number',
  itemBy: ['number', 'to'],
  overwrites: true,
} as const;

/**
 * The first step: a new branch at the target, with one commit that has what the pull request changed (its diff, which is the same for a merge, a squash
 * and a rebase). The name of the branch is the forge's own key, so a second one is refused, and the message tells whose it is.
 */
export const backport = defineAction({
  ...shared,
  name: 'backport',
  summary:
    'Bring the changes of a merged pull request to another branch: a branch, a pull request, and a comment with the commands to type where they do not apply',
  operations: [
    'applyPatch',
    'getPull',
    'getPullDiff',
    'getPullByBranches',
    'getBranch',
    'compareCommits',
    'listPullCommits',
    'getSelf',
  ],
  whereOffered: [],
  laterSteps: [{ action: 'backport.open' }, { action: 'backport.label', where: 'failed' }],
  awaits: ['pull_request.merged', 'pull_request.closed'],
  keyOf: ({ number, to }) => `${textOf(number)} ${textOf(to)}`,
  object: ({ number }) => issue(number),
  names: ({ to }) => ifNamed(to, branch),
  raises: ['branch.created', 'push'],
  // Who waits for labels, comments and pushes means those of people.
  effect: { makesOnly: true, isExpected: (kind) => kind === 'branch.created' || kind === 'pull_request.opened' },
  example: { number: '12', to: 'release/1.4', assign: 'author', labels: 'copy', failed: 'backport/failed' },
  about: ({ number, to }) => ({ what: 'branch', name: `with #${number} for ${to}` }),
  whenTaken: ({ number, to }) => say('cannot.name-branch', { name: branchOf(number, to) }),
  takenBy: 422,

  async look({ forge, place, call }, { number, to }): Promise<SeenBranch> {
    const origin = await lookForOrigin(forge, place, { number, to });
    const { pull, branch: name, backport: open } = origin;
    const none = { target: null, tip: null, isOurs: false, hasMerge: false, diff: null, author: null };
    if (pull?.merged !== true || pull.base?.ref === to || open) return { ...origin, ...none };
    const target = (await orMissing(forge.getBranch({ ...place, branch: to })))?.commit?.id ?? null;
    const tip = (await orMissing(forge.getBranch({ ...place, branch: name })))?.commit?.id ?? null;
    if (target === null) return { ...origin, ...none, tip };
    const merge = pull.merge_commit_sha ?? '';
    const beyond = async (base: string, head: string): Promise<readonly Commit[]> =>
      (await forge.compareCommits({ ...place, basehead: `${base}...${head}` })).commits ?? [];
    if (tip !== null) {
      const isOurs = (await beyond(target, tip)).some(({ commit }) => namesMerge(textOf(commit?.['message']), merge));
      return { ...origin, ...none, target, tip, isOurs };
    }
    if ((await beyond(target, merge)).length === 0) return { ...origin, ...none, target, hasMerge: true };
    if (call) return { ...origin, ...none, target };
    const [newest] = await forge.listPullCommits({ ...place, index: number, page: 1, limit: 1 });
    const { name: person, email } = newest?.commit?.author ?? {};
    return {
      ...origin,
      ...none,
      target,
      diff: await forge.getPullDiff({ ...place, index: number, binary: true }),
      author: person && email ? { name: person, email } : null,
    };
  },

  compare({ wanted: { number, to }, seen, call }): Decision<Patch> {
    const { pull, branch: name, target, tip, diff } = seen;
    const early = judgeOrigin({ number, to }, seen);
    if (early) return early;
    if (target === null) return refused(say('cannot.missing', { what: 'branch', name: to }));
    if (seen.isOurs) return there(say('found.there', { what: 'branch', name }));
    if (tip !== null) return conflict(say('cannot.name-branch', { name }));
    if (seen.hasMerge || diff === '') return unchanged(say('found.backported', { number, to }));
    if (call && call.equalFailures >= CONFLICT_AFTER) return unchanged(say('found.backport-conflict', { number, to }));
    if (call) return toWrite({ branch: name, content: '', message: '', author: null }, { makes: true });
    if (diff === null) return unchanged(say('found.backport-conflict', { number, to, why: 'not-text' }));
    const title = (pull?.title ?? '').trim();
    const message = `${title}\n\nBackport of #${number} to ${to}\n\n${trailerOf(pull?.merge_commit_sha ?? '')}`;
    return toWrite(
      { branch: name, content: diff, message, author: seen.author },
      { makes: true, remember: { branch: name } },
    );
  },

  async write({ forge, place }, { number, to }, { branch: name, content, message, author }) {
    const body = { branch: to, new_branch: name, sha: ANY_SHA, content, message, ...(author ? { author } : {}) };
    await forge.applyPatch({ ...place, body });
    return changed(say('made.backport-branch', { number, to, name }));
  },

  recover: {
    settle: 'none',
    matcher: {
      echoes: ['branch.created', 'push'],
      isEcho: ({ data }, { snapshot }) => data['branch'] === (snapshot?.['branch'] ?? null),
    },
  },
});

interface SeenOpening extends Origin {
  /** Its changes do not apply. */
  readonly isConflict: boolean;
  /** The target has them. */
  readonly isDone: boolean;
  /** Ours with the commands to type, oldest first. */
  readonly comments: readonly Comment[];
  /** What is typed there; empty = not asked for. */
  readonly commands: string;
  /** Whether the author of the pull request can be assigned. */
  readonly canAssign: boolean;
}

type Opening =
  | { readonly opens: true; readonly branch: string; readonly pull: Pull; readonly canAssign: boolean }
  | { readonly opens: false; readonly commands: string };

/** The second step: the pull request, with labels and assignee in the same call; or the comment, where the first step met a conflict. */
export const openBackport = defineAction({
  ...shared,
  name: 'backport.open',
  summary: 'Open the pull request of a backport, or comment on a conflict',
  operations: [
    'createPull',
    'createComment',
    'getPull',
    'getPullByBranches',
    'getCommit',
    'listPullCommits',
    'listComments',
    'listAssignees',
    'getSelf',
  ],
  whereOffered: [],
  keyOf: ({ number, to }) => `${textOf(number)} ${textOf(to)}`,
  object: ({ number }) => issue(number),
  names: ({ to }) => ifNamed(to, branch),
  raises: ['pull_request.opened', 'pull_request.labeled', 'pull_request.assigned', 'comment.created'],
  effect: { makesOnly: true },
  example: { number: '12', to: 'release/1.4' },
  about: ({ number, to }) => ({ what: 'backport', name: `of #${number} to ${to}` }),
  whenTaken: ({ number, to }) => say('cannot.open-backport', { number, to }),

  async look({ forge, place, call, earlierSteps }, { number, to, assign }): Promise<SeenOpening> {
    const origin = await lookForOrigin(forge, place, { number, to });
    const isConflict = call ? call.snapshot?.['conflict'] === true : metConflict(await earlierSteps());
    const none = { isConflict, isDone: false, comments: [], commands: '', canAssign: false };
    const { pull, branch: name, backport: open } = origin;
    if (pull?.merged !== true || open) return { ...origin, ...none };
    if (isConflict) {
      const { id: self } = await forge.getSelf({});
      const comments = (await forge.listComments({ ...place, index: number })).filter(
        ({ user, body }) => self && user?.id === self && (body ?? '').includes(markOfConflict(to)),
      );
      const commands = call || comments.length > 0 ? '' : await commandsFor(forge, place, { pull, number, to, name });
      return { ...origin, ...none, comments, commands };
    }
    // What the target has by another commit makes an empty one.
    const made = await orMissing(forge.getCommit({ ...place, sha: name, stat: false }));
    const isDone = made !== null && (made.files ?? []).length === 0;
    const able = assign === 'author' && !call ? await forge.listAssignees(place) : [];
    const canAssign = able.some(({ login }) => isSameLogin(login, pull.user?.login ?? ''));
    return { ...origin, ...none, isDone: isDone || hasNothingToDo(await earlierSteps()), canAssign };
  },

  compare({ wanted: { number, to }, seen, call }): Decision<Opening> {
    const early = judgeOrigin({ number, to }, seen);
    if (early) return early;
    const { isConflict, comments, commands, branch: name, pull } = seen;
    const remember = { branch: name, conflict: isConflict, ids: [] };
    if (isConflict && comments.length > 0)
      return there(say('found.comment', { number, key: `backport to ${to}` }), { ids: idsOf(comments) });
    if (isConflict) return toWrite({ opens: false, commands }, call ? { makes: true } : { makes: true, remember });
    if (seen.isDone || pull === null) return unchanged(say('found.backported', { number, to }));
    const change = { opens: true, branch: name, pull, canAssign: seen.canAssign } as const;
    return toWrite(change, call ? { makes: true } : { makes: true, remember });
  },

  async write({ forge, place }, { number, to, labels, assign, failed }, change) {
    if (!change.opens) {
      const body = { body: `${change.commands}\n\n${markOfConflict(to)}` };
      const made = await forge.createComment({ ...place, index: number, body });
      return changed(say('made.comment', { number, key: `backport to ${to}`, edited: false }), { objectId: made.id });
    }
    const { branch: head, pull, canAssign } = change;
    const isFailed = (name: string | null | undefined): boolean => failed !== undefined && isSameName(name, failed);
    const copied = labels === 'copy' ? (pull.labels ?? []).filter(({ name, id: no }) => no && !isFailed(name)) : [];
    const body = {
      base: to,
      head,
      title: `[${to}] ${escapeTitle(pull.title ?? '')}`.slice(0, MAX_TITLE),
      body: `Backport of #${number} to \`${to}\`.\n\n${markOfOrigin(rootNumber(head))}`,
      ...(copied.length > 0 ? { labels: copied.map((one) => BigInt(one.id ?? 0)) } : {}),
      ...(assign && canAssign ? { assignees: [pull.user?.login ?? ''] } : {}),
    };
    const made = await forge.createPull({ ...place, body });
    return changed(say('made.backport', { number, to, made: String(made.number) }), { objectId: String(made.number) });
  },

  recover: {
    unread: 'doubled',
    matcher: {
      echoes: ['pull_request.opened', 'comment.created'],
      isEcho: ({ kind, data }, { params: wanted, snapshot }) =>
        kind === 'comment.created'
          ? snapshot?.['conflict'] === true && isAbout(data, wanted)
          : snapshot?.['conflict'] !== true && headOf(data) === (snapshot?.['branch'] ?? null),
    },
    duplicates: {
      removal: 'deleteComment',
      list: ({ comments }) => comments.map(({ id: no }) => ({ id: no ?? '', isRemovable: true })),
      remove: async ({ forge, target }, no) => forge.deleteComment?.({ ...placeOf(target), id: no }),
    },
  },
});

/** The third step: the label on a pull request whose changes do not apply. */
export const labelFailedBackport = defineAction({
  ...shared,
  name: 'backport.label',
  summary: 'Label a pull request whose backport met a conflict',
  operations: ['addIssueLabels', 'getPull', 'listLabels'],
  whereOffered: ['listOrgLabels'],
  keyOf: ({ number, to }) => `backport ${textOf(number)} ${textOf(to)}`,
  object: ({ number }) => issue(number),
  names: ({ failed }) => ifNamed(failed, label),
  raises: ['pull_request.labeled'],
  effect: { makesOnly: true },
  example: { number: '12', to: 'release/1.4', failed: 'backport/failed' },
  about: ({ number }) => ({ what: 'labels', number }),

  async look({ forge, place, call, earlierSteps }, { number }) {
    const isConflict = call !== null || metConflict(await earlierSteps());
    const pull = isConflict ? await orMissing(forge.getPull({ ...place, index: number })) : null;
    return { isConflict, pull, labels: isConflict ? await labelsByName(forge, place) : new Map() };
  },

  compare({ wanted: { number, to, failed = '' }, seen: { isConflict, pull, labels } }): Decision<string> {
    if (!isConflict) return unchanged(say('found.backport-applied', { number, to }));
    if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
    if ((pull.labels ?? []).some(({ name }) => isSameName(name, failed)))
      return there(say('found.as-wanted', { what: 'labels', number }));
    const existingLabel = labels.get(objectName(failed));
    if (!existingLabel?.id)
      return refused(say('cannot.missing', { what: 'label', name: failed, create: 'label.ensure' }));
    return toWrite(existingLabel.id);
  },

  async write({ forge, place }, { number, failed = '' }, no) {
    await forge.addIssueLabels({ ...place, index: number, body: { labels: [BigInt(no)] } });
    return changed(say('made.labels', { number, added: [failed], removed: [] }));
  },

  recover: {
    matcher: {
      echoes: ['pull_request.labeled'],
      isEcho: ({ data }, { params: wanted }) => isAbout(data, wanted),
    },
  },
});

type OriginReads = Pick<ForgeClient, 'getPull' | 'getPullByBranches' | 'getSelf'>;

async function lookForOrigin(
  forge: OriginReads,
  place: Place,
  { number, to }: Pick<Wanted, 'number' | 'to'>,
): Promise<Origin> {
  const pull = await orMissing(forge.getPull({ ...place, index: number }));
  if (pull?.merged !== true || pull.base?.ref === to) return { pull, branch: branchOf(number, to), backport: null };
  const name = branchOf(await firstOfChain(forge, pull, number), to);
  return { pull, branch: name, backport: await orMissing(forge.getPullByBranches({ ...place, base: to, head: name })) };
}

/** A backport of a backport is one of the first pull request: by the mark that the bot itself left in the text. */
async function firstOfChain(forge: OriginReads, pull: Pull, number: string): Promise<string> {
  const [, first] = /<!-- forgehand:backport-of:(\d+) -->/.exec(pull.body ?? '') ?? [];
  if (first === undefined) return number;
  const { id: self } = await forge.getSelf({});
  return self && pull.user?.id === self ? first : number;
}

/** What both steps end with before anything else is asked; null = nothing. */
function judgeOrigin(
  { number, to }: Pick<Wanted, 'number' | 'to'>,
  { pull, backport: open }: Origin,
): Decision<never> | null {
  if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
  const about = { what: 'pull request', number };
  if (pull.merged !== true)
    return pull.state === 'open'
      ? notYet(say('found.state', { ...about, state: 'not merged yet' }))
      : refused(say('found.state', { ...about, state: 'closed without a merge' }));
  if (pull.base?.ref === to) return unchanged(say('found.backported', { number, to }));
  if (!open) return null;
  const other = String(open.number);
  if (open.merged !== true && open.state !== 'open') return undone(say('found.closed-by-hand', { number: other }));
  return there(say('found.backport', { number, to, made: other }), { ids: [other] });
}

function branchOf(number: string, to: string): string {
  return `backport/${number}-to-${to}`;
}

function rootNumber(name: string): string {
  return /^backport\/(\d+)-/.exec(name)?.[1] ?? '';
}

/** As `git cherry-pick -x` writes it. */
function trailerOf(merge: string): string {
  return `(cherry picked from commit ${merge})`;
}

function namesMerge(text: string, merge: string): boolean {
  return text.split('\n').includes(trailerOf(merge));
}

function markOfOrigin(number: string): string {
  return `<!-- forgehand:backport-of:${number} -->`;
}

function markOfConflict(to: string): string {
  return `<!-- forgehand:backport-to:${encodeURIComponent(to).replaceAll('--', '%2D%2D')} -->`;
}

/** States of the chain, by the codes of its steps. */
function metConflict(steps: readonly EarlierStep[]): boolean {
  return steps.some(({ code }) => code === 'found.backport-conflict');
}

function hasNothingToDo(steps: readonly EarlierStep[]): boolean {
  return steps.some(({ code }) => code === 'found.backported');
}

function headOf(data: Readonly<Record<string, unknown>>): unknown {
  const { head } = (data['pull_request'] ?? {}) as Pull;
  return head?.ref;
}

/** What a person types where the forge could not apply the changes. A rebase made several commits, of which the last is the merge. */
async function commandsFor(
  forge: Pick<ForgeClient, 'getCommit' | 'listPullCommits'>,
  place: Place,
  { pull, number, to, name }: { pull: Pull; number: string; to: string; name: string },
): Promise<string> {
  const sha = pull.merge_commit_sha ?? '';
  const merge = await forge.getCommit({ ...place, sha, files: false, stat: false });
  const commits = await readAll(forge as ForgeClient, 'listPullCommits', { ...place, index: number });
  const isMerge = (merge.parents ?? []).length > 1;
  const isRebase = commits.length > 1 && commits[0]?.commit?.message === merge.commit?.message;
  const which = isMerge ? `-m 1 ${sha}` : isRebase ? `${sha}~${commits.length}..${sha}` : sha;
  return [
    `The changes of #${number} do not apply to \`${to}\` as they are. By hand:`,
    '',
    '    git fetch origin',
    `    git switch -c ${inShell(name)} ${inShell(`origin/${to}`)}`,
    `    git cherry-pick -x ${which}`,
    '    # mend the conflicts, git add, git cherry-pick --continue',
    `    git push -u origin ${inShell(name)}`,
    '',
    `Then open a pull request from \`${name}\` to \`${to}\`.`,
  ].join('\n');
}

/** A name of a branch as one word of a shell. */
function inShell(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}
