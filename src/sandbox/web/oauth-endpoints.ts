import { createHash } from 'node:crypto';
import { equalSecret } from '../../core/equal-secret.js';
import type { Json } from '../../core/json.js';
import type { Answer } from '../answer.js';
import { teamsOf } from '../permissions.js';
import { applicationByClient } from '../resources/oauth-application.js';
import type { User, World } from '../world.js';
import { isRegistered } from './oauth-consent.js';
import { ACCESS_SECONDS, accessToken, idToken, publicKey, readOAuthToken, refreshToken } from './oauth-tokens.js';
import type { WebCall, WebHandler } from './web-call.js';
import type { OAuthApplication, OAuthGrant } from '../entities/people.js';
import { avatarUrl } from '../resources/owner-view.js';

/** What programs ask, without a browser between. */
export const endpointRoutes: Readonly<Record<string, WebHandler>> = {
  'GET /.well-known/openid-configuration': ({ baseUrl }) => plainJson(configuration(baseUrl)),
  'GET /login/oauth/keys': ({ world }) => plainJson({ keys: [publicKey(world)] }),

  'POST /login/oauth/access_token': (call) => {
    try {
      const client = clientOf(call);
      switch (call.form.get('grant_type')) {
        case 'authorization_code':
          return exchange(call, client);
        case 'refresh_token':
          return refresh(call, client);
        default:
          throw new TokenError(
            'unsupported_grant_type',
            'Only refresh_token or authorization_code grant type is supported',
          );
      }
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      return { status: 400, json: { error: error.code, error_description: error.message } };
    }
  },

  'GET /login/oauth/userinfo': (call) => {
    const { world, profile, raw } = call;
    const [, scheme = '', text = ''] = /^(\S+) (.*)$/.exec(raw.headers.authorization ?? '') ?? [];
    if (!/^(bearer|token)$/i.test(scheme)) return unauthorized(`Bearer realm="${profile.web.realm}"`);
    const token = readOAuthToken(world, text);
    if (!token) return { status: 401, text: `${profile.web.badToken}\n` };
    return { status: 200, json: { sub: String(token.user.id), ...claimsAbout(call, token.user) } };
  },

  'POST /login/oauth/introspect': (call) => {
    const { world, profile, form, baseUrl } = call;
    const client = clientOf(call);
    const application = applicationByClient(world, client.id);
    if (!application || !equalSecret(client.secret ?? '', application.clientSecret))
      return unauthorized(`Basic realm="${profile.web.realm}"`);
    const token = readOAuthToken(world, form.get('token') ?? '');
    const isForeign = token?.grant.applicationId !== application.id;
    if (!token || (isForeign && profile.web.hidesForeignTokens)) return { status: 200, json: { active: false } };
    const owner = world.oauthApplications.get(token.grant.applicationId);
    return {
      status: 200,
      json: {
        active: true,
        ...(token.grant.scope === '' ? {} : { scope: token.grant.scope }),
        username: token.user.login,
        iss: baseUrl,
        sub: String(token.user.id),
        aud: [owner?.clientId ?? ''],
      },
    };
  },
};

class TokenError extends Error {
  constructor(
    readonly code: string,
    description: string,
  ) {
    super(description);
  }
}

interface Client {
  readonly id: string | null;
  readonly secret: string | null;
}

/** By Basic, or by fields of the form. */
function clientOf({ raw, form }: WebCall): Client {
  const basic = /^basic (.+)$/i.exec(raw.headers.authorization ?? '')?.[1];
  if (basic === undefined) return { id: form.get('client_id'), secret: form.get('client_secret') };
  const [id = '', ...rest] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return { id, secret: rest.join(':') };
}

function checkSecret(application: OAuthApplication, { secret }: Client, code: string): void {
  if (!application.isConfidential) return;
  if (secret === null || secret === '') throw new TokenError(code, 'invalid empty client secret');
  if (!equalSecret(secret, application.clientSecret)) throw new TokenError(code, 'invalid client secret');
}

/** A wrong verifier or client leaves the code good; only its use ends it. */
function exchange(call: WebCall, client: Client): Answer {
  const { world, form } = call;
  const application = applicationByClient(world, client.id);
  if (!application) throw new TokenError('invalid_client', `cannot load client with client id: '${client.id ?? ''}'`);
  checkSecret(application, client, 'unauthorized_client');
  const redirectUri = form.get('redirect_uri');
  if (redirectUri !== null && !isRegistered(application, redirectUri))
    throw new TokenError('unauthorized_client', 'unexpected redirect URI');
  const text = form.get('code') ?? '';
  const code = world.oauthCodes.get(text);
  const grant = code && world.oauthGrants.get(code.grantId);
  if (!code || !grant || code.validUntil <= world.now())
    throw new TokenError('unauthorized_client', 'client is not authorized');
  if (!isVerified(code, form.get('code_verifier') ?? ''))
    throw new TokenError('unauthorized_client', 'failed PKCE code challenge');
  if (grant.applicationId !== application.id) throw new TokenError('invalid_grant', 'invalid grant');
  if (code.redirectUri !== redirectUri) throw new TokenError(...call.profile.web.otherRedirect);
  world.oauthCodes.delete(text);
  return tokens(call, application, grant);
}

function isVerified({ challenge, method }: { challenge: string; method: string }, verifier: string): boolean {
  if (challenge === '') return true;
  const answer = method === 'S256' ? createHash('sha256').update(verifier).digest('base64url') : verifier;
  return equalSecret(answer, challenge);
}

function refresh(call: WebCall, client: Client): Answer {
  const { world, form, profile } = call;
  const application = applicationByClient(world, client.id);
  if (!application) throw new TokenError('invalid_client', `cannot load client with client id: "${client.id ?? ''}"`);
  checkSecret(application, client, 'invalid_client');
  const token = readOAuthToken(world, form.get('refresh_token') ?? '');
  if (!token) throw new TokenError('unauthorized_client', 'unable to parse refresh token');
  if (profile.web.oneRefreshToken && token.kind !== 'refresh')
    throw new TokenError('unauthorized_client', 'token is not a refresh token');
  if (token.grant.applicationId !== application.id)
    throw new TokenError('invalid_grant', profile.web.foreignRefreshToken);
  if (profile.web.oneRefreshToken && token.counter !== token.grant.counter)
    throw new TokenError('unauthorized_client', 'token was already used');
  return tokens(call, application, token.grant);
}

/** New tokens; whether earlier refresh tokens of the same grant stay good is the server's. */
function tokens(call: WebCall, application: OAuthApplication, grant: OAuthGrant): Answer {
  const { world, profile, baseUrl } = call;
  if (profile.web.oneRefreshToken) grant.counter += 1;
  world.changed('oauth grant', grant.id, 'updated');
  const user = world.user(grant.userId);
  const isOpenId = grant.scope.split(/[ ,]+/).includes('openid');
  const about = { iss: baseUrl, sub: String(user.id), aud: [application.clientId], nonce: grant.nonce };
  return {
    status: 200,
    json: {
      access_token: accessToken(world, grant),
      token_type: 'bearer',
      expires_in: ACCESS_SECONDS,
      refresh_token: refreshToken(world, grant),
      ...(isOpenId ? { id_token: idToken(world, { ...about, ...claimsAbout(call, user) }) } : {}),
    },
  };
}

function claimsAbout({ world, profile, baseUrl }: WebCall, user: User): Record<string, Json> {
  const groups = groupsOf(world, user);
  return {
    name: user.fullName || user.login,
    preferred_username: user.login,
    email: user.email,
    picture: avatarUrl({ world, profile, baseUrl, viewer: user }, user),
    ...(groups.length > 0 ? { groups } : profile.web.tellsNoGroups ? { groups: null } : {}),
  };
}

/** Organizations and teams: `acme`, `acme:writers`. */
function groupsOf(world: World, user: User): string[] {
  return [...world.owners.values()].flatMap((owner) => {
    const teams = owner.kind === 'organization' ? teamsOf(world, owner.id, user.id) : [];
    return teams.length === 0 ? [] : [owner.login, ...teams.map(({ name }) => `${owner.login}:${name.toLowerCase()}`)];
  });
}

function unauthorized(challenge: string): Answer {
  return {
    status: 401,
    text: 'no valid authorization',
    headers: { 'content-type': 'text/plain;charset=utf-8', 'www-authenticate': challenge },
  };
}

function plainJson(json: object): Answer {
  return { status: 200, json, headers: { 'content-type': 'application/json' } };
}

function configuration(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/login/oauth/authorize`,
    token_endpoint: `${issuer}/login/oauth/access_token`,
    jwks_uri: `${issuer}/login/oauth/keys`,
    userinfo_endpoint: `${issuer}/login/oauth/userinfo`,
    introspection_endpoint: `${issuer}/login/oauth/introspect`,
    response_types_supported: ['code', 'id_token'],
    id_token_signing_alg_values_supported: ['RS256'],
    subject_types_supported: ['public'],
    scopes_supported: ['openid', 'profile', 'email', 'groups'],
    claims_supported: [
      'aud',
      'exp',
      'iat',
      'iss',
      'sub',
      'name',
      'preferred_username',
      'profile',
      'picture',
      'website',
      'locale',
      'updated_at',
      'email',
      'email_verified',
      'groups',
    ],
    code_challenge_methods_supported: ['plain', 'S256'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
  };
}
