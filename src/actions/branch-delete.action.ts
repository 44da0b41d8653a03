import { defineAction, textOf, changed, refused, there, toWrite, unchanged, type Decision } from './define-action.js';
import { say } from './reasons.js';
import { commitId, naming, text } from './support/params.js';
import { branch } from './support/objects.js';
import { isRefused, orMissing, readAll } from '../forge/forge-client.js';
import type { Pull } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

interface SeenBranch {
  /** Null = there is none. */
  readonly sha: string | null;
  readonly isDefault: boolean;
  readonly isProtected: boolean;
  /** Open pull requests that begin or end at it: a server closes those that begin there. */
  readonly pulls: readonly string[];
}

const GONE: SeenBranch = { sha: null, isDefault: false, isProtected: false, pulls: [] };

/**
 * A branch is deleted at the one commit that the rule saw: what was pushed since then would be lost. Its name is the forge's own key, so a second call
 * finds nothing (404, or 500 on Forgejo), and no lost answer can delete what was made anew at another commit.
 */
export const deleteBranch = defineAction({
  name: 'branch.delete',
  summary:
    'Delete a branch that is at this commit, unless it is the default branch, protected, or has an open pull request',
  target: 'repository',
  params: {
    branch: naming(
      'branch',
      text('name of the branch', { max: 255, check: (name) => (name === '' ? 'must not be empty' : null) }),
    ),
    sha: commitId('commit that it must be at, such as ${{ event.sha }} of its pull request'),
  },
  operations: ['deleteBranch', 'getBranch', 'getRepo', 'listPulls'],
  whereOffered: [],
  power: 'branch.delete',
  sharesKeyWith: 'createBranch',
  right: RIGHTS.code,
  naturalKey: 'branch',
  keyOf: ({ branch: name }) => textOf(name),
  object: ({ branch: name }) => branch(name),
  names: () => [],
  overwrites: true,
  raises: ['branch.deleted', 'push'],
  effect: { isExpected: (kind) => kind !== 'push', refs: { branch: 'branch' }, undoes: 'branch.create' },
  example: { branch: 'feature/login', sha: '0123456789abcdef0123456789abcdef01234567' },
  about: ({ branch: name }) => ({ what: 'branch', name }),

  async look({ forge, place, call }, { branch: name, sha }): Promise<SeenBranch> {
    // After a merge that deleted it, the head of a pull request is a ref of the server's own.
    if (name.startsWith('refs/')) return GONE;
    const seen = await orMissing(forge.getBranch({ ...place, branch: name }));
    const commit = seen?.commit?.id ?? null;
    // What else may stand against it is asked only where it would be deleted.
    if (seen === null || commit !== sha || call) return { ...GONE, sha: commit };
    const repo = await forge.getRepo(place);
    const open = await readAll(forge, 'listPulls', { ...place, state: 'open' });
    return {
      sha: commit,
      isDefault: repo.default_branch === name,
      isProtected: seen.protected === true,
      pulls: open.filter((pull) => isAt(pull, name, repo.id)).map(({ number }) => String(number)),
    };
  },

  compare({ wanted: { branch: name, sha }, seen }): Decision<null> {
    const about = { what: 'branch', name };
    if (seen.sha === null) return there(say('found.absent', about));
    if (seen.sha !== sha) return refused(say('cannot.delete.moved', { name, sha: seen.sha, wanted: sha }));
    if (seen.isDefault) return refused(say('cannot.delete.default', { name }));
    if (seen.isProtected) return refused(say('cannot.delete.protected', { name }));
    if (seen.pulls.length > 0) return refused(say('cannot.delete.in-use', { name, pulls: seen.pulls }));
    return toWrite(null, { remember: { sha } });
  },

  async write({ forge, place }, { branch: name }) {
    const about = { what: 'branch', name };
    try {
      await forge.deleteBranch({ ...place, branch: name });
    } catch (error) {
      if (!isRefused(error, 404)) throw error;
      return unchanged(say('found.gone', about));
    }
    return changed(say('made.removed', about));
  },

  recover: {
    unread: 'harmless',
    matcher: {
      echoes: ['branch.deleted'],
      isEcho: ({ data }, { params }) => data['branch'] === params['branch'],
    },
  },
});

/** It begins or ends at the branch of this repository; those of forks may have heads of the same name. */
function isAt({ base, head }: Pull, name: string, repoId: string | null | undefined): boolean {
  return base?.ref === name || (head?.ref === name && (head.repo?.id ?? head.repo_id) === repoId);
}
