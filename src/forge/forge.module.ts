import { Inject, Module, type OnApplicationShutdown, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { AppConfig } from '../config/app-config.js';
import { APP_CONFIG, THIS_PROCESS, type ThisProcess } from '../config/config.module.js';
import { credentialsOf } from '../config/credentials.js';
import { Alerts } from '../core/alerts.js';
import { Clock } from '../core/clock.js';
import { KnownFacts } from '../core/known-facts.port.js';
import { Logger } from '../core/logger.js';
import { part } from '../core/part.js';
import { STOP_GRACE } from '../core/stop-grace.js';
import { within } from '../core/within.js';
import { ConnectedForges } from './connected-forges.js';
import { ForgeHomes } from './forge-homes.js';
import { ForgeInventory } from './forge-inventory.js';
import { createForgeClient } from './http/create-forge-client.js';
import { OrgNumbers } from './org-numbers.js';
import { RateLimitBroadcast } from './http/rate-limit-broadcast.port.js';
import { SeenRepositories } from './seen-repositories.port.js';
import { ServerAccessReader } from './server-access.js';

/** Longest wait for the forges when the process starts. */
const CONNECT_WAIT_MS = 2_000;

const PARTS = [
  part(OrgNumbers, { known: KnownFacts, clock: Clock, alerts: Alerts, logger: Logger }, (deps) => new OrgNumbers(deps)),
  part(
    ConnectedForges,
    {
      config: APP_CONFIG,
      self: THIS_PROCESS,
      pauses: RateLimitBroadcast,
      orgs: OrgNumbers,
      clock: Clock,
      logger: Logger,
      alerts: Alerts,
    },
    connectedForges,
  ),
  /** Whose a repository is. Only what decides and what writes asks: a process of the role `web` never does. */
  part(
    ForgeHomes,
    { config: APP_CONFIG, forges: ConnectedForges, seen: SeenRepositories, clock: Clock },
    ({ config, forges, seen, clock }) => {
      const named = (forge: string, name: string): readonly string[] =>
        config.orgs.find((org) => org.forge === forge && org.name === name)?.repositories ?? [];
      return new ForgeHomes({ forges, seen, namedByOperator: named, clock });
    },
  ),
  part(
    ForgeInventory,
    { forges: ConnectedForges, homes: ForgeHomes, clock: Clock },
    ({ forges, homes, clock }) => new ForgeInventory({ forges, homes, clock }),
  ),
  part(ServerAccessReader, { config: APP_CONFIG, known: KnownFacts, clock: Clock }, ({ config, known, clock }) => {
    const tokens = new Map(
      credentialsOf(config).map(({ credential, auth }) => [credential, auth.type === 'token' ? auth.token : null]),
    );
    return new ServerAccessReader({ known, token: (credential) => tokens.get(credential) ?? null, clock });
  }),
];

/** The forges' API: clients, what each server can do, and whose repositories are. */
@Module({ providers: PARTS, exports: [ConnectedForges, OrgNumbers, ForgeHomes, ForgeInventory, ServerAccessReader] })
export class ForgeModule implements OnModuleInit, OnModuleDestroy, OnApplicationShutdown {
  constructor(
    private readonly forges: ConnectedForges,
    @Inject(THIS_PROCESS) private readonly self: ThisProcess,
  ) {}

  /** A forge that is up is known before the first event is decided; one that does not answer must not keep deliveries out. */
  async onModuleInit(): Promise<void> {
    // A command connects when it is told to do something that asks a forge.
    if (this.self.serves === 'command') return;
    await within(CONNECT_WAIT_MS, this.forges.start()).catch(() => undefined);
  }

  onModuleDestroy(): void {
    this.forges.stop(STOP_GRACE.readsMs);
  }

  onApplicationShutdown(): void {
    this.forges.stop(0);
  }
}

interface ForgeNeeds {
  readonly config: AppConfig;
  readonly self: ThisProcess;
  readonly pauses: RateLimitBroadcast;
  readonly orgs: OrgNumbers;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly alerts: Alerts;
}

function connectedForges({ config, self, pauses, orgs, clock, logger, alerts }: ForgeNeeds): ConnectedForges {
  // A process that only takes deliveries asks no forge anything, and holds no token for it.
  const credentials = self.role === 'web' ? [] : credentialsOf(config);
  const forges = credentials.map(({ forge, org, credential, auth }) => {
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
  return new ConnectedForges(forges, orgs, logger, alerts);
}
