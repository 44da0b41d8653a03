import { Injectable } from '@nestjs/common';
import { CachedLookups } from '../../actions/lookups/cached-lookups.js';
import { CoalescedLookups } from '../../actions/lookups/coalesced-lookups.js';
import { ForgeLookupReader } from '../../actions/lookups/forge-lookup-reader.js';
import { OwnRepositoriesOnly } from '../../actions/lookups/own-repositories-only.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../core/clock.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { ForgeOwners } from '../../forge/forge-owners.js';
import { LookupCatalogue } from '../../rules/catalogue.port.js';
import { ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';
import { GapStore } from '../gap-store.port.js';
import { BotFactsReader } from './answer-lookups.js';

/** Reads that decisions ask for: of the forge, and of what the bot knows of itself. */
@Injectable()
export class BotLookups extends BotFactsReader {
  constructor(
    { orgs, server }: AppConfig,
    forges: ConnectedForges,
    revisions: ActiveRevisions,
    owners: ForgeOwners,
    gaps: GapStore,
    catalogue: LookupCatalogue,
    clock: Clock,
  ) {
    const cached = new CoalescedLookups(new CachedLookups(new ForgeLookupReader(forges), clock), catalogue, clock);
    super({
      // The outermost of the readers: an answer that was kept is asked about as well.
      reader: new OwnRepositoriesOnly(cached, catalogue, owners),
      revisions,
      gaps,
      hookUrl: (name) => {
        const hook = orgs.find((org) => org.name === name)?.hooks[0];
        return hook && server.publicUrl !== null ? `${server.publicUrl}/webhooks/${encodeURIComponent(hook.id)}` : null;
      },
      product: (forge, org) => forges.get(forge, org)?.capabilities?.product ?? null,
    });
  }
}
