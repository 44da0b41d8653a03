import type { Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import type { EventRepository } from '../core/event.js';
import type { ForgeClient } from '../forge/forge-client.js';
import { listAll } from '../forge/list-all.js';
import type { OperationName } from '../forge/operations.js';
import type { Repository } from '../forge/resources/repository.js';
import type { RepositoryInventory } from '../journal/rule-engine.js';
import type { SeenRepositories } from './seen-repositories.js';

/** Several schedules often fire together and share one reading; a repository made just before is in it. */
const FRESH_MS = 1_000;

export interface InventoryDeps {
  readonly forges: { get(forge: string): { readonly client: ForgeClient; offers(name: OperationName): boolean } | null };
  readonly seen: SeenRepositories;
  readonly clock: Clock;
}

/** The repositories of an organization: as the forge lists them, else as far as events told of them. */
export class ForgeInventory implements RepositoryInventory {
  private readonly known = new Map<string, { readAtMs: number; repositories: Promise<EventRepository[]> }>();

  constructor(private readonly deps: InventoryDeps) {}

  /** @throws ForgeError when the forge lists them but cannot be asked now */
  list(forge: string, org: string): Promise<EventRepository[]> {
    const key = `${forge}/${org.toLowerCase()}`;
    const now = this.deps.clock.monotonicMs();
    const known = this.known.get(key);
    if (known && now - known.readAtMs < FRESH_MS) return known.repositories;
    const repositories = this.read(forge, org);
    this.known.set(key, { readAtMs: now, repositories });
    repositories.catch(() => this.known.delete(key));
    return repositories;
  }

  private async read(forge: string, org: string): Promise<EventRepository[]> {
    const access = this.deps.forges.get(forge);
    if (access?.offers('listOrgRepos')) {
      try {
        return (await listAll(access.client, 'listOrgRepos', { org })).flatMap(asEventRepository);
      } catch (error) {
        if (!(error instanceof ForgeError) || error.kind !== 'not-offered') throw error;
      }
    }
    return this.deps.seen.list(forge, org);
  }
}

/** Unknown fields are kept, as in events; a row without number or name is of no use. */
function asEventRepository(repository: Repository): EventRepository[] {
  const { id, name, full_name: fullName } = repository;
  if (!id || !name || !fullName) return [];
  const given = Object.fromEntries(Object.entries(repository).filter(([, value]) => value !== null && value !== undefined));
  return [{ ...given, id, name, full_name: fullName, owner: repository.owner?.login ?? fullName.split('/')[0] ?? '' }];
}
