import {
  homeReason,
  type OwnRepository,
  type RepositoryHome,
  type RepositoryHomes,
} from '../../core/repository-home.js';
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
    private readonly homes: RepositoryHomes,
  ) {}

  async read(request: LookupRequest, scope: LookupScope): Promise<LookupAnswer> {
    const { repo } = scope;
    if (!repo || this.lookups.get(request.use)?.target !== 'repository') return this.reader.read(request, scope);
    const home = await this.homeOf(scope, repo);
    if (home.is === 'refused') return refused(home, scope, repo);
    const answer = await this.reader.read(request, { ...scope, repo: underNameOfNow(repo, home.repository) });
    if ('missing' in answer) this.homes.doubt(scope.forge, repo.id);
    return 'failed' in answer && answer.moved ? this.readMoved(request, scope, repo, home.repository, answer) : answer;
  }

  /** It was renamed after the forge was asked last: ask once more, and read under the new name. */
  private async readMoved(
    request: LookupRequest,
    scope: LookupScope,
    repo: EventRepository,
    before: OwnRepository,
    answer: LookupAnswer,
  ): Promise<LookupAnswer> {
    this.homes.forget(scope.forge, repo.id);
    const home = await this.homeOf(scope, repo);
    if (home.is === 'refused') return refused(home, scope, repo);
    const isSame = home.repository.name === before.name && home.repository.owner === before.owner;
    return isSame ? answer : this.reader.read(request, { ...scope, repo: underNameOfNow(repo, home.repository) });
  }

  private homeOf({ forge, org }: LookupScope, { id, name }: EventRepository): Promise<RepositoryHome> {
    return this.homes.of({ forge, org, id, name });
  }
}

function underNameOfNow(repo: EventRepository, { id: _, ...now }: OwnRepository): EventRepository {
  return { ...repo, ...now, full_name: `${now.owner}/${now.name}` };
}

function refused(
  { code }: Extract<RepositoryHome, { is: 'refused' }>,
  { org }: LookupScope,
  { id }: EventRepository,
): LookupAnswer {
  return code === 'repository_gone'
    ? { missing: true }
    : { failed: `${code}: ${textOf(homeReason(code, { org, id }))}`, code };
}
