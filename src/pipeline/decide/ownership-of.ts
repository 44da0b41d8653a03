import type { Clock } from '../../core/clock.js';
import { ForgeError } from '../../core/errors.js';
import type { EventRepository } from '../../core/event.js';
import type { Ownership, RepositoryOwners } from '../../core/repository-owner.js';
import { PATIENCE_MS } from './answer-lookups.js';
import { ask, type Deciding } from './ask.js';

type Owners = Pick<RepositoryOwners, 'of' | 'peek'>;

/** What a decision is about, as far as its repository goes. */
interface InRepository {
  readonly forge: string;
  readonly org: string;
  readonly repo: EventRepository | null;
  /** When its cause was stored. */
  readonly since: Date;
}

/** What the forge says of the repository now; where it says nothing, the repository counts as private. A run about no repository is public. */
export async function isPublic(owners: Owners, { forge, org, repo }: InRepository): Promise<boolean> {
  if (!repo) return true;
  try {
    const ownership = await owners.of({ forge, org, id: repo.id, name: repo.name });
    return ownership.is === 'ours' && ownership.repository.private === false;
  } catch (error) {
    if (error instanceof ForgeError) return false;
    throw error;
  }
}

/**
 * Whose the repository is. Asked before anything is planned: an intent for a repository of somebody else must not stand in the order of that
 * repository.
 * @throws ForgeError while the forge cannot be asked, for a day at most
 */
export async function* ownershipOf(
  owners: Owners,
  { forge, org, repo, since }: InRepository,
  clock: Clock,
): Deciding<Ownership | null> {
  if (!repo) return null;
  const question = { forge, org, id: repo.id, name: repo.name };
  const read = async (): Promise<Ownership> => {
    try {
      return await owners.of(question);
    } catch (error) {
      if (!(error instanceof ForgeError) || clock.now().getTime() - since.getTime() < PATIENCE_MS) throw error;
      return { is: 'refused', code: 'repository_unconfirmed' };
    }
  };
  return yield* ask({ about: 'ownership', peek: () => owners.peek(question), read });
}
