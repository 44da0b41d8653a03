import type { AppConfig } from '../../config/app-config.js';
import { credentialsOf } from '../../config/credentials.js';
import { ofOrgs } from '../../config/live-config.js';
import type { Secret } from '../../core/secret.js';

/** A forge under one of its credentials. */
export interface DoctoredForge {
  readonly id: string;
  /** The organization whose own credentials these are; null = those of the forge. */
  readonly org: string | null;
  readonly credential: string;
  readonly baseUrl: string;
  readonly signsInBy: 'token' | 'password';
}

export interface DoctoredOrg {
  readonly forge: string;
  readonly org: string;
  /** At the forge. */
  readonly name: string;
  /** As people are shown it. */
  readonly label: string;
  readonly hooks: ReadonlyArray<{
    readonly id: string;
    readonly secrets: readonly Secret[];
    readonly authorizations: readonly Secret[];
  }>;
  /** The rules come from a repository: the bot itself needs push events. */
  readonly rulesInRepository: boolean;
}

/** As a reload left them. */
export function doctoredForges(config: AppConfig): () => readonly DoctoredForge[] {
  return ofOrgs(config, (orgs) =>
    credentialsOf({ forges: config.forges, orgs }).map(({ forge, org, credential, auth }) => ({
      id: forge.id,
      org,
      credential,
      baseUrl: forge.baseUrl,
      signsInBy: auth.type === 'token' ? 'token' : 'password',
    })),
  );
}

/** As a reload left them. */
export function doctoredOrgs(config: AppConfig): () => readonly DoctoredOrg[] {
  return ofOrgs(config, (orgs) =>
    orgs.map(({ key, name, label, forge, hooks, rules }) => ({
      org: key,
      name,
      label,
      forge,
      hooks,
      rulesInRepository: rules.repository !== null,
    })),
  );
}
