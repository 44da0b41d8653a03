import { z } from 'zod';
import { forbidden, notFound, archived } from '../answer.js';
import { canWrite, isOrgOwner, isRepoAdmin, permissionOn, teamsOf } from '../permissions.js';
import type { Id, Issue, Owner, Repository, Team, Unit } from '../world.js';
import type { OperationName } from '../../forge/operations.js';
import { type Act, type ActContext, defineAct } from './define-act.js';

export const repoField = z.string().regex(/^[^/]+\/[^/]+$/, 'owner/name is needed');
const numberField = z.number().int().positive();

/** An issue or pull request. */
export const on = { repo: repoField, number: numberField };
type At = z.output<z.ZodObject<typeof on>>;

/** One commit of a push: files written and removed. */
export const commitField = z.strictObject({
  message: z.string().min(1).default('docs: note'),
  files: z.record(z.string(), z.string()).default({}),
  removed: z.array(z.string()).default([]),
});

/** Path parameters of a repository's calls. */
export function repoParams(name: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = name.split('/');
  return { owner, repo };
}

/** The API's own call on an issue or pull request. */
export function callOn(operation: OperationName) {
  return ({ call }: ActContext, { repo, number }: At, body?: object): Promise<unknown> =>
    call(operation, { params: { ...repoParams(repo), index: number }, ...(body ? { body } : {}) });
}

/** An act that needs nothing but the issue or pull request. */
export function numberAct(name: string, summary: string, run: (context: ActContext, at: At) => unknown): Act {
  return defineAct({ name, summary, params: z.strictObject(on), example: { repo: 'acme/app', number: 1 }, run });
}

/** @throws Refusal 403 or 423, for acts that have no call in the API */
export function mustWrite({ world, by }: ActContext, repo: Repository, unit: Unit): void {
  if (!canWrite(permissionOn(world, by, repo), unit))
    throw forbidden(`${by.login} may not write ${unit.replace('repo.', '')} of ${repo.name}`);
  if (repo.archivedAt !== 0) throw archived();
}

/** @throws Refusal 403 */
export function mustAdminister({ world, by }: ActContext, repo: Repository): void {
  if (!isRepoAdmin(permissionOn(world, by, repo))) throw forbidden(`${by.login} does not administer ${repo.name}`);
}

/** @throws Refusal 404 */
export function issueOf({ world }: ActContext, repo: Repository, number: number): Issue {
  for (const issue of world.issues.values()) if (issue.repoId === repo.id && issue.number === number) return issue;
  throw notFound(`no issue or pull request ${number} in ${repo.name}`);
}

/** Ids of a repository's labels (its owner's too) by name; every label that bears it. @throws Refusal 404 */
export function labelIds({ world }: ActContext, repo: Repository, names: readonly string[]): Id[] {
  const labels = [...world.labels.values()].filter(
    (label) => label.repoId === repo.id || (label.repoId === null && label.orgId === repo.ownerId),
  );
  return names.flatMap((name) => {
    const sameName = labels.filter((label) => label.name === name);
    if (sameName.length === 0) throw notFound(`no label ${name} in ${repo.name}`);
    return sameName.map((label) => label.id);
  });
}

/** @throws Refusal 404 */
export function milestoneId({ world }: ActContext, repo: Repository, title: string): Id {
  const milestone = [...world.milestones.values()].find((one) => one.repoId === repo.id && one.title === title);
  if (!milestone) throw notFound(`no milestone ${title} in ${repo.name}`);
  return milestone.id;
}

/**
 * The owner of that name, for somebody who may write there: oneself, a site admin, owners of the organization, and members of some teams.
 * @throws Refusal 403 or 404
 */
export function ownerFor(
  { world, by }: ActContext,
  name: string,
  what: string,
  isEnough: (team: Team) => boolean,
): Owner {
  const owner = world.ownerByName(name);
  if (!owner) throw notFound(`no owner ${name}`);
  const isOwn =
    owner.kind === 'user'
      ? owner.id === by.id || by.isAdmin
      : isOrgOwner(world, by, owner) || teamsOf(world, owner.id, by.id).some(isEnough);
  if (!isOwn) throw forbidden(`${by.login} may not ${what} of ${owner.login}`);
  return owner;
}
