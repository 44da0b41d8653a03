import picomatch from 'picomatch';
import type { Permission } from './permissions.js';
import { canWrite, teamsOf } from './permissions.js';
import type { BranchProtection, Repository, User, World } from './world.js';

/** Whether a rule's name is a glob: then it has no `branch_name`. */
export function isGlob(ruleName: string): boolean {
  return /[*?[\]{}\\]/.test(ruleName);
}

function covers(ruleName: string, branch: string): boolean {
  if (!isGlob(ruleName)) return ruleName.toLowerCase() === branch.toLowerCase();
  return picomatch.isMatch(branch, ruleName, { dot: true, nonegate: true, noextglob: true });
}

export function protectionsOf(world: World, repo: Repository): BranchProtection[] {
  const mine = world.protections.filter((one) => one.repoId === repo.id);
  if (world.habits.protections === 'by priority') return mine.sort((a, b) => a.rule.priority - b.rule.priority);
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
