import { defineAction, textOf, changed, refused, there, toWrite, type Decision } from './define-action.js';
import { say } from './reasons.js';
import { choice, commitId, id, optional } from './support/params.js';
import { issue } from './support/objects.js';
import { isAbout } from './support/compare.js';
import { isRefused, orMissing } from '../forge/forge-client.js';
import type { Pull } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

interface SeenPull {
  /** Null = there is none. */
  readonly pull: Pull | null;
  /** Commits of the base that the head has not; null = not asked for. */
  readonly behind: number | null;
}

/**
 * Servers answer 500 without a word where the head has all of its base, so both are compared before, and after a lost answer: a head that is up to date
 * then is the effect, whoever brought it about, and no second merge commit is made.
 */
export const updatePullBranch = defineAction({
  name: 'pull_request.update_branch',
  summary: 'Bring the branch of a pull request up to date with its base',
  target: 'repository',
  params: {
    number: id('number of the pull request'),
    sha: optional(commitId('head commit that it must be at. Default: any')),
    style: optional(choice('merge (default) or rebase', { words: ['merge', 'rebase'] })),
  },
  operations: ['updatePullBranch', 'getPull', 'compareCommits'],
  whereOffered: [],
  right: RIGHTS.code,
  naturalKey: 'number',
  keyOf: ({ number }) => textOf(number),
  object: ({ number }) => issue(number),
  names: () => [],
  raises: ['pull_request.synchronized', 'push'],
  // Who waits for a push means work, and not the base that came along.
  effect: { isExpected: (kind) => kind !== 'push' },
  example: { number: '12', style: 'merge' },
  about: ({ number }) => ({ what: 'branch of', number }),

  async look({ forge, place }, { number }): Promise<SeenPull> {
    const pull = await orMissing(forge.getPull({ ...place, index: number }));
    const [head, base] = [pull?.head?.sha, pull?.base?.ref];
    if (pull?.state !== 'open' || !head || !base) return { pull, behind: null };
    const missing = await forge.compareCommits({ ...place, basehead: `${head}...${base}` });
    return { pull, behind: Number(missing.total_commits ?? missing.commits?.length ?? 0) };
  },

  compare({ wanted: { number, sha, style = 'merge' }, seen: { pull, behind }, call }): Decision<'merge' | 'rebase'> {
    if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
    const about = { what: 'pull request', number };
    if (pull.merged === true) return there(say('found.state', { ...about, state: 'merged' }));
    if (behind === null)
      return refused(say('found.state', { ...about, state: pull.state === 'open' ? 'without a branch' : 'closed' }));
    if (behind === 0) return there(say('found.up-to-date', { number, base: pull.base?.ref ?? '' }));
    // Whoever moved it since our call: it is behind, and at a head that the rule did not see.
    if (sha !== undefined && pull.head?.sha !== sha)
      return refused(say('cannot.merge.head', { number, sha: pull.head?.sha ?? 'nothing' }));
    const remember = { head: pull.head?.sha ?? null, branch: pull.head?.ref ?? null };
    return toWrite(style, call ? {} : { remember });
  },

  async write({ forge, place }, { number }, style) {
    try {
      await forge.updatePullBranch({ ...place, index: number, style });
    } catch (error) {
      if (!isRefused(error, 409)) throw error;
      return refused(say('cannot.update.conflict', { number }));
    }
    return changed(say('made.updated', { number, style }));
  },

  recover: {
    matcher: {
      echoes: ['pull_request.synchronized', 'push'],
      isEcho: ({ kind, data }, { params, snapshot }) =>
        kind === 'push'
          ? data['branch'] === (snapshot?.['branch'] ?? null) && data['before'] === (snapshot?.['head'] ?? null)
          : isAbout(data, params),
    },
  },
});
