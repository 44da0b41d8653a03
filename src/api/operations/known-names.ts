import type { Clock } from '../../core/clock.js';
import type { SeenRepositories } from '../../forge/seen-repositories.port.js';
import type { KnownRepository } from './hide-names.js';
import type { Orgs } from './shared.js';

type Known = ReadonlyMap<string, readonly KnownRepository[]>;

interface KnownNamesDeps {
  readonly orgs: Pick<Orgs, 'find'>;
  readonly seen: Pick<SeenRepositories, 'list' | 'named'>;
  readonly clock: Clock;
}

const FRESH_MS = 60_000;

/** Repositories that events and the feed told of, by organization; read from the store once a minute, and only for people who see a part. */
export class KnownNames {
  private readonly kept = new Map<string, { readonly atMs: number; readonly found: Promise<KnownRepository[]> }>();

  constructor(private readonly deps: KnownNamesDeps) {}

  async of(orgs: readonly string[]): Promise<Known> {
    return new Map(await Promise.all(orgs.map(async (org) => [org, await this.ofOrg(org)] as const)));
  }

  private ofOrg(org: string): Promise<KnownRepository[]> {
    const now = this.deps.clock.monotonicMs();
    const kept = this.kept.get(org);
    if (kept && now - kept.atMs < FRESH_MS) return kept.found;
    const found = this.read(org);
    this.kept.set(org, { atMs: now, found });
    found.catch(() => this.kept.delete(org));
    return found;
  }

  private async read(org: string): Promise<KnownRepository[]> {
    const { orgs, seen } = this.deps;
    const forge = orgs.find(org)?.forge ?? '';
    const [events, feed] = await Promise.all([seen.list(forge, org), seen.named(forge, org)]);
    return [...events, ...feed].map(({ id, name }) => ({ id, name }));
  }
}
