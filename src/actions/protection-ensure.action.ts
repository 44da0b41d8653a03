import { say } from './reasons.js';
import { valueOf } from './support/unfit.js';
import { defineAction, textOf, changed, conflict, refused, there, toWrite, type Decision } from './define-action.js';
import { flag, naming, optional, text, texts, whole } from './support/params.js';
import { differingSettings, statedOf, changesOf, valuesOf, type Settings } from './support/compare.js';
import { orMissing } from '../forge/forge-client.js';
import type { JsonObject } from '../core/json.js';
import type { BranchProtection } from '../core/objects/git.js';
import { RIGHTS } from '../core/rights.js';

const on = (summary: string) => optional(flag(summary));
const names = (summary: string) => optional(texts(summary));

const params = {
  name: naming(
    'branch',
    text('name of its rule: a branch, or a pattern such as release/*', {
      max: 255,
      check: (name) => (name.trim() === '' ? 'must not be empty' : null),
    }),
  ),
  required_approvals: optional(whole('approvals that a pull request needs', { max: 100 })),
  enable_push: on('whether anybody may push at all'),
  enable_push_whitelist: on('only those who are listed may push'),
  push_whitelist_usernames: names('logins that may push'),
  push_whitelist_teams: names('teams that may push'),
  push_whitelist_deploy_keys: on('deploy keys may push'),
  enable_force_push: on('whether history may be rewritten'),
  enable_force_push_allowlist: on('only those who are listed may rewrite it'),
  force_push_allowlist_usernames: names('logins that may rewrite it'),
  force_push_allowlist_teams: names('teams that may rewrite it'),
  force_push_allowlist_deploy_keys: on('deploy keys may rewrite it'),
  enable_merge_whitelist: on('only those who are listed may merge'),
  merge_whitelist_usernames: names('logins that may merge'),
  merge_whitelist_teams: names('teams that may merge'),
  enable_approvals_whitelist: on('only approvals of those who are listed count'),
  approvals_whitelist_username: names('logins whose approvals count'),
  approvals_whitelist_teams: names('teams whose approvals count'),
  enable_bypass_allowlist: on('those who are listed may go past it'),
  bypass_allowlist_usernames: names('logins that may go past it'),
  bypass_allowlist_teams: names('teams that may go past it'),
  enable_status_check: on('whether statuses must be green'),
  status_check_contexts: names('contexts that must be green; patterns'),
  block_on_rejected_reviews: on('a rejecting review stops the merge'),
  block_on_official_review_requests: on('a review that is asked for and not given stops the merge'),
  block_on_outdated_branch: on('a branch behind its base is not merged'),
  dismiss_stale_approvals: on('new commits take approvals back'),
  ignore_stale_approvals: on('approvals of older commits do not count'),
  require_signed_commits: on('commits must be signed'),
  block_admin_merge_override: on('it holds for administrators too'),
  protected_file_patterns: optional(text('files that nobody may change, as patterns separated by ;')),
  unprotected_file_patterns: optional(text('files that everybody may push, as patterns separated by ;')),
};

interface ProtectionChange {
  readonly different: readonly string[];
  /** Null = a new one. */
  readonly now: Settings | null;
}

/** Servers read the second of these only where the first is given too, so they are sent together. */
const TOGETHER: ReadonlyArray<readonly string[]> = [
  ['enable_push', 'enable_push_whitelist', 'push_whitelist_deploy_keys'],
  ['enable_push', 'enable_force_push', 'enable_force_push_allowlist', 'force_push_allowlist_deploy_keys'],
  ['enable_status_check', 'status_check_contexts'],
];

/** What is off, whatever is asked for, unless the other is on. */
const NEEDS: ReadonlyArray<readonly [string, string]> = [
  ['enable_push_whitelist', 'enable_push'],
  ['enable_force_push', 'enable_push'],
  ['enable_force_push_allowlist', 'enable_force_push'],
];

/** Only the settings that the rule states are compared and written; all else of the protection stays as it is. */
export const ensureProtection = defineAction({
  name: 'protection.ensure',
  summary: 'Make sure a branch is protected, with these settings',
  target: 'repository',
  params,
  operations: ['updateBranchProtection', 'createBranchProtection', 'getBranchProtection'],
  whereOffered: [],
  power: 'protection.ensure',
  right: RIGHTS.repositoryAdmin,
  naturalKey: 'name',
  keyOf: ({ name }) => textOf(name).trim(),
  object: () => null,
  names: () => [],
  unfit(inputs) {
    const lacks = NEEDS.find(([one, needed]) => valueOf(inputs, one) === true && valueOf(inputs, needed) === false);
    return lacks ? { reason: offWithout(lacks), param: lacks[0] } : null;
  },
  raises: [],
  example: { name: 'main', required_approvals: 1, block_on_rejected_reviews: true },
  about: ({ name }) => ({ what: 'protection', name: name.trim() }),

  async look({ forge, place }, { name }) {
    const protection = await orMissing(forge.getBranchProtection({ ...place, name: name.trim() }));
    return protection && settingsIn(protection);
  },

  compare({ wanted: { name, ...wanted }, seen }): Decision<ProtectionChange> {
    const stated = Object.fromEntries(statedOf(wanted));
    const now: Settings = seen ?? {};
    const lacks = NEEDS.find(
      ([one, needed]) => stated[one] === true && (stated[needed] ?? now[needed] ?? false) === false,
    );
    if (lacks) return refused(offWithout(lacks));
    if (seen === null) return toWrite({ different: [], now: null }, { remember: { before: null } });
    const different = differingSettings(wanted, seen);
    if (different.length === 0) return there(say('found.as-wanted', { what: 'protection', name: name.trim() }));
    const unknown = different.filter((setting) => seen[setting] === undefined);
    if (unknown.length > 0) return refused(say('cannot.set', { what: 'protections', names: unknown }));
    const remember = { before: valuesOf(different, seen) };
    return toWrite({ different, now: seen }, { remember, differs: different.join(', ') });
  },

  async write({ forge, place }, { name: untrimmed, ...wanted }, { different, now }) {
    const name = untrimmed.trim();
    const about = { what: 'protection', name };
    const stated = Object.fromEntries(statedOf(wanted));
    const after = settingsIn(
      now === null
        ? await forge.createBranchProtection({ ...place, body: { ...stated, rule_name: name } })
        : await forge.updateBranchProtection({ ...place, name, body: bodyOf(different, stated, now) }),
    );
    const stillDifferent = differingSettings(wanted, after);
    if (stillDifferent.length > 0)
      return conflict(say('found.kept', { ...about, keeps: changesOf(stillDifferent, after, wanted) }));
    if (now === null) return changed(say('made.created', about));
    return changed(say('made.settings', { ...about, changes: changesOf(different, now, wanted) }));
  },

  // The forge refuses a second one of the name, and what is not there cannot be somebody else's.
  recover: { absolute: true },
});

function offWithout([param, needs]: readonly [string, string]) {
  return say('params.off', { param, needs });
}

/** As plain values; a list that the forge leaves empty is an empty one. */
function settingsIn(protection: BranchProtection): Settings {
  const {
    name: _name,
    rule_name: _rule,
    branch_name: _branch,
    created_at: _created,
    updated_at: _updated,
    ...settings
  } = protection;
  return Object.fromEntries(
    Object.entries(settings as JsonObject).map(([name, value]) => [
      name,
      name === 'status_check_contexts' ? (value ?? []) : value,
    ]),
  );
}

/** What differs, and what servers want beside it. */
function bodyOf(different: readonly string[], stated: JsonObject, now: Settings): JsonObject {
  const beside = TOGETHER.filter((group) => group.some((setting) => different.includes(setting))).flat();
  const names = [...new Set([...different, ...beside])].filter(
    (setting) => stated[setting] !== undefined || now[setting] !== undefined,
  );
  return Object.fromEntries(
    names
      .map((setting) => [setting, stated[setting] ?? now[setting] ?? null] as const)
      .filter(([, value]) => value !== null),
  );
}
