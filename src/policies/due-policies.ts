import type { EventKind } from '../core/event-kinds.js';
import type { EventRepository, ForgeEvent } from '../core/event.js';
import { rejectRepository } from '../rules/language/match/where-filter.js';
import type { CompiledPolicy, Revision } from '../rules/language/revision.js';

/** Kinds after which a repository may not be as its policies say. */
const POLICY_KINDS: readonly EventKind[] = ['repository.created', 'repository.transferred', 'repository.renamed'];

/** Policies to reconcile because of an event: a repository appeared, or is another one by name. Whoever did it, the bot included. */
export function policiesForEvent(revision: Pick<Revision, 'policies'>, event: ForgeEvent): CompiledPolicy[] {
  const { repo } = event;
  if (!repo || !POLICY_KINDS.includes(event.kind)) return [];
  return revision.policies.filter((policy) => policy.program.scope === 'repository' && isSubject(policy, repo));
}

/** Repositories a policy is about: on its schedule, and once for each new revision. */
export function policySubjects(
  policy: CompiledPolicy,
  inventory: readonly EventRepository[],
): Array<EventRepository | null> {
  if (policy.program.scope === 'organization') return [null];
  return inventory.filter((repo) => isSubject(policy, repo));
}

/** A repository that is not told to be archived is taken as one that is not: the forge refuses the write if it is. */
function isSubject(policy: CompiledPolicy, repo: EventRepository): boolean {
  return rejectRepository(policy.program.subjects, { ...repo, archived: repo.archived ?? false }) === null;
}
