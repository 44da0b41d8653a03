import { Module, type OnApplicationShutdown, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { withKeys } from '../config/org-keys.js';
import { ThisProcess } from '../config/this-process.js';
import { STOP_GRACE } from '../platform/stop-grace.js';
import { KnownOrgs } from '../core/known-orgs.port.js';
import { within } from '../core/within.js';
import { ConnectedForges } from './connected-forges.js';
import { ForgeOwners } from './forge-owners.js';
import { ForgeInventory } from './forge-inventory.js';
import { ForgesToConnect } from './forges-to-connect.js';
import { Looks } from './looks.js';
import { OrgAccessReader } from './org-access.js';
import { OrgNumbers } from './org-numbers.js';
import { PollPeriods } from './poll-periods.js';
import { ServerAccessReader } from './server-access.js';

/** Longest wait for the forges when the process starts. */
const CONNECT_WAIT_MS = 2_000;

const SHARED = [
  ConnectedForges,
  OrgNumbers,
  ForgeOwners,
  ForgeInventory,
  Looks,
  PollPeriods,
  ServerAccessReader,
  OrgAccessReader,
];

/** The forges' API: clients, what each server can do, and whose repositories are. */
@Module({
  providers: [ForgesToConnect, ...SHARED],
  exports: SHARED,
})
export class ForgeModule implements OnModuleInit, OnModuleDestroy, OnApplicationShutdown {
  constructor(
    private readonly forges: ConnectedForges,
    private readonly numbers: OrgNumbers,
    private readonly knownOrgs: KnownOrgs,
    private readonly config: LiveConfig,
    private readonly self: ThisProcess,
  ) {}

  /** A forge that is up is known before the first event is decided; one that does not answer must not keep deliveries out. */
  async onModuleInit(): Promise<void> {
    // A command connects when it is told to do something that asks a forge.
    if (this.self.serves === 'command') return;
    await within(CONNECT_WAIT_MS, this.forges.start()).catch(() => undefined);
    if (this.self.role !== 'web') await within(CONNECT_WAIT_MS, this.recognize()).catch(() => undefined);
  }

  /** Before the rules are loaded: what was renamed while no process ran goes on under its own key. */
  private async recognize(): Promise<void> {
    const { config, forges, knownOrgs, numbers, self } = this;
    const isOther = await numbers.recognize(config.orgs, ({ forge, key }) => forges.reached(forge, key));
    if (isOther) config.replaceOrgs(await withKeys(config.orgs, knownOrgs, self.keepsOrgs));
  }

  onModuleDestroy(): void {
    this.forges.stop(STOP_GRACE.readsMs);
  }

  onApplicationShutdown(): void {
    this.forges.stop(0);
  }
}
