import type { AppConfig, OrgConfig } from '../config/app-config.js';
import { UserError } from '../core/errors.js';

/** The organization that is named, or the only one of the config. */
export function whichOrg({ orgs }: AppConfig, named: string | undefined): OrgConfig {
  const names = orgs.map(({ label }) => label).join(', ');
  const candidates = orgsNamed(orgs, named);
  const [org] = candidates;
  if (org && candidates.length === 1) return org;
  if (named === undefined)
    throw new UserError('WHICH_ORG', `several organizations are in the config: pass --org with one of ${names}`);
  if (org)
    throw new UserError(
      'AMBIGUOUS_ORG',
      `several organizations are called ${named}: say which of ${candidates.map(({ label }) => label).join(', ')}`,
    );
  throw new UserError('NO_SUCH_ORG', `the config has no organization ${named}; it has ${names}`);
}

/** Those of the config that are named so, by name or by forge and name; all where no name is given. */
export function orgsNamed(orgs: readonly OrgConfig[], named: string | undefined): readonly OrgConfig[] {
  if (named === undefined) return orgs;
  const isIt = (one: string): boolean => one.toLowerCase() === named.toLowerCase();
  return orgs.filter(({ forge, name }) => isIt(name) || isIt(`${forge}/${name}`));
}
