import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { credentialsOf } from '../config/credentials.js';
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
  readonly all: readonly ForgeToConnect[];

  constructor(config: AppConfig, self: ThisProcess, pauses: RateLimitBroadcast, clock: Clock, logger: Logger) {
    this.all = (self.role === 'web' ? [] : credentialsOf(config)).map(({ forge, org, credential, auth }) => {
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
    });
  }
}
