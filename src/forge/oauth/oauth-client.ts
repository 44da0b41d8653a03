import { z } from 'zod';
import { webAddress } from '../../config/safe-address.js';
import type { Clock } from '../../core/clock.js';
import { BotError } from '../../core/errors.js';
import { Secret } from '../../core/secret.js';
import { readJson } from '../http/reply.js';
import { createTransport, TransportFailure, type WireReply } from '../http/transport.js';

/**
 * Asked for by name, always: a token without a named scope may do everything that its person may. They let the bot read who somebody is, in which
 * organizations and teams, and which repositories that person sees.
 */
export const LOGIN_SCOPES = ['read:user', 'read:organization', 'read:repository'] as const;

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

const tokens = z.object({
  access_token: z.string().min(1).max(16_384),
  refresh_token: z.string().min(1).max(16_384),
  expires_in: z.number().int().positive().max(31_536_000),
});
const refusal = z.object({ error: z.string().regex(/^[a-z_]{1,64}$/) });

/** The client of one application at one forge. Nothing that it throws or returns shows a code, a token or the client's secret. */
export class OAuthClient {
  /** What the server calls itself: the address of its pages, without a slash at the end. */
  readonly issuer: string;
  readonly #send: ReturnType<typeof createTransport>;

  /** @throws UserError when CA file or proxy cannot be used */
  constructor(private readonly options: OAuthClientOptions) {
    this.issuer = webAddress(options.baseUrl);
    this.#send = createTransport({ ...options, baseUrl: this.issuer, concurrency: 1 });
  }

  /** Where a browser is sent. @param challenge S256 of the verifier */
  authorizeUrl({
    redirectUri,
    state,
    challenge,
  }: Readonly<Record<'redirectUri' | 'state' | 'challenge', string>>): string {
    const query = new URLSearchParams({
      client_id: this.options.clientId,
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
    return this.#ask({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier });
  }

  /** @throws OAuthRefused, OAuthUnanswered */
  refresh(refreshToken: Secret): Promise<OAuthTokens> {
    return this.#ask({ grant_type: 'refresh_token', refresh_token: refreshToken.reveal() });
  }

  async #ask(fields: Readonly<Record<string, string>>): Promise<OAuthTokens> {
    const { clientId, clientSecret } = this.options;
    const form = new URLSearchParams({ ...fields, client_id: clientId, client_secret: clientSecret.reveal() });
    const reply = await this.#post(Buffer.from(form.toString()));
    const json = jsonOf(reply);
    const given = tokens.safeParse(json);
    if (reply.status === 200 && given.success) {
      const { access_token, refresh_token, expires_in } = given.data;
      return { access: new Secret(access_token), refresh: new Secret(refresh_token), expiresInS: expires_in };
    }
    const refused = refusal.safeParse(json);
    if (reply.status >= 400 && reply.status < 500 && refused.success) throw new OAuthRefused(refused.data.error);
    throw new OAuthUnanswered(`status ${reply.status}`);
  }

  async #post(body: Buffer): Promise<WireReply> {
    const headers = {
      Accept: 'application/json',
      'User-Agent': 'forgehand',
      'Content-Type': 'application/x-www-form-urlencoded',
    };
    const url = '/login/oauth/access_token';
    try {
      return await this.#send({
        method: 'POST',
        url,
        headers,
        body,
        deadlineMs: DEADLINE_MS,
        maxBytes: MAX_BYTES,
      });
    } catch (error) {
      if (error instanceof TransportFailure) throw new OAuthUnanswered(error.detail);
      throw error;
    }
  }
}

function jsonOf({ body }: WireReply): unknown {
  try {
    return readJson(body);
  } catch {
    return undefined;
  }
}
