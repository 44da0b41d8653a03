import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { callingAs } from '../../core/caller.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import type { OwnHook } from './classify-gap.js';
import { ownHookOf } from './hook-history.js';

/** The webhooks of organizations that point at an endpoint of ours, as the forge shows them. */
@Injectable()
export class OwnHooks {
  constructor(
    private readonly config: AppConfig,
    private readonly forges: ConnectedForges,
  ) {}

  /** @returns none where none points at us; null where nobody can be asked. Rejects where the forge does not show webhooks */
  async read(forge: string, name: string): Promise<readonly OwnHook[] | null> {
    const client = this.forges.get(forge, name)?.client;
    if (!client) return null;
    const org = this.config.orgs.find((one) => one.name === name);
    const paths = org?.hooks.map(({ id }) => `/webhooks/${encodeURIComponent(id)}`) ?? [];
    const hooks = await callingAs({ priority: 'housekeeping', org: name }, () =>
      client.listOrgHooks({ org: name, limit: 50 }),
    );
    const ours = hooks.filter((hook) => paths.some((path) => (hook.config?.url ?? '').split('?')[0]?.endsWith(path)));
    return ours.map(ownHookOf);
  }
}
