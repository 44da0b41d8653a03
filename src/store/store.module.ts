import { Global, Module, type DynamicModule } from '@nestjs/common';
import { STORE_COPIER } from '../api/store-files.port.js';
import { KNOWN_FACTS } from '../core/known-facts.port.js';
import { OPERATOR_STORE } from '../core/operator-store.port.js';
import type { PortToken } from '../core/part.js';
import { SEEN_REPOSITORIES } from '../forge/seen-repositories.port.js';
import { ARCHIVE_STORE } from '../housekeeping/archive-store.port.js';
import { AUDIT_STORE } from '../housekeeping/audit/audit-store.port.js';
import { STORE_MAINTENANCE } from '../housekeeping/store-maintenance.port.js';
import { HISTORY_STORE } from '../insight/history-store.port.js';
import { POISON_MESSAGE_STORE } from '../pipeline/poison-message-store.port.js';
import { GAP_STORE } from '../pipeline/gap-store.port.js';
import { INBOX_STORE } from '../pipeline/inbox-store.port.js';
import { JOURNAL_STORE } from '../pipeline/journal-store.port.js';
import { RECOVERY_STORE } from '../pipeline/recovery-store.port.js';
import { ROLLOUT_STORE } from '../pipeline/rollout-store.port.js';
import { TICK_STORE } from '../pipeline/tick-store.port.js';
import { FINDING_STORE } from '../policies/finding-store.port.js';
import { PLAN_STORE } from '../policies/plan-store.port.js';
import { CURSOR_STORE } from '../polling/cursor-store.port.js';
import { REVISION_STORE } from '../rules/revisions/revision-store.port.js';
import { UNTRUSTED_PROXIES } from '../webhooks/untrusted-proxies.port.js';
import type { Stores } from './open-stores.js';

/** Every store port, over one opened store. */
@Global()
@Module({})
export class StoreModule {
  static of(stores: Stores): DynamicModule {
    const given = <Port>(token: PortToken<Port>, useValue: Port): { provide: symbol; useValue: Port } => ({
      provide: token,
      useValue,
    });
    const providers = [
      given(INBOX_STORE, stores.inbox),
      given(JOURNAL_STORE, stores.journal),
      given(RECOVERY_STORE, stores.recovery),
      given(CURSOR_STORE, stores.cursors),
      given(GAP_STORE, stores.gaps),
      given(PLAN_STORE, stores.plans),
      given(FINDING_STORE, stores.findings),
      given(TICK_STORE, stores.ticks),
      given(REVISION_STORE, stores.revisions),
      given(SEEN_REPOSITORIES, stores.seenRepositories),
      given(HISTORY_STORE, stores.history),
      given(ROLLOUT_STORE, stores.rollouts),
      given(KNOWN_FACTS, stores.known),
      given(ARCHIVE_STORE, stores.archive),
      given(POISON_MESSAGE_STORE, stores.poisonMessages),
      given(AUDIT_STORE, stores.audit),
      given(OPERATOR_STORE, stores.operators),
      given(UNTRUSTED_PROXIES, stores.untrustedProxies),
      given(STORE_MAINTENANCE, stores),
      given(STORE_COPIER, stores),
    ];
    return { module: StoreModule, providers, exports: providers.map(({ provide }) => provide) };
  }
}
