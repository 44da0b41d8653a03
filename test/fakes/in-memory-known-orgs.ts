import type { KnownFacts } from '../../src/core/known-facts.port.js';
import { KnownOrgs, ORG_FACTS, orgsOfFacts, type KnownOrg } from '../../src/core/known-orgs.port.js';

export class InMemoryKnownOrgs extends KnownOrgs {
  constructor(private readonly kept: Pick<KnownFacts, 'all' | 'write'>) {
    super(kept);
  }

  async all(): Promise<KnownOrg[]> {
    return orgsOfFacts((await Promise.all(Object.values(ORG_FACTS).map((kind) => this.kept.all(kind)))).flat());
  }
}
