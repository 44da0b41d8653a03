import { Injectable } from '@nestjs/common';
import { CachedLookups } from '../../actions/lookups/cached-lookups.js';
import { CoalescedLookups } from '../../actions/lookups/coalesced-lookups.js';
import { ForgeLookupReader } from '../../actions/lookups/forge-lookup-reader.js';
import type { LookupAnswer, LookupReader, LookupScope } from '../../actions/lookups/lookup-reader.port.js';
import { OwnRepositoriesOnly } from '../../actions/lookups/own-repositories-only.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../core/clock.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { ForgeOwners } from '../../forge/forge-owners.js';
import { LookupCatalogue } from '../../rules/catalogue.port.js';
import { neededEvents, shownEvents } from '../../rules/language/hook-events.js';
import { FACTS_USE } from '../../rules/language/propose/asked-facts.js';
import type { LookupRequest } from '../../rules/language/revision.js';
import { ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';
import { GapStore } from '../gap-store.port.js';

/** Reads that decisions ask for: of the forge, and of what the bot knows of itself, which is recorded with the decision as any other answer. */
@Injectable()
export class BotLookups implements LookupReader {
  /** Makes all reads of the forge. */
  private readonly reader: LookupReader;

  constructor(
    private readonly config: AppConfig,
    private readonly forges: ConnectedForges,
    private readonly revisions: ActiveRevisions,
    owners: ForgeOwners,
    private readonly gaps: GapStore,
    catalogue: LookupCatalogue,
    clock: Clock,
  ) {
    const cached = new CoalescedLookups(new CachedLookups(new ForgeLookupReader(forges), clock), catalogue, clock);
    // The outermost of the readers: an answer that was kept is asked about as well.
    this.reader = new OwnRepositoriesOnly(cached, catalogue, owners);
  }

  async read(request: LookupRequest, scope: LookupScope): Promise<LookupAnswer> {
    if (request.use !== FACTS_USE) return this.reader.read(request, scope);
    const { forge, org } = scope;
    const product = this.forges.get(forge, org)?.capabilities?.product ?? null;
    const active = await this.revisions.active(org);
    const last = await this.gaps.lastDelivery(forge, org);
    return {
      value: {
        last_delivery_at: last?.toISOString() ?? null,
        hook_url: this.hookUrl(org),
        needed_events: active ? shownEvents(neededEvents(active.revision, product), product) : null,
        commit: (await this.revisions.commit?.(org)) ?? null,
      },
    };
  }

  /** Where the forge delivers to; null while the operator does not say under which address we are reached. */
  private hookUrl(name: string): string | null {
    const { orgs, server } = this.config;
    const hook = orgs.find((org) => org.key === name)?.hooks[0];
    return hook && server.publicUrl !== null ? `${server.publicUrl}/webhooks/${encodeURIComponent(hook.id)}` : null;
  }
}
