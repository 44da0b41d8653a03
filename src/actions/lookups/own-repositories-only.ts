import {
  ownershipReason,
  type OwnRepository,
  type Ownership,
  type RepositoryOwners,
} from '../../core/repository-owner.js';
import { textOf } from '../../core/reason.js';
import type { EventRepository } from '../../core/event.js';
import type { LookupAnswer, LookupReader, LookupScope } from './lookup-reader.port.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import type { LookupFacts } from '../../rules/language/catalogue.js';

/**
 * Lets a rule read only repositories that the forge says belong to its organization, each under its name of now. A repository that is gone
 * answers as before: there is nothing to find. Of any other that is not ours the lookup fails with a code.
 */
export class OwnRepositoriesOnly implements LookupReader {
  constructor(
    private readonly reader: LookupReader,
    private readonly lookups: ReadonlyMap<string, Pick<LookupFacts, 'target'>>,
    private readonly owners: RepositoryOwners,
  ) {}

  async read(request: LookupRequest, scope: LookupScope): Promise<LookupAnswer> {
    const { repo } = scope;
    if (!repo || this.lookups.get(request.use)?.target !== 'repository') return this.reader.read(request, scope);
    const ownership = await this.ownershipOf(scope, repo);
    if (ownership.is === 'refused') return refused(ownership, scope, repo);
    const answer = await this.reader.read(request, { ...scope, repo: underNameOfNow(repo, ownership.repository) });
    if ('missing' in answer) this.owners.doubt(scope.forge, repo.id);
    return 'failed' in answer && answer.moved
      ? this.readMoved(request, scope, repo, ownership.repository, answer)
      : answer;
  }

  /** It was renamed after the forge was asked last: ask once more, and read under the new name. */
  private async readMoved(
    request: LookupRequest,
    scope: LookupScope,
    repo: EventRepository,
    before: OwnRepository,
    answer: LookupAnswer,
  ): Promise<LookupAnswer> {
    this.owners.forget(scope.forge, repo.id);
    const ownership = await this.ownershipOf(scope, repo);
    if (ownership.is === 'refused') return refused(ownership, scope, repo);
    const isSame = ownership.repository.name === before.name && ownership.repository.owner === before.owner;
    return isSame ? answer : this.reader.read(request, { ...scope, repo: underNameOfNow(repo, ownership.repository) });
  }

  private ownershipOf({ forge, org }: LookupScope, { id, name }: EventRepository): Promise<Ownership> {
    return this.owners.of({ forge, org, id, name });
  }
}

function underNameOfNow(repo: EventRepository, { id: _, ...now }: OwnRepository): EventRepository {
  return { ...repo, ...now, full_name: `${now.owner}/${now.name}` };
}

function refused(
  { code }: Extract<Ownership, { is: 'refused' }>,
  { org }: LookupScope,
  { id }: EventRepository,
): LookupAnswer {
  return code === 'repository_gone'
    ? { missing: true }
    : { failed: `${code}: ${textOf(ownershipReason(code, { org, id }))}`, code };
}
