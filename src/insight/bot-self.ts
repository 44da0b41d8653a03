import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Accounts, type BotSelf } from '../pipeline/rule-engine.port.js';

/** Who the bot is for each organization. */
@Injectable()
export class BotSelves {
  constructor(
    private readonly config: AppConfig,
    private readonly accounts: Accounts,
  ) {}

  /** Credentials with a user name tell the login without a forge; null while no forge told it. */
  of(forge: string, org: string): BotSelf | null {
    const { forges, orgs } = this.config;
    const auth = orgs.find(({ key }) => key === org)?.auth ?? forges.find(({ id }) => id === forge)?.auth;
    return this.accounts.self(forge, org) ?? (auth?.type === 'basic' ? { id: null, login: auth.username } : null);
  }
}
