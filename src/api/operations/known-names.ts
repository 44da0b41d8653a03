import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { SeenRepositories } from '../../forge/seen-repositories.port.js';
import type { KnownRepository } from './hide-names.js';
import { Orgs } from './shared.js';

type Known = ReadonlyMap<string, readonly KnownRepository[]>;

const FRESH_MS = 60_000;

/** Repositories that events and the feed told of, by organization; read from the store once a minute, and only for people who see a part. */
@Injectable()
export class KnownNames {
  private readonly cache = new Map<
    string,
    { readonly atMs: number; readonly repositories: Promise<KnownRepository[]> }
  >();

  constructor(
    @Inject(Orgs) private readonly orgs: Pick<Orgs, 'find'>,
    @Inject(SeenRepositories) private readonly seenRepositories: Pick<SeenRepositories, 'list' | 'named'>,
    private readonly clock: Clock,
  ) {}

  async of(orgs: readonly string[]): Promise<Known> {
    return new Map(await Promise.all(orgs.map(async (org) => [org, await this.ofOrg(org)] as const)));
  }

  private ofOrg(org: string): Promise<KnownRepository[]> {
    const now = this.clock.monotonicMs();
    const entry = this.cache.get(org);
    if (entry && now - entry.atMs < FRESH_MS) return entry.repositories;
    const repositories = this.read(org);
    this.cache.set(org, { atMs: now, repositories });
    repositories.catch(() => this.cache.delete(org));
    return repositories;
  }

  private async read(org: string): Promise<KnownRepository[]> {
    const { orgs, seenRepositories } = this;
    const forge = orgs.find(org)?.forge ?? '';
    const [events, feed] = await Promise.all([seenRepositories.list(forge, org), seenRepositories.named(forge, org)]);
    return [...events, ...feed].map(({ id, name }) => ({ id, name }));
  }
}
