import { Inject, Injectable } from '@nestjs/common';
import { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomState } from 'oauth4webapi';
import { Clock } from '../../core/clock.js';
import { Encryptor } from '../../core/encryptor.js';
import { equalSecret } from '../../core/equal-secret.js';
import { BotError, ForgeError, messageOf } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { isJsonObject, parseJson, stringifyJson } from '../../core/json.js';
import { Logger } from '../../core/logger.js';
import { personCaller } from '../../core/operators.js';
import { Secret } from '../../core/secret.js';
import { OAuthRefused, type OAuthTokens } from '../../forge/oauth/oauth-client.js';
import { PersonForges, type PersonForge } from '../../forge/oauth/person-forges.js';
import type { PersonAtForge } from '../../forge/oauth/rights-of-person.js';
import { type KeptGrant, GrantStore } from './grant-store.port.js';
import type { CallbackQuery, KnownPerson, PendingLogin, PersonLogin, PersonNow } from './login.port.js';

const MINUTE_MS = 60_000;
/** Rights that were read longer ago are worth nothing: without an answer of the forge, nothing is shown. */
const RIGHTS_MS = 10 * MINUTE_MS;
/** From this age on they are read again behind the page, so that a short absence of the forge is not noticed. */
const AGEING_MS = 5 * MINUTE_MS;
/** How long a no of the forge is believed where somebody looks; a write asks again. */
const REFUSED_MS = 15_000;
/** A token that ends so soon is renewed first. */
const EARLY_MS = MINUTE_MS;
/** No session lives so long without its token being renewed. */
const UNUSED_MS = 8 * 24 * 60 * MINUTE_MS;

/** Why nobody was logged in. */
class LoginRefused extends BotError {
  constructor(
    code:
      | 'LOGIN_DENIED'
      | 'LOGIN_STATE'
      | 'LOGIN_ISSUER'
      | 'LOGIN_CODE'
      | 'LOGIN_RIGHTS'
      | 'LOGIN_ACCOUNT'
      | 'LOGIN_UNANSWERED',
    message: string,
  ) {
    super(code, message);
  }
}

/** Rights as they were read last; null = the forge said no. */
interface Known {
  readonly person: PersonAtForge | null;
  readonly readMs: number;
}

/** People who log in through a forge (OAuth2 with PKCE), and what they may do, as the forge tells them. */
@Injectable()
export class PersonLogins implements PersonLogin {
  private readonly people = new Map<string, Known>();
  private readonly renewals = new Map<string, Promise<Tokens | null>>();
  private readonly readings = new Map<string, Promise<Known | null>>();

  constructor(
    @Inject(PersonForges) private readonly oauthForges: Pick<PersonForges, 'ids' | 'get'>,
    private readonly grants: GrantStore,
    @Inject(Encryptor) private readonly encryptor: Pick<Encryptor, 'seal' | 'unseal'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  get forges(): readonly string[] {
    return this.oauthForges.ids;
  }

  async begin(forge: string, returnTo: string, redirectUri: string): Promise<{ url: string; pending: PendingLogin }> {
    const [state, verifier] = [generateRandomState(), generateRandomCodeVerifier()];
    const challenge = await calculatePKCECodeChallenge(verifier);
    const url = this.oauthForges.get(forge).authorizeUrl({ redirectUri, state, challenge });
    return { url, pending: { forge, returnTo, kept: { state, verifier, redirectUri } } };
  }

  async finish(pending: PendingLogin, query: CallbackQuery, redirectUri: string): Promise<KnownPerson> {
    const { state = '', verifier = '', redirectUri: firstRedirectUri } = pending.kept;
    if (state === '' || !equalSecret(query.state ?? '', state) || firstRedirectUri !== redirectUri)
      throw new LoginRefused('LOGIN_STATE', 'this callback belongs to another login: begin again');
    const forge = this.oauthForges.get(pending.forge);
    // Servers that name themselves must be the one that was asked: another forge could pass on a code that it was given.
    if (query.iss !== undefined && query.iss.replace(/\/+$/, '') !== forge.issuer)
      throw new LoginRefused(
        'LOGIN_ISSUER',
        'the callback comes from another forge than the one where the login began: begin again',
      );
    if (query.code === undefined || query.code === '') throw refusalOf(query.error);
    const tokens = await exchanged(forge.exchange({ code: query.code, verifier, redirectUri }));
    const person = await this.firstRights(forge, tokens);
    return this.keep(pending.forge, person, tokens);
  }

  async callerOf(grantId: string, { fresh }: { readonly fresh: boolean }): Promise<PersonNow | null> {
    const grant = await this.grants.byId(grantId);
    if (!grant) {
      this.people.delete(grantId);
      return null;
    }
    const entry = fresh ? await this.read(grant) : await this.recent(grant);
    if (!entry?.person) return null;
    const { forge, userId } = grant;
    return { caller: personCaller({ forge, login: entry.person.login }, entry.person.rights), forge, userId };
  }

  async end(grantId: string): Promise<void> {
    const { grants, oauthForges: forges, logger } = this;
    this.people.delete(grantId);
    const grant = await grants.remove(grantId);
    if (!grant || !forges.ids.includes(grant.forge)) return;
    try {
      // No server has a call that ends a token. On some, each new refresh token ends the ones before: one is asked for and thrown away.
      await forges.get(grant.forge).refresh(this.tokensOf(grant).refresh);
    } catch (error) {
      logger.info({ forge: grant.forge, reason: messageOf(error) }, 'console.token-not-ended');
    }
  }

  /** The account is asked at once: it says whose token this is, and a grant from before with other scopes shows now. */
  private async firstRights(forge: PersonForge, { access }: OAuthTokens): Promise<PersonAtForge> {
    try {
      return await forge.rightsOf(access);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (!isNo(error)) throw new LoginRefused('LOGIN_UNANSWERED', 'the forge does not answer now: try again');
      throw new LoginRefused(
        'LOGIN_RIGHTS',
        'the forge does not let the bot read your account: the account may be locked, or you granted the application fewer rights earlier. ' +
          'Revoke it in the settings of your account at the forge, and log in again',
      );
    }
  }

  private async keep(forge: string, person: PersonAtForge, tokens: OAuthTokens): Promise<KnownPerson> {
    const { grants, clock } = this;
    const now = clock.now();
    await grants.sweep(new Date(now.getTime() - UNUSED_MS));
    const { id: userId, login } = person;
    const grantId = await grants.save({ id: newId(), forge, userId, login, ...this.sealed(tokens) });
    this.people.set(grantId, { person, readMs: clock.monotonicMs() });
    return { forge, login, userId, grantId };
  }

  /** Good enough to look at: what is known, or what the forge says now. */
  private async recent(grant: KeptGrant): Promise<Known | null> {
    const entry = this.people.get(grant.id);
    const age = entry ? this.clock.monotonicMs() - entry.readMs : Infinity;
    if (entry?.person === null && age < REFUSED_MS) return entry;
    if (!entry?.person || age >= RIGHTS_MS) return this.readOnce(grant);
    if (age >= AGEING_MS) void this.readOnce(grant);
    return entry;
  }

  /** Pages that are asked for together ask the forge once. */
  private readOnce(grant: KeptGrant): Promise<Known | null> {
    const reading = this.readings.get(grant.id) ?? this.read(grant).finally(() => void this.readings.delete(grant.id));
    this.readings.set(grant.id, reading);
    return reading;
  }

  /** @returns null when the forge was not reached: what was known before stays, until it is too old */
  private async read(grant: KeptGrant): Promise<Known | null> {
    const readMs = this.clock.monotonicMs();
    try {
      const person = await this.ask(grant);
      const entry = { person: person?.id === grant.userId ? person : null, readMs };
      this.people.set(grant.id, entry);
      return entry;
    } catch (error) {
      this.logger.warn({ forge: grant.forge, reason: messageOf(error) }, 'console.rights-not-read');
      return null;
    }
  }

  /** Null = the forge says no: to the tokens, or to the account. A person who is locked out may still renew tokens, so only the API counts. */
  private async ask(grant: KeptGrant): Promise<PersonAtForge | null> {
    const forge = this.oauthForges.get(grant.forge);
    const isOver = grant.accessEndsAt.getTime() - this.clock.now().getTime() < EARLY_MS;
    const tokens = isOver ? await this.renewOnce(grant) : this.tokensOf(grant);
    if (!tokens) return null;
    try {
      return await forge.rightsOf(tokens.access);
    } catch (error) {
      if (!isNo(error)) throw error;
      const renewed = isOver || error.facts.status !== 401 ? null : await this.renewOnce(grant);
      return renewed && (await orNo(forge.rightsOf(renewed.access)));
    }
  }

  private renewOnce(grant: KeptGrant): Promise<Tokens | null> {
    const renewal = this.renewals.get(grant.id) ?? this.renew(grant).finally(() => void this.renewals.delete(grant.id));
    this.renewals.set(grant.id, renewal);
    return renewal;
  }

  /** Another process may renew the same tokens at the same time; on some servers only one of the two gets new ones. @returns null when they are over */
  private async renew(read: KeptGrant): Promise<Tokens | null> {
    const { grants, oauthForges: forges } = this;
    const before = this.tokensOf(read);
    try {
      const tokens = await forges.get(read.forge).refresh(before.refresh);
      if (await grants.renew(read, { login: read.login, ...this.sealed(tokens) })) return tokens;
    } catch (error) {
      if (!(error instanceof OAuthRefused)) throw error;
    }
    const now = await grants.byId(read.id);
    return now && now.sealed !== read.sealed ? this.tokensOf(now) : null;
  }

  private sealed({
    access,
    refresh,
    expiresInS,
  }: OAuthTokens): Pick<KeptGrant, 'sealed' | 'accessEndsAt' | 'renewedAt'> {
    const renewedAt = this.clock.now();
    const text = stringifyJson({ access: access.reveal(), refresh: refresh.reveal() });
    const { $sealed } = this.encryptor.seal(text);
    return { sealed: $sealed, accessEndsAt: new Date(renewedAt.getTime() + expiresInS * 1000), renewedAt };
  }

  /** @throws BotError SEAL_BROKEN */
  private tokensOf({ sealed }: KeptGrant): Tokens {
    const text = this.encryptor.unseal({ $sealed: sealed, $hash: '' }).reveal();
    const read = parseJson(text);
    if (!isJsonObject(read)) throw new Error('sealed tokens that are none');
    return { access: new Secret(String(read['access'])), refresh: new Secret(String(read['refresh'])) };
  }
}

type Tokens = Pick<OAuthTokens, 'access' | 'refresh'>;

/** The forge answered, and the answer is no. */
function isNo(error: unknown): error is ForgeError {
  return (
    error instanceof ForgeError &&
    error.kind === 'refused' &&
    (error.facts.status === 401 || error.facts.status === 403)
  );
}

async function orNo<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (isNo(error)) return null;
    throw error;
  }
}

function refusalOf(error: string | undefined): LoginRefused {
  return error === 'access_denied'
    ? new LoginRefused('LOGIN_DENIED', 'you did not allow the bot to read your account')
    : new LoginRefused(
        'LOGIN_CODE',
        'the forge refused the login: ask the owner of the bot to look at its application',
      );
}

async function exchanged(call: Promise<OAuthTokens>): Promise<OAuthTokens> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof OAuthRefused)
      throw new LoginRefused('LOGIN_CODE', `the forge gives no token for this login (${error.error}): begin again`);
    if (error instanceof BotError && error.retry === 'transient')
      throw new LoginRefused('LOGIN_UNANSWERED', 'the forge does not answer now: try again');
    throw error;
  }
}
