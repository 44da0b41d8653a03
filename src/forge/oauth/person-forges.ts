import { Inject, Injectable } from '@nestjs/common';
import { AppConfig, type ForgeConfig } from '../../config/app-config.js';
import { Clock } from '../../core/clock.js';
import { UserError } from '../../core/errors.js';
import { Logger } from '../../core/logger.js';
import type { Secret } from '../../core/secret.js';
import { OrgNumbers } from '../org-numbers.js';
import { createForgeClient } from '../http/create-forge-client.js';
import { OAuthClient, type OAuthTokens } from './oauth-client.js';
import { type KnownOrg, rightsOfPerson, type PersonAtForge } from './rights-of-person.js';

/** A forge as a person logs in to it. */
export interface PersonForge {
  readonly issuer: string;
  authorizeUrl(ask: { redirectUri: string; state: string; challenge: string }): string;
  /** @throws OAuthRefused, OAuthUnanswered */
  exchange(code: { code: string; verifier: string; redirectUri: string }): Promise<OAuthTokens>;
  /** @throws OAuthRefused, OAuthUnanswered */
  refresh(refreshToken: Secret): Promise<OAuthTokens>;
  /** Asked with the person's own token. @throws ForgeError */
  rightsOf(accessToken: Secret): Promise<PersonAtForge>;
}

/** The calls of one person do not wait behind the bot's: the forge counts them for that person. */
const CALLS = { concurrency: 2, ratePerS: 20, deadlineMs: 10_000 } as const;

/** Forges of the config that people log in through. */
@Injectable()
export class PersonForges {
  private readonly forges: ReadonlyMap<string, PersonForge>;

  constructor(
    @Inject(AppConfig) config: Pick<AppConfig, 'forges' | 'orgs'>,
    @Inject(OrgNumbers) numbers: Pick<OrgNumbers, 'pinned'>,
    clock: Clock,
    logger: Logger,
  ) {
    this.forges = new Map(
      config.forges.flatMap((forge): Array<[string, PersonForge]> => {
        const pinnedOrgs = (): Promise<KnownOrg[]> =>
          Promise.all(
            config.orgs
              .filter((org) => org.forge === forge.id)
              .map(async ({ key, name }) => ({ key, name, number: await numbers.pinned(forge.id, key) })),
          );
        return forge.oauth
          ? [[forge.id, personForge({ ...forge, oauth: forge.oauth }, pinnedOrgs, clock, logger)]]
          : [];
      }),
    );
  }

  get ids(): readonly string[] {
    return [...this.forges.keys()];
  }

  /** @throws UserError when nobody logs in through it */
  get(id: string): PersonForge {
    const forge = this.forges.get(id);
    if (!forge) throw new UserError('LOGIN_NO_FORGE', `nobody can log in through the forge ${id}`);
    return forge;
  }
}

function personForge(
  { oauth, ...forge }: ForgeConfig & { oauth: NonNullable<ForgeConfig['oauth']> },
  orgs: () => Promise<readonly KnownOrg[]>,
  clock: Clock,
  logger: Logger,
): PersonForge {
  const at = { baseUrl: forge.baseUrl, caFile: forge.caFile, proxy: forge.proxy?.reveal() ?? null, clock };
  const client = new OAuthClient({ ...at, ...oauth });
  return {
    issuer: client.issuer,
    authorizeUrl: (ask) => client.authorizeUrl(ask),
    exchange: (code) => client.exchange(code),
    refresh: (token) => client.refresh(token),
    rightsOf: async (token) =>
      rightsOfPerson(createForgeClient({ ...at, ...CALLS, logger, auth: { type: 'token', token } }), await orgs()),
  };
}
