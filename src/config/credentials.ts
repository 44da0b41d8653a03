import type { AppConfig, AuthConfig, ForgeConfig } from './app-config.js';

export interface Credential {
  readonly forge: ForgeConfig;
  /** The key of the organization that has credentials of its own; null = those of the forge. */
  readonly org: string | null;
  /** As `ForgeEntry.credential`. */
  readonly credential: string;
  readonly auth: AuthConfig;
}

/** For each forge its own credentials, then those of the organizations that have some. */
export function credentialsOf({ forges, orgs }: Pick<AppConfig, 'forges' | 'orgs'>): Credential[] {
  return forges.flatMap((forge) => {
    const own = orgs.flatMap((org) => (org.forge === forge.id && org.auth ? [{ org: org.key, auth: org.auth }] : []));
    return [{ org: null, auth: forge.auth }, ...own].map((one) => ({
      ...one,
      forge,
      credential: credentialOf({ id: forge.id, org: one.org }),
    }));
  });
}

/** Names credentials in logs, status and findings: the forge, or the forge and the organization. */
export function credentialOf({ id, org }: { readonly id: string; readonly org: string | null }): string {
  return org === null ? id : `${id}/${org}`;
}
