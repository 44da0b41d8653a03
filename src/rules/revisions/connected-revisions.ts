import { Injectable } from '@nestjs/common';
import { AppConfig, type OrgConfig } from '../../config/app-config.js';
import { orgsByKey } from '../../config/live-config.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import type { ActiveRevision, ActiveRevisions } from './active-revisions.port.js';
import { RevisionKeeper } from './revision-keeper.js';
import { shadowOrg } from './shadow-org.js';

/** Until a forge was reached we do not know who we are there, and could answer ourselves: its events wait. */
@Injectable()
export class ConnectedRevisions implements ActiveRevisions {
  private readonly orgs: () => ReadonlyMap<string, OrgConfig>;

  constructor(
    config: AppConfig,
    private readonly keeper: RevisionKeeper,
    private readonly forges: ConnectedForges,
  ) {
    this.orgs = orgsByKey(config);
  }

  async active(org: string): Promise<ActiveRevision | null> {
    return this.forges.get(this.orgs().get(org)?.forge ?? '', org)?.capabilities ? this.keeper.active(org) : null;
  }

  commit(org: string): Promise<string | null> {
    return this.keeper.commit(org);
  }

  shadow(org: string): Promise<ActiveRevision | null> {
    return this.keeper.active(shadowOrg(org));
  }
}
