import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import type { EventRepository } from '../core/event.js';
import { listAll } from './forge-client.js';
import type { Repository } from '../core/objects/repositories.js';
import type { RepositoryInventory } from '../core/repository-owner.js';
import { isOwnedBy } from '../core/repository-owner.js';
import { ConnectedForges, type ForgeClients } from './connected-forges.js';
import { ForgeOwners } from './forge-owners.js';

/** Several schedules often fire together and share one reading; a repository made just before is in it. */
const FRESH_MS = 1_000;

/** Repositories, and how sure it is that there are no others. */
interface TakenInventory {
  readonly repositories: EventRepository[];
  /** Half a sentence. */
  readonly completeness: string;
}

/** The repositories of an organization: as the forge lists them, else as far as events told of them. */
@Injectable()
export class ForgeInventory implements RepositoryInventory {
  private readonly readings = new Map<string, { readAtMs: number; inventory: Promise<TakenInventory> }>();

  constructor(
    @Inject(ConnectedForges) private readonly forges: ForgeClients,
    @Inject(ForgeOwners) private readonly owners: Pick<ForgeOwners, 'learnListed' | 'amongSeen'>,
    private readonly clock: Clock,
  ) {}

  /** @throws ForgeError when the forge lists them but cannot be asked now */
  async list(forge: string, org: string, having: readonly string[] = []): Promise<EventRepository[]> {
    const { repositories } = await this.read(forge, org);
    if (having.every((id) => repositories.some((repository) => repository.id === id))) return repositories;
    this.readings.delete(keyOf(forge, org));
    return (await this.read(forge, org)).repositories;
  }

  /** @throws ForgeError when the forge lists them but cannot be asked now */
  read(forge: string, org: string): Promise<TakenInventory> {
    const key = keyOf(forge, org);
    const now = this.clock.monotonicMs();
    const earlier = this.readings.get(key);
    if (earlier && now - earlier.readAtMs < FRESH_MS) return earlier.inventory;
    const inventory = this.take(forge, org);
    this.readings.set(key, { readAtMs: now, inventory });
    inventory.catch(() => this.readings.delete(key));
    return inventory;
  }

  private async take(forge: string, org: string): Promise<TakenInventory> {
    const access = this.forges.get(forge, org);
    if (access?.offers('listOrgRepos')) {
      try {
        const listed = (await listAll(access.client, 'listOrgRepos', { org })).filter((repository) =>
          isOwnedBy(repository, access.orgName ?? org),
        );
        this.owners.learnListed(forge, org, listed);
        const repositories = listed.flatMap(asEventRepository);
        return { repositories, completeness: 'listed by the forge: all that our account may see' };
      } catch (error) {
        if (!(error instanceof ForgeError) || error.kind !== 'not-offered') throw error;
      }
    }
    const repositories = await this.owners.amongSeen(forge, org, { asksFeed: true });
    return {
      repositories,
      completeness:
        'learned from the feed, since this forge lists none: one that no row names is missing, unless orgs[].repositories names it',
    };
  }
}

function keyOf(forge: string, org: string): string {
  return `${forge}/${org.toLowerCase()}`;
}

/** Unknown fields are kept, as in events; a row without number or name is of no use. */
function asEventRepository(repository: Repository): EventRepository[] {
  const { id, name, full_name: fullName } = repository;
  if (!id || !name || !fullName) return [];
  const fields = Object.fromEntries(
    Object.entries(repository).filter(([, value]) => value !== null && value !== undefined),
  );
  return [{ ...fields, id, name, full_name: fullName, owner: repository.owner?.login ?? fullName.split('/')[0] ?? '' }];
}
