import type { Unfit } from '../rules/language/revision.js';
import { say } from './reasons.js';
import { givenOf, noneOf, valueOf } from './support/unfit.js';
import type { Given } from './define-action.js';
import { defineEnsuringAction, changed, conflict, refused, unchanged } from './define-action.js';
import { choice, flag, line, naming, optional, text } from './support/params.js';
import { defineRecovery, placeOf, settledAs, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { differingSettings, statedOf, changesOf, type Settings, decideSettingsOf } from './support/compare.js';
import { branch, given } from './support/objects.js';
import { orMissing, whereOffered } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

const on = (summary: string) => optional(flag({ summary }));

const params = {
  description: optional(line({ summary: 'what it is about', max: 2048 })),
  website: optional(text({ summary: 'address of its website; empty = none', max: 1024 })),
  private: on('true makes it private; it is never made public from here'),
  template: on('whether it is a template'),
  default_branch: optional(naming('branch', text({ summary: 'its default branch, which must exist', max: 255 }))),
  has_issues: on('issues'),
  has_wiki: on('the wiki'),
  has_projects: on('projects'),
  has_pull_requests: on('pull requests'),
  has_releases: on('releases'),
  has_packages: on('packages'),
  has_actions: on('workflows'),
  allow_merge_commits: on('merging with a merge commit'),
  allow_rebase: on('merging by rebase'),
  allow_rebase_explicit: on('rebase with a merge commit'),
  allow_squash_merge: on('merging as one commit'),
  allow_fast_forward_only_merge: on('fast-forward merging'),
  allow_rebase_update: on('updating a branch by rebase'),
  default_merge_style: optional(
    choice({
      summary: 'merge, rebase, rebase-merge, squash or fast-forward-only',
      words: ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'],
    }),
  ),
  default_delete_branch_after_merge: on('deleting the branch after a merge, unless said otherwise'),
  default_allow_maintainer_edit: on('edits by maintainers, unless said otherwise'),
  ignore_whitespace_conflicts: on('conflicts of white space alone do not count'),
};

interface SeenRepository {
  /** Null = it is gone. */
  readonly settings: Settings | null;
}

/** Absolute values, which the repository itself tells. */
const repositorySettingsRecovery = defineRecovery<Settings, SeenRepository>({
  reads: ['getRepo'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge, target }) {
    const found = await whereOffered(forge.getRepo, (get) => orMissing(get(placeOf(target))));
    return found === undefined ? null : { settings: found as Settings | null };
  },

  decide: decideRepositorySettings,
});

const SETTINGS = { what: 'settings' };

function decideRepositorySettings({ seen, ...facts }: RecoveryFacts<Settings, SeenRepository>): Verdict {
  if (seen?.settings === null) return settledAs('refused', say('found.gone', { what: 'repository' }));
  return decideSettingsOf(SETTINGS, { ...facts, seen: seen?.settings ?? null });
}

function unfit(given: Given): Unfit | null {
  return noneOf(given, Object.keys(params), 'has_wiki: false', say('params.none', { names: [] }));
}

/** Right only where there is nothing to do. */
function unclear(given: Given): Unfit | null {
  return valueOf(given, 'private') === false
    ? {
        reason: say('cannot.publish'),
        param: 'private',
        hint: 'leave private out',
      }
    : null;
}

/**
 * Only the settings that the rule states are compared and written. Renaming, archiving and making public are left to people. Servers ignore
 * a default branch that is not there and a visibility that follows a fork's base, so their answer is looked at.
 */
export const ensureRepositorySettings = defineEnsuringAction({
  name: 'repository_settings.ensure',
  summary: 'Make sure the repository has these settings',
  target: 'repository',
  params,
  operations: ['updateRepo', 'getRepo'],
  whereOffered: [],
  power: 'repository_settings.ensure',
  right: RIGHTS.repositoryAdmin,
  naturalKey: 'description',
  // One lane and one key per repository: two wishes about its settings never run beside each other.
  keyOf: () => 'settings',
  object: () => null,
  names: ({ default_branch }) => given(default_branch, branch),
  unfit: (given) => unfit(given) ?? unclear(given),
  raises: [],
  example: {
    has_wiki: false,
    allow_merge_commits: false,
    default_merge_style: 'squash',
    default_delete_branch_after_merge: true,
  },

  recover: repositorySettingsRecovery,

  async ensure({ target, forge, remember }, settings) {
    const where = { owner: target.owner, repo: target.name };
    const wanted: Settings = settings;
    const stated = statedOf(wanted);
    const wrong = unfit(givenOf(Object.fromEntries(stated)));
    if (wrong) return refused(wrong.reason);
    const found = (await forge.getRepo(where)) as Settings;
    const different = differingSettings(wanted, found);
    if (different.length === 0) return unchanged(say('found.as-wanted', SETTINGS));
    if (settings.private === false && different.includes('private')) return refused(say('cannot.publish'));
    const unknown = different.filter((name) => found[name] === undefined);
    // A switch of pull requests that are off is not told: the forge shows it once they are on.
    const isHidden = (name: string): boolean =>
      /^(allow_|default_(merge|delete|allow)|ignore_)/.test(name) && found['has_pull_requests'] !== true;
    if (unknown.some((name) => !isHidden(name)))
      return refused(say('cannot.set', { what: 'repositories', names: unknown }));
    remember({ before: Object.fromEntries(different.map((name) => [name, found[name] ?? null])) });
    const after = (await forge.updateRepo({
      ...where,
      body: Object.fromEntries(stated.filter(([name]) => different.includes(name))),
    })) as Settings;
    const left = differingSettings(wanted, after);
    if (left.length > 0) return conflict(say('found.kept', { ...SETTINGS, keeps: changesOf(left, after, wanted) }));
    return changed(say('made.settings', { ...SETTINGS, changes: changesOf(different, found, wanted) }));
  },
});
