import type { AppConfig } from '../../config/app-config.js';
import type { ConnectedForges } from '../../forge/connected-forges.js';
import type { Accounts, BotAccount } from '../rule-engine.port.js';
import type { Forges, OrgDirectory, OrgSettings } from './forges.js';

/** In the place of an organization: what is wanted of the bot's own account is the operator's wish, and no organization's. */
export const OF_THE_BOT = '';

/** The connected forges, with what the operator says about each. */
export function withSettings(config: AppConfig, forges: ConnectedForges): Forges {
  const settings = new Map(config.forges.map(({ id, settleS, marks }) => [id, { settleS, marks }]));
  return {
    get: (id, org) => {
      const entry = forges.get(id, org);
      return (
        entry && {
          client: entry.client,
          credential: entry.credential,
          offers: (name) => entry.offers(name),
          ...settings.get(id),
        }
      );
    },
  };
}

/** Who the bot is for an organization, with the accounts that work for others: what any of them does is the bot's own doing. */
export function botAccounts(forges: ConnectedForges): Accounts {
  const byForge = (forge: string): BotAccount[] =>
    forges
      .list()
      .flatMap(({ id, capabilities }) =>
        id === forge && capabilities?.self ? [{ id: capabilities.self.id, login: capabilities.self.login }] : [],
      );
  return {
    self: (forge, org) => {
      const self = forges.get(forge, org)?.capabilities?.self ?? null;
      if (!self) return null;
      const others = byForge(forge).filter(({ login }) => login.toLowerCase() !== self.login.toLowerCase());
      return { id: self.id, login: self.login, ...(others.length > 0 ? { others } : {}) };
    },
  };
}

/** What the config says about the bot's own account (forges[].account) is its grant. */
const OWN_ACCOUNT: OrgSettings = {
  powers: ['user_settings.update'],
  mirrorHosts: [],
  secrets: {},
  budgets: { effectsPerHour: null, perRepository: null, perRule: null, perActor: null, perStranger: null },
};

/** What the operator says about each organization. */
export function orgDirectory(config: AppConfig): OrgDirectory {
  const orgs = new Map(
    config.orgs.map((org) => [
      org.name,
      {
        powers: org.powers,
        mirrorHosts: org.mirrorHosts,
        secrets: org.secrets,
        budgets: org.budgets,
        limits: org.limits,
      },
    ]),
  );
  return { get: (name) => (name === OF_THE_BOT ? OWN_ACCOUNT : (orgs.get(name) ?? null)) };
}
