import type { Json } from '../../core/json.js';
import { badRequest, forbidden, forbiddenEmpty, notFound } from '../answer.js';
import { doer, readId, type RepoCall } from '../guards.js';
import { canRead, canWrite } from '../permissions.js';
import type { Issue, Label, Milestone, Pull, User, World } from '../world.js';
import { labelsUsableIn } from './label.js';

export function touch(world: World, issue: Issue): void {
  issue.updatedAt = world.now();
  world.changed(issue.pull ? 'pull' : 'issue', issue.id, 'updated');
}

/**
 * The issue or pull request that `{index}` names.
 * @throws Refusal 404
 */
export function issueOf(call: RepoCall): Issue {
  const number = readId(call.params.index);
  for (const issue of call.world.issues.values())
    if (issue.repoId === call.repo.id && BigInt(issue.number) === number)
      return call.profile.tracker.unreadIssue === 'not there' ? mustRead(call, issue) : issue;
  throw notFound();
}

/** Whether the caller may read this kind: where its unit is switched off, nobody may. */
export function mayRead(call: RepoCall, issue: Pick<Issue, 'pull'>): boolean {
  return canRead(call.permission, issue.pull ? 'repo.pulls' : 'repo.issues');
}

/** @throws Refusal 404 */
export function mustRead<Of extends Issue>(call: RepoCall, issue: Of): Of {
  if (!mayRead(call, issue)) throw notFound();
  return issue;
}

/** @throws Refusal 404 also when it is an issue */
export function pullOf(call: RepoCall): Issue & { pull: Pull } {
  const issue = issueOf(call);
  if (!issue.pull) throw notFound();
  return issue as Issue & { pull: Pull };
}

/** Whether the caller may change what others wrote. */
export function mayWrite(call: RepoCall, issue: Pick<Issue, 'pull'>): boolean {
  return canWrite(call.permission, issue.pull ? 'repo.pulls' : 'repo.issues');
}

export function askWrite(call: RepoCall, issue: Issue): void {
  if (mayWrite(call, issue)) return;
  throw call.profile.tracker.labelRefusal === 'empty' ? forbiddenEmpty() : forbidden('write permission is required');
}

export function isPoster(call: RepoCall, posterId: User['id']): boolean {
  return doer(call).id === posterId;
}

/** Labels of these ids; unknown ones are dropped. */
export function labelsByIds(call: RepoCall, ids: readonly bigint[]): Label[] {
  return labelsUsableIn(call.world, call.repo).filter((label) => ids.includes(label.id));
}

/** All ids or all names; unknown ones are dropped, a name that several labels have means all of them. */
export function labelsNamed(call: RepoCall, wanted: Json | undefined): Label[] {
  const list = wanted ?? [];
  if (!Array.isArray(list)) throw badRequest('labels should be an array of strings or integers');
  if (list.every((one): one is string => typeof one === 'string'))
    return labelsUsableIn(call.world, call.repo).filter((label) => list.includes(label.name));
  if (!list.every((one) => typeof one === 'bigint' || (typeof one === 'number' && Number.isInteger(one))))
    throw badRequest('labels should be an array of strings or integers');
  return labelsByIds(
    call,
    list.map((one) => BigInt(one as number | bigint)),
  );
}

export function milestoneById(call: RepoCall, id: bigint): Milestone | undefined {
  const milestone = call.world.milestones.get(id);
  return milestone?.repoId === call.repo.id ? milestone : undefined;
}
