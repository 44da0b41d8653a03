import { say } from './reasons.js';
import { noneOf, valueOf } from './support/unfit.js';
import { defineAction, changed, conflict, refused, there, toWrite } from './define-action.js';
import { choice, flag, line, naming, optional, text } from './support/params.js';
import { differingSettings, statedOf, changesOf, valuesOf, type Settings } from './support/compare.js';
import { branch, ifNamed } from './support/objects.js';
import { orMissing } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

const on = (summary: string) => optional(flag(summary));

const params = {
  description: optional(line('what it is about', { max: 2048 })),
  website: optional(text('address of its website; empty = none', { max: 1024 })),
  private: on('true makes it private; it is never made public from here'),
  template: on('whether it is a template'),
  default_branch: optional(naming('branch', text('its default branch, which must exist', { max: 255 }))),
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
    choice('merge, rebase, rebase-merge, squash or fast-forward-only', {
      words: ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'],
    }),
  ),
  default_delete_branch_after_merge: on('deleting the branch after a merge, unless said otherwise'),
  default_allow_maintainer_edit: on('edits by maintainers, unless said otherwise'),
  ignore_whitespace_conflicts: on('conflicts of white space alone do not count'),
};

const SETTINGS = { what: 'settings' };

/**
 * Only the settings that the rule states are compared and written. Renaming, archiving and making public are left to people. Servers ignore
 * a default branch that is not there and a visibility that follows a fork's base, so their answer is looked at.
 */
export const ensureRepositorySettings = defineAction({
  name: 'repository_settings.ensure',
  summary: 'Make sure the repository has these settings',
  target: 'repository',
  params,
  operations: ['updateRepo', 'getRepo'],
  whereOffered: [],
  power: 'repository_settings.ensure',
  right: RIGHTS.repositoryAdmin,
  naturalKey: 'description',
  // One order key and one effect key per repository: two wishes about its settings never run beside each other.
  keyOf: () => 'settings',
  object: () => null,
  names: ({ default_branch }) => ifNamed(default_branch, branch),
  unfit: (inputs) => noneOf(inputs, Object.keys(params), 'has_wiki: false', say('params.none', { names: [] })),
  // Right only where there is nothing to do.
  unclear: (inputs) =>
    valueOf(inputs, 'private') === false
      ? { reason: say('cannot.publish'), param: 'private', hint: 'leave private out' }
      : null,
  raises: [],
  example: {
    has_wiki: false,
    allow_merge_commits: false,
    default_merge_style: 'squash',
    default_delete_branch_after_merge: true,
  },
  about: () => SETTINGS,

  async look({ forge, place, call }) {
    return (await (call ? orMissing(forge.getRepo(place)) : forge.getRepo(place))) as Settings | null;
  },

  compare({ wanted, seen }) {
    if (seen === null) return refused(say('found.gone', { what: 'repository' }));
    const different = differingSettings(wanted, seen);
    if (different.length === 0) return there(say('found.as-wanted', SETTINGS));
    if (wanted.private === false && different.includes('private')) return refused(say('cannot.publish'));
    // A switch of pull requests that are off is not told: the forge shows it once they are on.
    const isHidden = (name: string): boolean =>
      /^(allow_|default_(merge|delete|allow)|ignore_)/.test(name) && seen['has_pull_requests'] !== true;
    const unknown = different.filter((name) => seen[name] === undefined);
    if (unknown.some((name) => !isHidden(name)))
      return refused(say('cannot.set', { what: 'repositories', names: unknown }));
    return toWrite(
      { different, seen },
      { remember: { before: valuesOf(different, seen) }, differs: different.join(', ') },
    );
  },

  async write({ forge, place }, wanted, { different, seen }) {
    const body = Object.fromEntries(statedOf(wanted).filter(([name]) => different.includes(name)));
    const after = (await forge.updateRepo({ ...place, body })) as Settings;
    const stillDifferent = differingSettings(wanted, after);
    if (stillDifferent.length > 0)
      return conflict(say('found.kept', { ...SETTINGS, keeps: changesOf(stillDifferent, after, wanted) }));
    return changed(say('made.settings', { ...SETTINGS, changes: changesOf(different, seen, wanted) }));
  },

  recover: { absolute: true },
});
