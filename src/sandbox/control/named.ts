import { Refusal } from '../answer.js';
import type { SandboxParts } from '../parts.js';
import type { Repository, User } from '../world.js';

/** @throws Refusal 404 */
export function userNamed({ world }: SandboxParts, name: string): User {
  const user = world.userByName(name);
  if (!user) throw new Refusal(404, `no user ${name}`);
  return user;
}

/** @param name `owner/name`. @throws Refusal 404 */
export function repoNamed({ world }: SandboxParts, name: string): Repository {
  const [ownerName = '', repoName = ''] = name.split('/');
  const owner = world.ownerByName(ownerName);
  const repo = owner && world.repoByName(owner.id, repoName);
  if (!repo) throw new Refusal(404, `no repository ${name}`);
  return repo;
}
