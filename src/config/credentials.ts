import type { AppConfig, AuthConfig } from './app-config.js';

export interface Credential {
  /** Of the forge. */
  readonly id: string;
  /** The organization that it is for; null = every organization without one of its own. */
  readonly org: string | null;
  /** Names it in logs, status and the doctor's findings. */
  readonly credential: string;
  readonly baseUrl: string;
  readonly auth: AuthConfig;
}

/** For each forge its own credentials, then those of the organizations that have some. */
export function credentialsOf({ forges, orgs }: Pick<AppConfig, 'forges' | 'orgs'>): Credential[] {
  return forges.flatMap(({ id, baseUrl, auth }): Credential[] => [
    { id, org: null, credential: id, baseUrl, auth },
    ...orgs.flatMap((org) => (org.forge === id && org.auth ? [{ id, org: org.name, credential: `${id}/${org.name}`, baseUrl, auth: org.auth }] : [])),
  ]);
}
