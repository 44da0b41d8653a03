import { notYet, refused, there, undone, unchanged, type Decision } from '../define-action.js';
import { say } from '../reasons.js';
import { branchOfBackport, originIn, type Way } from './backport-words.js';
import type { Pull } from '../../core/objects/tracker.js';
import { orMissing, readAll, type ForgeClient } from '../../forge/forge-client.js';

/** What backports are about: the pull request whose changes are wanted, and what there is of its backport. */

export interface Place {
  readonly owner: string;
  readonly repo: string;
}

/** The pull request whose changes are wanted, and where they go. */
export interface Origin {
  /** Null = there is none. */
  readonly pull: Pull | null;
  /** The branch of the backport; a chain keeps the number of its first pull request. */
  readonly branch: string;
  /** The pull request of the backport, whoever opened it; of several the one that is open, otherwise the newest. */
  readonly backport: Pull | null;
}

type OriginReads = Pick<ForgeClient, 'getPull' | 'getPullByBranches' | 'listPulls' | 'getSelf'>;

export async function lookForOrigin(forge: OriginReads, place: Place, { number, to }: Way): Promise<Origin> {
  const pull = await orMissing(forge.getPull({ ...place, index: number }));
  if (pull?.merged !== true || pull.base?.ref === to)
    return { pull, branch: branchOfBackport({ number, to }), backport: null };
  const name = branchOfBackport({ number: await firstOfChain(forge, pull, number), to });
  return { pull, branch: name, backport: await pullOfBranches(forge, place, { base: to, head: name }) };
}

/** A backport of a backport is one of the first pull request: by the mark that the bot itself left in the text. */
async function firstOfChain(forge: OriginReads, pull: Pull, number: string): Promise<string> {
  const first = originIn(pull.body ?? '');
  if (first === null) return number;
  const { id: self } = await forge.getSelf({});
  return self && pull.user?.id === self ? first : number;
}

/** Of several of two branches the forge tells any one: the open one counts, of which there is one at most, and otherwise the newest. */
async function pullOfBranches(
  forge: OriginReads,
  place: Place,
  { base, head }: { base: string; head: string },
): Promise<Pull | null> {
  const anyOne = await orMissing(forge.getPullByBranches({ ...place, base, head }));
  if (anyOne === null || (!isAgit(anyOne) && !isClosed(anyOne))) return anyOne;
  const isOfBranches = (one: Pull): boolean =>
    one.base?.ref === base && one.head?.ref === head && one.head?.repo_id === anyOne.base?.repo_id && !isAgit(one);
  const open = await readAll(forge, 'listPulls', { ...place, state: 'open' });
  const newest = await forge.listPulls({ ...place, state: 'all', page: 1, limit: 50 });
  return [...open, ...newest].find(isOfBranches) ?? (isAgit(anyOne) ? null : anyOne);
}

/** Pushed to refs/for/: its head is a topic of somebody, which may be named like a branch. Gitea leaves the label out, Forgejo tells the flow too. */
function isAgit({ flow, head }: Pull): boolean {
  return flow === 1 || head?.label === '';
}

export function isClosed({ merged, state }: Pull): boolean {
  return merged !== true && state !== 'open';
}

/** What both steps end with before anything else is asked; null = nothing. @param isPastClosed a closed pull request of the backport says nothing */
export function judgeOrigin(
  { number, to }: Way,
  { pull, backport }: Origin,
  { isPastClosed }: { isPastClosed: boolean },
): Decision<never> | null {
  if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
  const about = { what: 'pull request', number };
  if (pull.merged !== true)
    return pull.state === 'open'
      ? notYet(say('found.state', { ...about, state: 'not merged yet' }))
      : refused(say('found.state', { ...about, state: 'closed without a merge' }));
  if (pull.base?.ref === to) return unchanged(say('found.backported', { number, to }));
  if (!backport) return null;
  const other = String(backport.number);
  if (!isClosed(backport)) return there(say('found.backport', { number, to, made: other }), { ids: [other] });
  return isPastClosed ? null : undone(say('found.closed-by-hand', { number: other }));
}
