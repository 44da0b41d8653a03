import type { AppConfig } from '../../config/app-config.js';
import type { ConnectedForges } from '../../forge/connected-forges.js';
import type { Accounts, BotAccount, BotSelf } from '../rule-engine.port.js';
import type { EventActor } from '../../core/event.js';
import { portToken } from '../../core/part.js';
import type { Secret } from '../../core/secret.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';

/** One forge as the executing side sees it. */
export interface ForgeAccess {
  readonly client: ForgeClient;
  /** Names the credentials that the client signs in with; default: those of the forge. */
  readonly credential?: string;
  /** Longest life of a request at the forge and what stands before it, in seconds; default 60. */
  readonly settleS?: number;
  /** False = a call that is made again bears no mark of ours; default true. */
  readonly marks?: boolean;
  /** False once the forge is known not to have the route. */
  offers(name: OperationName): boolean;
}

/** The forges of the config by their id. */
export interface Forges {
  /** @param org on whose behalf: an organization may have credentials of its own; null = the credentials of the forge */
  get(forge: string, org: string | null): ForgeAccess | null;
}

export const FORGES = portToken<Forges>('Forges');

/** What the operator says about an organization. */
export interface OrgSettings {
  readonly powers: readonly string[];
  readonly mirrorHosts: readonly string[];
  readonly secrets: Readonly<Record<string, Secret>>;
  readonly budgets: OrgBudgets;
  /** Optional. Default: nothing is limited. */
  readonly limits?: OrgLimits;
}

/** What rules may do beyond their own repositories; false = the operator did not allow it. */
export interface OrgLimits {
  readonly merges: boolean;
  /** Push mirrors of private repositories. */
  readonly privateMirrors: boolean;
  /** Writing what was read of a private repository where others may read it. */
  readonly privateReads: boolean;
}

/** Writes in any hour; null = no limit. */
export interface OrgBudgets {
  readonly effectsPerHour: number | null;
  readonly perRepository: number | null;
  /** Of a rule, not of a policy: where it is spent, the rule is paused until a person lets it go on. */
  readonly perRule: number | null;
  /** On account of one person who is a member of the organization. */
  readonly perActor: number | null;
  /** On account of one person who is not known to be one. */
  readonly perStranger: number | null;
}

export interface OrgDirectory {
  get(org: string): OrgSettings | null;
}

export const ORG_DIRECTORY = portToken<OrgDirectory>('OrgDirectory');

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

/** Whether one of the bot's accounts on the forge did it: that of this organization, or that of another one of the config. */
export function isSelf(actor: EventActor, self: BotSelf): boolean {
  return [self, ...(self.others ?? [])].some(
    ({ id, login }) => (id !== null && id === actor.id) || login.toLowerCase() === actor.login.toLowerCase(),
  );
}
