import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject, parseJson, stringifyJson } from '../../core/json.js';
import type { User, World } from '../world.js';
import type { OAuthGrant } from '../entities/people.js';

export const ACCESS_SECONDS = 3600;
const REFRESH_SECONDS = 730 * 3600;

/** What a token says of itself: which grant, which kind, and which of the grant's refresh tokens it is. */
export interface TokenClaims {
  readonly grant: OAuthGrant;
  readonly user: User;
  readonly kind: 'access' | 'refresh';
  readonly counter: number;
}

export function accessToken(world: World, grant: OAuthGrant): string {
  return signed(world, { gnt: grant.id, tt: 0, ...lifetime(world, ACCESS_SECONDS) });
}

export function refreshToken(world: World, grant: OAuthGrant): string {
  return signed(world, { gnt: grant.id, tt: 1, cnt: grant.counter, ...lifetime(world, REFRESH_SECONDS) });
}

export function idToken(world: World, claims: JsonObject): string {
  return signed(world, { ...claims, ...lifetime(world, ACCESS_SECONDS) });
}

/** Null when this server did not sign the text, its time is over, or its grant is gone. */
export function readOAuthToken(world: World, text: string): TokenClaims | null {
  const claims = claimsOf(world, text);
  if (claims === null || Number(claims.exp) <= world.now()) return null;
  const grant = world.oauthGrants.get(BigInt(String(claims.gnt ?? 0)));
  const user = grant && world.owners.get(grant.userId);
  if (user?.kind !== 'user') return null;
  return {
    grant: grant as OAuthGrant,
    user,
    kind: claims.tt === 1 ? 'refresh' : 'access',
    counter: Number(claims.cnt),
  };
}

/** The key that checks signatures, as `/login/oauth/keys` tells it. */
export function publicKey(world: World): JsonObject {
  const { n = '', e = '' } = createPublicKey(keyOf(world)).export({ format: 'jwk' });
  return { alg: 'RS256', e, kid: keyId(n), kty: 'RSA', n, use: 'sig' };
}

function lifetime(world: World, seconds: number): JsonObject {
  return { exp: world.now() + seconds, iat: world.now() };
}

function signed(world: World, claims: JsonObject): string {
  const { kid = '' } = publicKey(world);
  const head = encoded({ alg: 'RS256', kid, typ: 'JWT' });
  const content = `${head}.${encoded(claims)}`;
  return `${content}.${sign('sha256', Buffer.from(content), keyOf(world)).toString('base64url')}`;
}

function claimsOf(world: World, text: string): JsonObject | null {
  const [head = '', body = '', signature = ''] = text.split('.');
  if (world.oauthKeys.length === 0 || signature === '') return null;
  const content = Buffer.from(`${head}.${body}`);
  if (!verify('sha256', content, createPublicKey(keyOf(world)), Buffer.from(signature, 'base64url'))) return null;
  const claims = parseJson(Buffer.from(body, 'base64url').toString('utf8'));
  return isJsonObject(claims) ? claims : null;
}

const encoded = (value: Json): string => Buffer.from(stringifyJson(value)).toString('base64url');
const keyId = (n: string): string => n.slice(0, 43);

const keys = new WeakMap<World, KeyObject>();

/** Made when the first token is: a world without OAuth2 needs none. It is kept with the world, so that tokens outlive a restart. */
function keyOf(world: World): KeyObject {
  const existing = keys.get(world);
  if (existing) return existing;
  if (world.oauthKeys.length === 0) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    world.oauthKeys.push(privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  }
  const key = createPrivateKey(world.oauthKeys[0] as string);
  keys.set(world, key);
  return key;
}
