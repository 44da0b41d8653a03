import type { LookupAnswer, LookupReader, LookupScope } from '../../actions/lookups/lookup-reader.port.js';
import type { ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';
import { neededEvents, shownEvents, type HookProduct } from '../../rules/language/hook-events.js';
import { FACTS_USE } from '../../rules/language/propose/asked-facts.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import type { GapStore } from '../gap-store.port.js';

export interface BotFactsDeps {
  /** Makes all other reads. */
  readonly reader: LookupReader;
  readonly revisions: ActiveRevisions;
  readonly gaps: Pick<GapStore, 'lastDelivery'>;
  /** Where the forge delivers to; null while the operator does not say under which address we are reached. */
  readonly hookUrl: (org: string) => string | null;
  readonly product: (forge: string, org: string) => HookProduct;
}

/** Answers what rules ask about the bot itself, as a read that is recorded with the decision. */
export class BotFactsReader implements LookupReader {
  constructor(private readonly deps: BotFactsDeps) {}

  async read(request: LookupRequest, scope: LookupScope): Promise<LookupAnswer> {
    const { reader, revisions, gaps, hookUrl } = this.deps;
    const product = this.deps.product(scope.forge, scope.org);
    if (request.use !== FACTS_USE) return reader.read(request, scope);
    const active = await revisions.active(scope.org);
    const last = await gaps.lastDelivery(scope.forge, scope.org);
    return {
      value: {
        last_delivery_at: last?.toISOString() ?? null,
        hook_url: hookUrl(scope.org),
        needed_events: active ? shownEvents(neededEvents(active.revision, product), product) : null,
        commit: (await revisions.commit?.(scope.org)) ?? null,
      },
    };
  }
}
