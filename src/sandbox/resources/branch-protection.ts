import type { branchProtection as apiBranchProtection } from '../../core/objects/git.js';
import picomatch from 'picomatch';
import { badRequest, created, forbidden, notFound, ok, unprocessable } from '../answer.js';
import { bind, type Bound, field } from '../body.js';
import { doer, onRepository, type RepoAccess, type RepoCall } from '../guards.js';
import { shaped, shownTime, type Shown } from '../render/view.js';
import { canRead, canWrite, type Permission, permissionOn, teamsOf } from '../permissions.js';
import type { Handlers } from '../handler.js';
import { atLeast, type Repository, type User, type World } from '../world.js';
import { type BranchProtection, NO_RULE, type ProtectionRule } from '../entities/repository.js';

/** Whether a rule's name is a glob: then it has no `branch_name`. */
function isGlob(ruleName: string): boolean {
  return /[*?[\]{}\\]/.test(ruleName);
}

function covers(ruleName: string, branch: string): boolean {
  if (!isGlob(ruleName)) return ruleName.toLowerCase() === branch.toLowerCase();
  return picomatch.isMatch(branch, ruleName, { dot: true, nonegate: true, noextglob: true });
}

function protectionsOf(world: World, repo: Repository): BranchProtection[] {
  const mine = world.protections.filter((one) => one.repoId === repo.id);
  if (world.quirks.protections === 'by priority') return mine.sort((a, b) => a.rule.priority - b.rule.priority);
  return mine.sort((a, b) => Number(isGlob(a.ruleName)) - Number(isGlob(b.ruleName)));
}

/** The rule in effect on a branch: the first that covers it. */
export function protectionOf(world: World, repo: Repository, branch: string): BranchProtection | undefined {
  return protectionsOf(world, repo).find(({ ruleName }) => covers(ruleName, branch));
}

interface Allowed {
  usernames: readonly string[];
  teams: readonly string[];
}

function isListed(world: World, user: User, repoId: bigint, { usernames, teams }: Allowed): boolean {
  if (usernames.some((name) => name.toLowerCase() === user.login.toLowerCase())) return true;
  const mine = teamsOf(world, world.repo(repoId).ownerId, user.id).map(({ name }) => name.toLowerCase());
  return teams.some((name) => mine.includes(name.toLowerCase()));
}

/** What somebody may do to a branch under a rule (or none). */
export function branchRights(
  world: World,
  user: User | null,
  permission: Permission,
  protection: BranchProtection | undefined,
): { push: boolean; merge: boolean } {
  const writes = user !== null && canWrite(permission, 'repo.code');
  if (!protection || user === null) return { push: writes, merge: writes };
  const { rule, repoId } = protection;
  const mayPush = { usernames: rule.push_whitelist_usernames, teams: rule.push_whitelist_teams };
  const mayMerge = { usernames: rule.merge_whitelist_usernames, teams: rule.merge_whitelist_teams };
  return {
    push: rule.enable_push && (rule.enable_push_whitelist ? isListed(world, user, repoId, mayPush) : writes),
    merge: rule.enable_merge_whitelist ? isListed(world, user, repoId, mayMerge) : writes,
  };
}

const READ: RepoAccess = { level: 'admin' };
const WRITE: RepoAccess = { level: 'admin', notArchived: true };

const USER_LISTS = [
  'push_whitelist_usernames',
  'force_push_allowlist_usernames',
  'merge_whitelist_usernames',
  'bypass_allowlist_usernames',
  'approvals_whitelist_username',
] as const;
const TEAM_LISTS = [
  'push_whitelist_teams',
  'force_push_allowlist_teams',
  'merge_whitelist_teams',
  'bypass_allowlist_teams',
  'approvals_whitelist_teams',
] as const;

/** Body fields of a rule, one per field of `NO_RULE`, by the type of its value there. */
function ruleFields() {
  const kinds = Object.entries(NO_RULE).map(([key, value]) => {
    if (typeof value === 'boolean') return [key, field.flag()];
    if (typeof value === 'number') return [key, field.int()];
    return [key, typeof value === 'string' ? field.text() : field.texts()];
  });
  return Object.fromEntries(kinds) as Record<keyof typeof NO_RULE, ReturnType<typeof field.any>>;
}

type Wish = Bound<ReturnType<typeof ruleFields>>;

function fieldsIn(wish: Wish): Partial<ProtectionRule> {
  return Object.fromEntries(
    Object.keys(NO_RULE).flatMap((key) =>
      wish[key as keyof Wish] === undefined ? [] : [[key, wish[key as keyof Wish]]],
    ),
  );
}

/** Lists name people and teams that are there. @throws Refusal 422 */
function checkNames({ world, repo }: RepoCall, rule: Partial<ProtectionRule>): void {
  for (const name of USER_LISTS.flatMap((key) => rule[key] ?? [])) {
    if (!world.userByName(name)) throw unprocessable(`user does not exist [uid: 0, name: ${name}]`);
  }
  const teams = [...world.teams.values()]
    .filter((team) => team.orgId === repo.ownerId)
    .map(({ name }) => name.toLowerCase());
  for (const name of TEAM_LISTS.flatMap((key) => rule[key] ?? [])) {
    if (!teams.includes(name.toLowerCase()))
      throw unprocessable(`team does not exist [org_id ${repo.ownerId}, team_id 0, name: ${name}]`);
  }
}

/** What depends on pushes being allowed at all is off without. */
function settled(rule: ProtectionRule): ProtectionRule {
  const enable_push_whitelist = rule.enable_push && rule.enable_push_whitelist;
  const enable_force_push = rule.enable_push && rule.enable_force_push;
  return {
    ...rule,
    enable_push_whitelist,
    enable_force_push,
    enable_force_push_allowlist: enable_force_push && rule.enable_force_push_allowlist,
  };
}

/** Whose access is gone is left out of the lists, without a word. */
function listedUsers(call: RepoCall, names: readonly string[]): string[] {
  return names.filter((name) => {
    const user = call.world.userByName(name);
    const permission = user && permissionOn(call.world, user, call.repo);
    if (!permission) return false;
    if (call.profile.repositories.protectionNames === 'readers') return canRead(permission, 'repo.code');
    return atLeast(permission.mode, call.repo.private ? 'read' : 'write');
  });
}

function render(
  call: RepoCall,
  { ruleName, rule, createdAt, updatedAt }: BranchProtection,
): Shown<typeof apiBranchProtection> {
  const { view } = call;
  const { priority, ...rest } = {
    ...rule,
    ...Object.fromEntries(USER_LISTS.map((key) => [key, listedUsers(call, rule[key])])),
  };
  return shaped(view, 'protection', {
    branch_name: isGlob(ruleName) ? '' : ruleName,
    rule_name: ruleName,
    priority,
    ...rest,
    created_at: shownTime(view, createdAt),
    updated_at: shownTime(view, updatedAt),
  });
}

function find(call: RepoCall): BranchProtection {
  const protection = protectionsOf(call.world, call.repo).find(({ ruleName }) => ruleName === call.params.name);
  if (!protection) throw notFound();
  return protection;
}

function report(call: RepoCall, protection: BranchProtection, what: 'created' | 'updated' | 'deleted'): void {
  call.world.changed('branch_protection', `${call.repo.id}/${protection.ruleName}`, what);
  call.world.happened(doer(call), {
    kind: what === 'deleted' ? 'protection.removed' : 'protection.set',
    repo: call.repo,
    protection,
  });
}

export const protectionHandlers: Handlers = {
  /** Op 10: by the rule's name, never by a branch it covers. */
  getBranchProtection: onRepository(READ, (call) => ok(render(call, find(call)))),

  listBranchProtections: onRepository(READ, (call) =>
    ok(protectionsOf(call.world, call.repo).map((one) => render(call, one))),
  ),

  createBranchProtection: onRepository(WRITE, (call) => {
    const { world, repo } = call;
    const names = bind(call, { rule_name: field.text(), branch_name: field.text(), priority: field.int() });
    const wish = fieldsIn(bind(call, ruleFields()));
    const ruleName = names.rule_name || names.branch_name || '';
    if (ruleName === '') throw badRequest('both rule_name and branch_name are empty');
    const others = protectionsOf(world, repo);
    if (others.some((one) => one.ruleName === ruleName)) throw forbidden('Branch protection already exist');
    checkNames(call, wish);
    const priority = names.priority || Math.max(0, ...others.map((one) => one.rule.priority)) + 1;
    const protection: BranchProtection = {
      repoId: repo.id,
      ruleName,
      rule: settled({ priority, ...NO_RULE, ...wish }),
      createdAt: world.now(),
      updatedAt: world.now(),
    };
    world.protections.push(protection);
    report(call, protection, 'created');
    return created(render(call, protection));
  }),

  /** Only the fields that are given change. */
  updateBranchProtection: onRepository(WRITE, (call) => {
    const protection = find(call);
    const { priority } = bind(call, { priority: field.int() });
    const wish = fieldsIn(bind(call, ruleFields()));
    checkNames(call, wish);
    protection.rule = settled({ ...protection.rule, ...wish, priority: priority || protection.rule.priority });
    protection.updatedAt = call.world.now();
    report(call, protection, 'updated');
    return ok(render(call, protection));
  }),

  deleteBranchProtection: onRepository(WRITE, (call) => {
    const protection = find(call);
    call.world.protections.splice(call.world.protections.indexOf(protection), 1);
    report(call, protection, 'deleted');
  }),
};
