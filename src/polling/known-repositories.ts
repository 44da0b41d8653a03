import type { Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import type { EventRepository } from '../core/event.js';
import { isOwnedBy, type DescribedRepository } from '../core/repository-owner.js';
import type { ForgeClient } from '../forge/forge-client.js';
import type { PolledOrg } from '../pipeline/receive.js';

/** A repository whose task list is read. */
export interface PolledRepository {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  /** What the entry tells about it. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface RepositoryLister {
  /**
   * @param spend called once per call made
   * @param moved ids of repositories in which something happened: one that a kept list lacks is a reason to list anew, once
   */
  list(spend: () => void, moved?: ReadonlySet<string>): Promise<PolledRepository[]>;
}

/** Whose repositories are: what a list of the forge shows is told to it, and it tells which of those seen are the organization's. */
interface PolledOwners {
  learnListed(forge: string, org: string, repositories: readonly DescribedRepository[]): void;
  amongSeen(forge: string, org: string): Promise<EventRepository[]>;
}

interface KnownRepositoriesDeps {
  readonly client: Pick<ForgeClient, 'listOrgRepos'>;
  readonly offers: (name: 'listOrgRepos') => boolean;
  readonly owners: PolledOwners;
  readonly clock: Clock;
  /** How long a list is valid while nothing happens in a repository that it lacks. */
  readonly keepMs?: number;
}

const KEEP_MS = 5 * 60_000;
const PAGE_SIZE = 50;
const MAX_PAGES = 200;

/** Fields of a repository that an entry carries; the rest is a read away. */
const TOLD = [
  'id',
  'name',
  'full_name',
  'private',
  'fork',
  'mirror',
  'archived',
  'default_branch',
  'html_url',
  'topics',
] as const;

/** An organization's repositories: from the forge where it lists them, else from the stored events. */
export class KnownRepositories implements RepositoryLister {
  private lastList: { at: number; repositories: PolledRepository[] } | null = null;
  /** Repositories that moved and are missing from the newest list too: deleted, or not readable. */
  private readonly unlisted = new Set<string>();

  constructor(
    private readonly deps: KnownRepositoriesDeps,
    private readonly polled: PolledOrg,
  ) {}

  async list(spend: () => void, moved: ReadonlySet<string> = new Set()): Promise<PolledRepository[]> {
    const now = this.deps.clock.monotonicMs();
    const isFresh = this.lastList !== null && now - this.lastList.at < (this.deps.keepMs ?? KEEP_MS);
    if (this.lastList && isFresh && this.missing(this.lastList.repositories, moved).length === 0)
      return this.lastList.repositories;
    const repositories = this.deps.offers('listOrgRepos') ? await this.listWhereOffered(spend) : null;
    if (!repositories) return (await this.deps.owners.amongSeen(this.polled.forge, this.polled.org)).flatMap(asPolled);
    this.lastList = { at: now, repositories };
    for (const id of this.missing(repositories, moved)) this.unlisted.add(id);
    return repositories;
  }

  private missing(repositories: readonly PolledRepository[], moved: ReadonlySet<string>): string[] {
    return [...moved].filter((id) => !this.unlisted.has(id) && !repositories.some((one) => one.id === id));
  }

  /** Often only the call shows that a forge lacks the route. */
  private async listWhereOffered(spend: () => void): Promise<PolledRepository[] | null> {
    try {
      return await this.listFromForge(spend);
    } catch (error) {
      if (error instanceof ForgeError && error.kind === 'not-offered') return null;
      throw error;
    }
  }

  /** Reads until an empty page: pages may be short, because the server filters after it cuts them. */
  private async listFromForge(spend: () => void): Promise<PolledRepository[]> {
    const byId = new Map<string, PolledRepository>();
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      spend();
      let total: number | null = null;
      const rows = await this.deps.client.listOrgRepos(
        { org: this.polled.org, page, limit: PAGE_SIZE },
        { onReply: (info) => void (total = info.totalCount) },
      );
      const own = rows.filter((row) => isOwnedBy(row, this.polled.name ?? this.polled.org));
      this.deps.owners.learnListed(this.polled.forge, this.polled.org, own);
      const before = byId.size;
      for (const repository of own.flatMap((row) => asPolled(row))) byId.set(repository.id, repository);
      if (total === null ? byId.size === before : page * PAGE_SIZE >= total) break;
    }
    return [...byId.values()];
  }
}

function asPolled(repository: EventRepository | Readonly<Record<string, unknown>>): PolledRepository[] {
  const { id, name, full_name: fullName } = repository;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof fullName !== 'string') return [];
  const owner = fullName.split('/')[0] ?? '';
  const fields = Object.fromEntries(
    TOLD.filter((key) => repository[key] !== undefined).map((key) => [key, repository[key]]),
  );
  return [{ id, owner, name, fields: { ...fields, owner: { login: owner } } }];
}
