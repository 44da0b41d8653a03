import type { AppConfig } from '../config/app-config.js';
import { portToken } from '../core/part.js';
import type { Accounts, BotSelf } from '../pipeline/rule-engine.port.js';

/** Who the bot is for an organization; null while no forge told it. */
export type BotSelfOf = (forge: string, org: string) => BotSelf | null;

export const BOT_SELF = portToken<BotSelfOf>('BotSelfOf');

/** Credentials with a user name tell the login without a forge. */
export function botSelf({ forges, orgs }: AppConfig, accounts: Accounts): BotSelfOf {
  return (forge, org) => {
    const auth = orgs.find(({ name }) => name === org)?.auth ?? forges.find(({ id }) => id === forge)?.auth;
    return accounts.self(forge, org) ?? (auth?.type === 'basic' ? { id: null, login: auth.username } : null);
  };
}
