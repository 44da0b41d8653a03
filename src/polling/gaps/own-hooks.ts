import { Injectable } from '@nestjs/common';
import { callingAs } from '../../core/caller.js';
import { Clock } from '../../core/clock.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { OrgAccessReader } from '../../forge/org-access.js';
import type { OwnHook } from './classify-gap.js';
import { ownHookOf } from './hook-history.js';

/** Our webhooks, and when they were so. */
export interface OwnHooksThen {
  readonly hooks: readonly OwnHook[];
  readonly at: Date;
}

/** The webhooks of organizations that point at an endpoint of ours, as the forge shows them. */
@Injectable()
export class OwnHooks {
  constructor(
    private readonly forges: ConnectedForges,
    private readonly access: OrgAccessReader,
    private readonly clock: Clock,
  ) {}

  /**
   * @param since a look from before it is too old
   * @returns no webhooks where none points at us; null where nobody can be asked, or the forge does not show webhooks
   * @throws ForgeError when the forge cannot be asked now
   */
  async read(forge: string, org: string, since: Date): Promise<OwnHooksThen | null> {
    const { client, credential, capabilities } = this.forges.get(forge, org) ?? {};
    if (!client || !credential || !capabilities) return null;
    const olderThanMs = this.clock.now().getTime() - since.getTime();
    const { seen, at } = await callingAs({ priority: 'housekeeping', org }, () =>
      this.access.lookAtHooks({ forge, org, client, credential, capabilities }, olderThanMs),
    );
    return 'why' in seen ? null : { hooks: seen.hooks.filter(({ config }) => config !== null).map(ownHookOf), at };
  }
}
