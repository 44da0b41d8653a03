import type { Unfit } from '../rules/language/revision.js';
import { say } from './reasons.js';
import { valueOf } from './support/unfit.js';
import type { Given } from './define-action.js';
import { defineEnsuringAction, textOf, changed, conflict, refused, unchanged } from './define-action.js';
import { flag, naming, optional, text, texts, whole } from './support/params.js';
import { defineRecovery, placeOf, resend, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { differingSettings, statedOf, changesOf, type Settings, decideSettingsOf } from './support/compare.js';
import { orMissing, whereOffered } from '../forge/forge-client.js';
import type { JsonObject } from '../core/json.js';
import type { BranchProtection } from '../core/objects/git.js';
import { RIGHTS } from '../core/rights.js';

const on = (summary: string) => optional(flag({ summary }));
const names = (summary: string) => optional(texts({ summary }));

const params = {
  name: naming(
    'branch',
    text({
      summary: 'name of its rule: a branch, or a pattern such as release/*',
      max: 255,
      check: (name) => (name.trim() === '' ? 'must not be empty' : null),
    }),
  ),
  required_approvals: optional(whole({ summary: 'approvals that a pull request needs', max: 100 })),
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
  protected_file_patterns: optional(text({ summary: 'files that nobody may change, as patterns separated by ;' })),
  unprotected_file_patterns: optional(text({ summary: 'files that everybody may push, as patterns separated by ;' })),
};

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

type WantedProtection = Settings & { readonly name: string };

interface SeenProtection {
  /** Null = there is none of that name. */
  readonly settings: Settings | null;
}

/** A protection has a name of its own, and its settings are absolute. */
const protectionRecovery = defineRecovery<WantedProtection, SeenProtection>({
  reads: ['getBranchProtection'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge, target }, { name }) {
    const found = await whereOffered(forge.getBranchProtection, (get) =>
      orMissing(get({ ...placeOf(target), name: name.trim() })),
    );
    return found === undefined ? null : { settings: found === null ? null : settingsIn(found) };
  },

  decide: decideProtection,
});

function decideProtection({ wanted, seen, ...facts }: RecoveryFacts<WantedProtection, SeenProtection>): Verdict {
  const { name, ...settings } = wanted;
  const about = { what: 'protection', name };
  // The forge refuses a second one of the name, and what is not there cannot be somebody else's.
  if (seen?.settings === null) return resend(say('found.absent', about));
  return decideSettingsOf(about, { ...facts, wanted: settings, seen: seen?.settings ?? null });
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

function offWithout([param, needs]: readonly [string, string]) {
  return say('params.off', { param, needs });
}

function unfit(given: Given): Unfit | null {
  const lacks = NEEDS.find(([one, needed]) => valueOf(given, one) === true && valueOf(given, needed) === false);
  return lacks ? { reason: offWithout(lacks), param: lacks[0] } : null;
}

/** Only the settings that the rule states are compared and written; all else of the protection stays as it is. */
export const ensureProtection = defineEnsuringAction({
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
  unfit,
  raises: [],
  example: { name: 'main', required_approvals: 1, block_on_rejected_reviews: true },

  recover: protectionRecovery,

  async ensure({ target, forge, remember }, { name: wantedName, ...settings }) {
    const where = { owner: target.owner, repo: target.name };
    const name = wantedName.trim();
    const about = { what: 'protection', name };
    const wanted: Settings = settings;
    const stated = Object.fromEntries(statedOf(wanted));
    const there = await orMissing(forge.getBranchProtection({ ...where, name }));
    const found: Settings = there === null ? {} : settingsIn(there);
    const lacks = NEEDS.find(
      ([one, needed]) => stated[one] === true && (stated[needed] ?? found[needed] ?? false) === false,
    );
    if (lacks) return refused(offWithout(lacks));
    if (there === null) {
      remember({ before: null });
      const made = await forge.createBranchProtection({ ...where, body: { ...stated, rule_name: name } });
      const left = differingSettings(wanted, settingsIn(made));
      if (left.length > 0)
        return conflict(say('found.kept', { ...about, keeps: changesOf(left, settingsIn(made), wanted) }));
      return changed(say('made.created', about));
    }
    const different = differingSettings(wanted, found);
    if (different.length === 0) return unchanged(say('found.as-wanted', about));
    const unknown = different.filter((setting) => found[setting] === undefined);
    if (unknown.length > 0) return refused(say('cannot.set', { what: 'protections', names: unknown }));
    remember({ before: Object.fromEntries(different.map((setting) => [setting, found[setting] ?? null])) });
    const after = settingsIn(
      await forge.updateBranchProtection({ ...where, name, body: bodyOf(different, stated, found) }),
    );
    const left = differingSettings(wanted, after);
    if (left.length > 0) return conflict(say('found.kept', { ...about, keeps: changesOf(left, after, wanted) }));
    return changed(say('made.settings', { ...about, changes: changesOf(different, found, wanted) }));
  },
});

/** What differs, and what servers want beside it. */
function bodyOf(different: readonly string[], stated: JsonObject, found: Settings): JsonObject {
  const beside = TOGETHER.filter((group) => group.some((setting) => different.includes(setting))).flat();
  const sent = [...new Set([...different, ...beside])].filter(
    (setting) => stated[setting] !== undefined || found[setting] !== undefined,
  );
  return Object.fromEntries(
    sent
      .map((setting) => [setting, stated[setting] ?? found[setting] ?? null] as const)
      .filter(([, value]) => value !== null),
  );
}
