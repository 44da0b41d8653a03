import { hostname } from 'node:os';
import type { AppConfig, AuthConfig, ForgeConfig, Role } from '../config/app-config.js';
import type { Alerts } from '../core/alerts.js';
import type { Clock } from '../core/clock.js';
import type { FlushFailed } from '../core/flush.js';
import { newId } from '../core/ids.js';
import type { Logger } from '../core/logger.js';
import type { SecurityLog } from '../core/security-log.js';
import type { Stores } from '../store/open-stores.js';
import type { Forges, OrgDirectory, OrgSettings } from '../pipeline/execute/forges.js';
import { ConnectedForges, credentialOf } from '../forge/connected-forges.js';
import { OF_THE_BOT } from '../housekeeping/account-wish.js';
import type { Accounts, BotAccount } from '../pipeline/rule-engine.port.js';
import type { Metrics } from '../observability/metrics.js';
import type { WakeQueue } from '../pipeline/wake-queue.port.js';

/** What every part may need; made first, by the start. */
export interface Ground {
  readonly config: AppConfig;
  readonly role: Role;
  readonly stores: Stores;
  readonly queue: WakeQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly alerts: Alerts;
  readonly security: SecurityLog;
  readonly startedAt: Date;
  /** The disk did not confirm a write: ends the process, if this is one of the bot. */
  readonly onFlushFailed: (error: FlushFailed) => void;
}

interface Credential {
  readonly forge: ForgeConfig;
  /** Null = those of the forge itself. */
  readonly org: string | null;
  /** As `ForgeEntry.credential`. */
  readonly credential: string;
  readonly auth: AuthConfig;
}

/** Of each forge its own credentials, then those of organizations that have some. */
export function credentialsOf({ forges, orgs }: AppConfig): Credential[] {
  return forges.flatMap((forge) => {
    const own = orgs.flatMap((org) => (org.forge === forge.id && org.auth ? [{ org: org.name, auth: org.auth }] : []));
    return [{ org: null, auth: forge.auth }, ...own].map((one) => ({ ...one, forge, credential: credentialOf({ id: forge.id, org: one.org }) }));
  });
}

/** Names this process in the store. */
export function ownerName(): string {
  return `${hostname()}/${process.pid}/${newId().slice(-8)}`;
}

/** The connected forges, with what the operator says about each. */
export function withSettings(config: AppConfig, forges: ConnectedForges): Forges {
  const settings = new Map(config.forges.map(({ id, settleS, marks }) => [id, { settleS, marks }]));
  return {
    get: (id, org) => {
      const entry = forges.get(id, org);
      return entry && { client: entry.client, credential: entry.credential, offers: (name) => entry.offers(name), ...settings.get(id) };
    },
  };
}

/** Who the bot is for an organization, with the accounts that work for others: what any of them does is the bot's own doing. */
export function botAccounts(forges: ConnectedForges): Accounts {
  const byForge = (forge: string): BotAccount[] =>
    forges.list().flatMap(({ id, capabilities }) => (id === forge && capabilities?.self ? [{ id: capabilities.self.id, login: capabilities.self.login }] : []));
  return {
    self: (forge, org) => {
      const self = forges.get(forge, org)?.capabilities?.self ?? null;
      if (!self) return null;
      const others = byForge(forge).filter(({ login }) => login.toLowerCase() !== self.login.toLowerCase());
      return { id: self.id, login: self.login, ...(others.length > 0 ? { others } : {}) };
    },
  };
}

/** What is wanted of the bot's own account stands in the config itself (forges[].account): that is the grant. */
const OWN_ACCOUNT: OrgSettings = {
  powers: ['user_settings.update'],
  mirrorHosts: [],
  secrets: {},
  budgets: { effectsPerHour: null, perRepository: null, perRule: null, perActor: null, perStranger: null },
};

export function orgDirectory(config: AppConfig): OrgDirectory {
  const orgs = new Map(
    config.orgs.map((org) => [org.name, { powers: org.powers, mirrorHosts: org.mirrorHosts, secrets: org.secrets, budgets: org.budgets, limits: org.limits }]),
  );
  return { get: (name) => (name === OF_THE_BOT ? OWN_ACCOUNT : (orgs.get(name) ?? null)) };
}
