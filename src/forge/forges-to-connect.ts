import { Injectable } from '@nestjs/common';
import { AppConfig, type AuthConfig } from '../config/app-config.js';
import { type Credential, credentialsOf } from '../config/credentials.js';
import { ofOrgs } from '../config/live-config.js';
import { isSameConfig } from '../config/same-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Clock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import type { ForgeClient } from './forge-client.js';
import { createForgeClient } from './http/create-forge-client.js';
import { RateLimitBroadcast } from './http/rate-limit-broadcast.port.js';

export interface ForgeToConnect {
  readonly id: string;
  /** The organization whose own credentials these are; null = those of the forge, for every organization without its own. */
  readonly org: string | null;
  readonly client: ForgeClient;
  /** Login of Basic credentials, for a forge that does not say who we are. */
  readonly username: string | null;
}

/** A client for each credentials of the config. A process that only takes deliveries asks no forge anything, and holds no token for it. */
@Injectable()
export class ForgesToConnect {
  private readonly current: () => readonly ForgeToConnect[];
  private made: ReadonlyMap<string, { readonly auth: AuthConfig; readonly forge: ForgeToConnect }> = new Map();

  constructor(
    config: AppConfig,
    self: ThisProcess,
    private readonly pauses: RateLimitBroadcast,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.current = ofOrgs(config, (orgs) =>
      self.role === 'web' ? [] : this.of(credentialsOf({ forges: config.forges, orgs })),
    );
  }

  /** Credentials that a reload left as they were keep their client. */
  get all(): readonly ForgeToConnect[] {
    return this.current();
  }

  private of(credentials: readonly Credential[]): ForgeToConnect[] {
    const made = credentials.map((one) => {
      const before = this.made.get(one.credential);
      const forge = before && isSameConfig(before.auth, one.auth) ? before.forge : this.connectAs(one);
      return [one.credential, { auth: one.auth, forge }] as const;
    });
    this.made = new Map(made);
    return made.map(([, { forge }]) => forge);
  }

  private connectAs({ forge, org, credential, auth }: Credential): ForgeToConnect {
    const { pauses, clock, logger } = this;
    const client = createForgeClient({
      ...forge,
      proxy: forge.proxy?.reveal() ?? null,
      auth,
      clock,
      logger,
      // Forges count calls by account: each has a pace, and pauses, of its own.
      pauses: {
        publish: (seconds) => pauses.publish(credential, seconds),
        subscribe: (listener) => pauses.subscribe(credential, listener),
      },
    });
    return { id: forge.id, org, username: auth.type === 'basic' ? auth.username : null, client };
  }
}
