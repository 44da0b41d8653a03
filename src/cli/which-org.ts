import type { AppConfig, OrgConfig } from '../config/app-config.js';
import { UserError } from '../core/errors.js';

/** The organization that is named, or the only one of the config. */
export function whichOrg({ orgs }: AppConfig, named: string | undefined): OrgConfig {
  const names = orgs.map(({ name }) => name).join(', ');
  const org =
    named === undefined
      ? orgs.length === 1
        ? orgs[0]
        : undefined
      : orgs.find(({ name }) => name.toLowerCase() === named.toLowerCase());
  if (org) return org;
  if (named === undefined)
    throw new UserError('WHICH_ORG', `several organizations are in the config: pass --org with one of ${names}`);
  throw new UserError('NO_SUCH_ORG', `the config has no organization ${named}; it has ${names}`);
}
