import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { KeptAnswers } from '../../core/kept-answers.js';
import { SeenRepositories } from '../../forge/seen-repositories.port.js';
import type { KnownRepository } from './hide-names.js';
import { Orgs } from './shared.js';

type Known = ReadonlyMap<string, readonly KnownRepository[]>;

const FRESH_MS = 60_000;

/** Repositories that events and the feed told of, by organization; read from the store once a minute, and only for people who see a part. */
@Injectable()
export class KnownNames {
  private readonly names = new KeptAnswers<KnownRepository[]>(() => this.clock.monotonicMs());

  constructor(
    @Inject(Orgs) private readonly orgs: Pick<Orgs, 'of'>,
    @Inject(SeenRepositories) private readonly seenRepositories: Pick<SeenRepositories, 'list' | 'named'>,
    private readonly clock: Clock,
  ) {}

  async of(orgs: readonly string[]): Promise<Known> {
    return new Map(
      await Promise.all(
        orgs.map(async (org) => [org, await this.names.get(org, FRESH_MS, () => this.read(org))] as const),
      ),
    );
  }

  private async read(org: string): Promise<KnownRepository[]> {
    const { orgs, seenRepositories } = this;
    const forge = orgs.of(org)?.forge ?? '';
    const [events, feed] = await Promise.all([seenRepositories.list(forge, org), seenRepositories.named(forge, org)]);
    return [...events, ...feed].map(({ id, name }) => ({ id, name }));
  }
}
