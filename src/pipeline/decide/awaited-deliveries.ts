import { Inject, Injectable } from '@nestjs/common';
import { AppConfig, type OrgConfig } from '../../config/app-config.js';
import { orgsByKey } from '../../config/live-config.js';
import type { ForgeEvent } from '../../core/event.js';
import { isDelivered } from '../../events/pairing-table.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { PollPeriods } from '../../forge/poll-periods.js';

/** Polls of the feed for which a delivery may still come. */
const POLLS = 2;

/** Knows whether a delivery may still tell what polling saw first. */
@Injectable()
export class AwaitedDeliveries {
  private readonly orgs: () => ReadonlyMap<string, OrgConfig>;

  constructor(
    config: AppConfig,
    @Inject(ConnectedForges) private readonly forges: Pick<ConnectedForges, 'get'>,
    @Inject(PollPeriods) private readonly periods: Pick<PollPeriods, 'stretchOf'>,
  ) {
    this.orgs = orgsByKey(config);
  }

  /**
   * For how long after an arrival was stored its delivery may come, in ms; 0 = none comes, since the forge sends none of the kind, or has no webhook of
   * ours.
   */
  waitMs({ org, forge, kind, source }: Pick<ForgeEvent, 'org' | 'forge' | 'kind' | 'source'>): number {
    const { hooks = [], feed } = this.orgs().get(org) ?? {};
    const { product = null, version = null } = this.forges.get(forge, org)?.capabilities ?? {};
    const comes = source !== 'webhook' && hooks.length > 0 && isDelivered(kind, { product, version });
    return comes && feed ? POLLS * feed.everyS * this.periods.stretchOf(forge, org) * 1_000 : 0;
  }
}
