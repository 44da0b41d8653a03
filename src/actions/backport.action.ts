import {
  defineAction,
  textOf,
  changed,
  refused,
  there,
  toWrite,
  unchanged,
  undone,
  type Decision,
  type EarlierStep,
} from './define-action.js';
import { say, type Obstacle } from './reasons.js';
import { choice, id, naming, optional, referring, text } from './support/params.js';
import { branch, ifNamed, issue, label } from './support/objects.js';
import {
  branchOfBackport,
  hasCommands,
  isCopied,
  markOfObstacle,
  messageOf,
  namesMerge,
  textOfBackport,
  textOfObstacle,
  type Picked,
} from './support/backport-words.js';
import { isClosed, judgeOrigin, lookForOrigin, type Origin, type Place } from './support/backport-origin.js';
import { isAbout, isSameLogin } from './support/compare.js';
import { labelsByName } from './support/labels-by-name.js';
import { idsIn, placeOf } from './support/recovery.js';
import { idsOf } from './support/same-name.js';
import { orMissing, readAll, type ForgeClient } from '../forge/forge-client.js';
import { escapeTitle } from '../core/escape-markdown.js';
import { isSameName, objectName } from '../core/object-name.js';
import { ForgeError } from '../core/errors.js';
import type { Comment, Pull } from '../core/objects/tracker.js';
import type { JsonObject } from '../core/json.js';
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
  labels: optional(
    choice('copy: those of the pull request, without `failed` and those that begin with backport/', {
      words: ['copy'],
    }),
  ),
  failed: referring('label', optional(text('label for the pull request when its backport cannot be made'))),
};

interface SeenBranch extends Origin {
  /** Commit of the branch that gets the changes; null = there is none, or it was not asked for. */
  readonly target: string | null;
  /** Commit of the branch of the backport; null = there is none. */
  readonly tip: string | null;
  /** The branch of the backport has our commit. */
  readonly isOurs: boolean;
  /** The target has the merge itself. */
  readonly hasMerge: boolean;
  /** Or why there is none to send; null = it was not asked for. */
  readonly diff: { readonly text: string } | Obstacle | null;
  readonly author: { readonly name: string; readonly email: string } | null;
  /** A person wants it once more, whatever became of an earlier one. */
  readonly isAsked: boolean;
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
    'listPulls',
    'getBranch',
    'listCommits',
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
  whenTaken: (wanted, words) => say('cannot.name-branch', { name: branchOfBackport(wanted), words }),
  takenBy: 422,

  async look({ forge, place, call, isAsked }, { number, to }): Promise<SeenBranch> {
    const origin = await lookForOrigin(forge, place, { number, to });
    const { pull, branch: name, backport: open } = origin;
    const none = { target: null, tip: null, isOurs: false, hasMerge: false, diff: null, author: null, isAsked };
    if (pull?.merged !== true || pull.base?.ref === to || (open && !isClosed(open))) return { ...origin, ...none };
    const target = (await orMissing(forge.getBranch({ ...place, branch: to })))?.commit?.id ?? null;
    const tip = (await orMissing(forge.getBranch({ ...place, branch: name })))?.commit?.id ?? null;
    if (target === null) return { ...origin, ...none, tip };
    const merge = pull.merge_commit_sha ?? '';
    // A comparison of two branches is read whole, and that of an old release with the newest work is too large for it.
    const beyond = { not: target, page: 1, files: false, stat: false, verification: false };
    if (tip !== null) {
      const commits = await forge.listCommits({ ...place, ...beyond, sha: tip, limit: 50 });
      return {
        ...origin,
        ...none,
        target,
        tip,
        isOurs: commits.some(({ commit }) => namesMerge(commit?.message ?? '', merge)),
      };
    }
    const isMissing =
      merge === '' || (await forge.listCommits({ ...place, ...beyond, sha: merge, limit: 1 })).length > 0;
    if (!isMissing) return { ...origin, ...none, target, hasMerge: true };
    if (call) return { ...origin, ...none, target };
    const [newest] = await forge.listPullCommits({ ...place, index: number, page: 1, limit: 1 });
    const { name: person, email } = newest?.commit?.author ?? {};
    return {
      ...origin,
      ...none,
      target,
      diff: await diffOf(forge, { ...place, index: number }),
      author: person && email ? { name: person, email } : null,
    };
  },

  compare({ wanted: { number, to }, seen, call }): Decision<Patch> {
    const { pull, branch: name, target, tip, diff } = seen;
    const early = judgeOrigin({ number, to }, seen, { isPastClosed: seen.isAsked || call !== null });
    if (early) return early;
    const stopsAt = (why: Obstacle): Decision<Patch> => unchanged(say('found.backport-conflict', { number, to, why }));
    if (target === null) return stopsAt('no-target');
    if (seen.isOurs) return there(say('found.there', { what: 'branch', name }));
    if (tip !== null) return stopsAt('name-taken');
    if (seen.hasMerge) return unchanged(say('found.backported', { number, to }));
    if (call && call.equalFailures >= CONFLICT_AFTER) return stopsAt('conflict');
    if (call || pull === null || diff === null)
      return toWrite({ branch: name, content: '', message: '', author: null }, { makes: true });
    if (typeof diff === 'string') return stopsAt(diff);
    if (diff.text === '') return unchanged(say('found.backported', { number, to }));
    return toWrite(
      { branch: name, content: diff.text, message: messageOf(pull, { number, to }), author: seen.author },
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
  /** Why the first step made no branch; null = it did, or there was nothing to do. */
  readonly obstacle: Obstacle | null;
  /** The target has them. */
  readonly isDone: boolean;
  /** The first step saw the pull request of the backport. */
  readonly wasThere: boolean;
  /** Ours about this obstacle, oldest first. */
  readonly comments: readonly Comment[];
  /** What is to be said there; empty = not asked for. */
  readonly text: string;
  /** Whether the author of the pull request can be assigned. */
  readonly canAssign: boolean;
}

type Opening =
  | { readonly opens: true; readonly branch: string; readonly pull: Pull; readonly canAssign: boolean }
  | { readonly opens: false; readonly body: string };

/** The second step: the pull request, with labels and assignee in the same call; or the comment, where the first step met an obstacle. */
export const openBackport = defineAction({
  ...shared,
  name: 'backport.open',
  summary: 'Open the pull request of a backport, or comment on what is in its way',
  operations: [
    'createPull',
    'createComment',
    'getPull',
    'getPullByBranches',
    'listPulls',
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
    const steps = await earlierSteps();
    const obstacle = call ? obstacleOf(call.snapshot) : obstacleIn(steps);
    const wasThere = hasSaid(steps, 'found.backport');
    const none = { obstacle, wasThere, isDone: false, comments: [], text: '', canAssign: false };
    const { pull, branch: name, backport: open } = origin;
    if (pull?.merged !== true || (open && (wasThere || !isClosed(open)))) return { ...origin, ...none };
    if (obstacle) {
      const { id: self } = await forge.getSelf({});
      const comments = (await forge.listComments({ ...place, index: number })).filter(
        ({ user, body }) => self && user?.id === self && (body ?? '').includes(markOfObstacle(to, obstacle)),
      );
      if (call || comments.length > 0) return { ...origin, ...none, comments };
      const picked = hasCommands(obstacle) ? await pickedOf(forge, place, pull, number) : null;
      return { ...origin, ...none, text: textOfObstacle({ number, to }, obstacle, name, picked) };
    }
    // What the target has by another commit makes an empty one.
    const made = await orMissing(forge.getCommit({ ...place, sha: name, stat: false }));
    const isEmpty = made !== null && (made.files ?? []).length === 0;
    const able = assign === 'author' && !call ? await forge.listAssignees(place) : [];
    const canAssign = able.some(({ login }) => isSameLogin(login, pull.user?.login ?? ''));
    return { ...origin, ...none, isDone: isEmpty || hasSaid(steps, 'found.backported'), canAssign };
  },

  compare({ wanted: { number, to }, seen, call }): Decision<Opening> {
    const { obstacle, comments, text: words, branch: name, pull, backport: other } = seen;
    // The first step judged a closed one. One that came since our call is that of the call, whatever became of it.
    const early = judgeOrigin({ number, to }, seen, { isPastClosed: !seen.wasThere });
    if (early) return early;
    const closed = other ? [String(other.number)] : [];
    if (call && closed.some((no) => !idsIn(call.snapshot).has(no)))
      return there(say('found.backport', { number, to, made: closed.join() }), { ids: closed });
    if (obstacle && comments.length > 0)
      return there(say('found.comment', { number, key: `backport to ${to}` }), { ids: idsOf(comments) });
    if (!obstacle && (seen.isDone || pull === null)) return unchanged(say('found.backported', { number, to }));
    const change: Opening =
      obstacle || pull === null
        ? { opens: false, body: `${words}\n\n${markOfObstacle(to, obstacle ?? 'conflict')}` }
        : { opens: true, branch: name, pull, canAssign: seen.canAssign };
    if (call) return toWrite(change, { makes: true });
    const remember = { branch: name, conflict: obstacle !== null, ...(obstacle ? { obstacle } : {}), ids: closed };
    return toWrite(change, { remember });
  },

  async write({ forge, place }, { number, to, labels, assign, failed }, change) {
    if (!change.opens) {
      const made = await forge.createComment({ ...place, index: number, body: { body: change.body } });
      return changed(say('made.comment', { number, key: `backport to ${to}`, edited: false }), { objectId: made.id });
    }
    const { branch: head, pull, canAssign } = change;
    const copied =
      labels === 'copy' ? (pull.labels ?? []).filter(({ name, id: no }) => no && isCopied(name, failed)) : [];
    const body = {
      base: to,
      head,
      title: `[${to}] ${escapeTitle(pull.title ?? '')}`.slice(0, MAX_TITLE),
      body: textOfBackport(pull, { number, to }, head),
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

/** The third step: the label on a pull request whose backport met an obstacle. */
export const labelFailedBackport = defineAction({
  ...shared,
  name: 'backport.label',
  summary: 'Label a pull request whose backport could not be made',
  operations: ['addIssueLabels', 'getPull', 'listLabels'],
  whereOffered: ['listOrgLabels'],
  keyOf: ({ number, to }) => `backport ${textOf(number)} ${textOf(to)}`,
  object: ({ number }) => issue(number),
  names: ({ failed }) => ifNamed(failed, label),
  raises: ['pull_request.labeled'],
  effect: { makesOnly: true },
  example: { number: '12', to: 'release/1.4', failed: 'backport/failed' },
  about: ({ number }) => ({ what: 'labels', number }),

  async look({ forge, place, call, earlierSteps, lastMade }, { number }) {
    const steps = await earlierSteps();
    const isFailed = call !== null || obstacleIn(steps) !== null;
    const pull = isFailed ? await orMissing(forge.getPull({ ...place, index: number })) : null;
    return {
      isFailed,
      isTried: steps.some(({ action, state }) => action === 'backport' && state !== 'suppressed'),
      isLeftOff: isFailed && (await lastMade()) !== null,
      pull,
      labels: isFailed ? await labelsByName(forge, place) : new Map(),
    };
  },

  compare({ wanted: { number, to, failed = '' }, seen }): Decision<string> {
    const { isFailed, isTried, isLeftOff, pull, labels } = seen;
    if (!isFailed) return unchanged(say(isTried ? 'found.backport-applied' : 'found.backport-untried', { number, to }));
    if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
    if ((pull.labels ?? []).some(({ name }) => isSameName(name, failed)))
      return there(say('found.as-wanted', { what: 'labels', number }));
    if (isLeftOff) return undone(say('found.taken-off', { number, labels: [failed] }));
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

async function diffOf(
  forge: Pick<ForgeClient, 'getPullDiff'>,
  where: Place & { readonly index: string },
): Promise<NonNullable<SeenBranch['diff']>> {
  try {
    const text = await forge.getPullDiff({ ...where, binary: true });
    return text === null ? 'not-text' : { text };
  } catch (error) {
    if (error instanceof ForgeError && error.facts.detail === 'too-large') return 'too-large';
    throw error;
  }
}

/** What the first step met, by the code of its end; null = nothing. */
function obstacleIn(steps: readonly EarlierStep[]): Obstacle | null {
  const end = steps.find(({ code }) => code === 'found.backport-conflict');
  return end ? ((end.params?.['why'] ?? 'conflict') as Obstacle) : null;
}

/** The same as a call was stored with it. */
function obstacleOf(snapshot: JsonObject | null): Obstacle | null {
  return snapshot?.['conflict'] === true ? ((snapshot['obstacle'] ?? 'conflict') as Obstacle) : null;
}

function hasSaid(steps: readonly EarlierStep[], code: string): boolean {
  return steps.some((step) => step.code === code);
}

function headOf(data: Readonly<Record<string, unknown>>): unknown {
  const { head } = (data['pull_request'] ?? {}) as Pull;
  return head?.ref;
}

async function pickedOf(
  forge: Pick<ForgeClient, 'getCommit' | 'listPullCommits'>,
  place: Place,
  { merge_commit_sha: sha }: Pull,
  number: string,
): Promise<Picked> {
  return {
    merge: await forge.getCommit({ ...place, sha: sha ?? '', files: false, stat: false }),
    commits: await readAll(forge, 'listPullCommits', { ...place, index: number }),
  };
}
