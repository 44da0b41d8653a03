import * as oauth from 'oauth4webapi';
import { webAddress } from '../../config/safe-address.js';
import type { Clock } from '../../core/clock.js';
import { BotError } from '../../core/errors.js';
import { Secret } from '../../core/secret.js';
import { createTransport, TransportFailure } from '../http/transport.js';

/**
 * Asked for by name, always: a token without a named scope may do everything that its person may. They let the bot read who somebody is, in which
 * organizations and teams, and which repositories that person sees.
 */
export const LOGIN_SCOPES = ['read:user', 'read:organization', 'read:repository'] as const;

const TOKEN_PATH = '/login/oauth/access_token';
const DEADLINE_MS = 10_000;
const MAX_BYTES = 64 * 1024;

export interface OAuthTokens {
  readonly access: Secret;
  readonly refresh: Secret;
  readonly expiresInS: number;
}

/** The server said no: the code, or the refresh token, is worth nothing. `error` is its word for why. */
export class OAuthRefused extends BotError {
  constructor(readonly error: string) {
    super('OAUTH_REFUSED', `the forge gives no token: ${error}`);
  }
}

/** Nobody knows what the server would have said. */
export class OAuthUnanswered extends BotError {
  constructor(detail: string) {
    super('OAUTH_UNANSWERED', `the forge does not answer as it should: ${detail}`, 'transient');
  }
}

export interface OAuthClientOptions {
  /** Address of the API; the pages are beside it. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly caFile: string | null;
  readonly proxy: string | null;
  readonly clock: Clock;
}

/** The client of one application at one forge. Nothing that it throws or returns shows a code, a token or the client's secret. */
export class OAuthClient {
  /** What the server calls itself: the address of its pages, without a slash at the end. */
  readonly issuer: string;
  readonly #server: oauth.AuthorizationServer;
  readonly #client: oauth.Client;
  readonly #authentication: oauth.ClientAuth;
  readonly #options: oauth.TokenEndpointRequestOptions;

  /** @throws UserError when CA file or proxy cannot be used */
  constructor(options: OAuthClientOptions) {
    this.issuer = webAddress(options.baseUrl);
    this.#server = { issuer: this.issuer, token_endpoint: `${this.issuer}${TOKEN_PATH}` };
    this.#client = { client_id: options.clientId };
    this.#authentication = oauth.ClientSecretPost(options.clientSecret.reveal());
    // Whether plain http is allowed, the config says.
    this.#options = { [oauth.customFetch]: postBy(options, this.issuer), [oauth.allowInsecureRequests]: true };
  }

  /** Where a browser is sent. @param challenge S256 of the verifier */
  authorizeUrl({
    redirectUri,
    state,
    challenge,
  }: Readonly<Record<'redirectUri' | 'state' | 'challenge', string>>): string {
    const query = new URLSearchParams({
      client_id: this.#client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: LOGIN_SCOPES.join(' '),
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    return `${this.issuer}/login/oauth/authorize?${query}`;
  }

  /** @throws OAuthRefused, OAuthUnanswered */
  exchange({
    code,
    verifier,
    redirectUri,
  }: Readonly<Record<'code' | 'verifier' | 'redirectUri', string>>): Promise<OAuthTokens> {
    return answered(async () => {
      // The state was compared before.
      const callback = oauth.validateAuthResponse(
        this.#server,
        this.#client,
        new URLSearchParams({ code }),
        oauth.skipStateCheck,
      );
      const answer = await oauth.authorizationCodeGrantRequest(
        this.#server,
        this.#client,
        this.#authentication,
        callback,
        redirectUri,
        verifier,
        this.#options,
      );
      return oauth.processAuthorizationCodeResponse(this.#server, this.#client, answer);
    });
  }

  /** @throws OAuthRefused, OAuthUnanswered */
  refresh(refreshToken: Secret): Promise<OAuthTokens> {
    return answered(async () => {
      const answer = await oauth.refreshTokenGrantRequest(
        this.#server,
        this.#client,
        this.#authentication,
        refreshToken.reveal(),
        this.#options,
      );
      return oauth.processRefreshTokenResponse(this.#server, this.#client, answer);
    });
  }
}

/** Requests go where all others to the forge go, with its CA file, proxy and limits. */
function postBy(
  options: OAuthClientOptions,
  issuer: string,
): NonNullable<oauth.TokenEndpointRequestOptions[typeof oauth.customFetch]> {
  const send = createTransport({ ...options, baseUrl: issuer, concurrency: 1 });
  return async (_url, { headers, body }) => {
    const reply = await send({
      method: 'POST',
      url: TOKEN_PATH,
      headers: { ...headers, 'User-Agent': 'forgehand' },
      body: Buffer.from(String(body)),
      deadlineMs: DEADLINE_MS,
      maxBytes: MAX_BYTES,
    });
    return new Response(reply.body.length === 0 ? null : new Uint8Array(reply.body), {
      status: reply.status,
      headers: { 'content-type': reply.headers['content-type'] ?? '' },
    });
  };
}

async function answered(ask: () => Promise<oauth.TokenEndpointResponse>): Promise<OAuthTokens> {
  try {
    const { access_token, refresh_token, expires_in } = await ask();
    if (refresh_token === undefined || expires_in === undefined || expires_in <= 0)
      throw new OAuthUnanswered('tokens that end and can be renewed were wanted');
    return { access: new Secret(access_token), refresh: new Secret(refresh_token), expiresInS: expires_in };
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError && /^[a-z_]{1,64}$/.test(error.error))
      throw new OAuthRefused(error.error);
    if (error instanceof TransportFailure) throw new OAuthUnanswered(error.detail);
    if (
      error instanceof oauth.OperationProcessingError ||
      error instanceof oauth.ResponseBodyError ||
      error instanceof oauth.WWWAuthenticateChallengeError
    )
      throw new OAuthUnanswered(error.code ?? error.name);
    throw error;
  }
}
