import { timingSafeEqual } from 'node:crypto';
import type { ScopeCategory } from '../forge/define-operation.js';
import { forbidden, notFound, Refusal, unauthorized } from './answer.js';
import type { Caller } from './handler.js';
import { readOAuthToken, type TokenClaims } from './web/oauth-tokens.js';
import type { Token, World } from './world.js';

const NOBODY: Caller = { user: null, token: null, isBasic: false };

function same(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

function wrong(): Refusal {
  return unauthorized('invalid username, password or token');
}

function byToken(world: World, value: string, isBasic: boolean): Caller {
  for (const token of world.tokens.values()) {
    if (!same(token.value, value)) continue;
    token.lastUsedAt = world.now();
    return { user: world.user(token.userId), token, isBasic };
  }
  const oauth = readOAuthToken(world, value);
  if (oauth?.kind !== 'access') throw wrong();
  return { user: oauth.user, token: asToken(oauth, value), isBasic };
}

/** Words of a grant that are scopes bind its tokens; without any such word a token may do everything. */
function asToken({ grant, user }: TokenClaims, value: string): Token {
  const named = grant.scope.split(/[ ,]+/).filter(isNamedScope);
  const scopes = named.length === 0 ? ['all'] : named;
  return { id: grant.id, userId: user.id, name: 'oauth2', scopes, value, createdAt: 0, lastUsedAt: 0 };
}

function isNamedScope(word: string): boolean {
  const [level = '', category = ''] = word.split(':');
  return ['read', 'write'].includes(level) && (SCOPE_CATEGORIES as readonly string[]).includes(category);
}

function isToken(world: World, value: string): boolean {
  return [...world.tokens.values()].some((token) => same(token.value, value));
}

/** User and password; or a token as password; or a token as user name with an empty password or `x-oauth-basic`. */
function byBasic(world: World, encoded: string): Caller {
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw wrong();
  const [name, password] = [text.slice(0, colon), text.slice(colon + 1)];
  if ((password === '' || password === 'x-oauth-basic') && isToken(world, name)) return byToken(world, name, true);
  if (isToken(world, password)) return byToken(world, password, true);
  const user = world.userByName(name);
  if (!user || !same(user.password, password)) throw wrong();
  return { user, token: null, isBasic: true };
}

/** Name of the deprecated query parameter that carries a token, when one does. */
export function queryToken(query: URLSearchParams): string | undefined {
  return query.get('token') ?? query.get('access_token') ?? undefined;
}

/**
 * Who calls. Wrong credentials are refused (401) even where nobody needs any; an unknown scheme counts as none.
 * @throws Refusal 401, or 403 for a user who may not log in
 */
export function authenticate(world: World, authorization: string | undefined, query: URLSearchParams): Caller {
  const caller = callerOf(world, authorization, query);
  if (caller.user?.prohibitLogin) throw forbidden('You are not allowed to sign in.');
  if (caller.user?.mustChangePassword)
    throw forbidden('You must change your password. Change it at: /user/change_password');
  return caller;
}

function callerOf(world: World, authorization: string | undefined, query: URLSearchParams): Caller {
  const inQuery = queryToken(query);
  if (authorization === undefined || authorization.trim() === '')
    return inQuery === undefined ? NOBODY : byToken(world, inQuery, false);
  const [, scheme = '', credentials = ''] = /^\s*(\S+)\s*(.*?)\s*$/.exec(authorization) ?? [];
  switch (scheme.toLowerCase()) {
    case 'basic':
      return byBasic(world, credentials);
    case 'token':
    case 'bearer':
      return byToken(world, credentials, false);
    default:
      return NOBODY;
  }
}

/** A site admin may act as somebody else, by header or query. */
export function impersonate(world: World, caller: Caller, name: string | null): Caller {
  if (!name) return caller;
  if (!caller.user?.isAdmin) throw new Refusal(403, '', { body: { message: 'Only administrators allowed to sudo.' } });
  const user = world.userByName(name);
  if (!user) throw notFound();
  return { ...caller, user };
}

export const SCOPE_CATEGORIES = [
  'activitypub',
  'admin',
  'misc',
  'notification',
  'organization',
  'package',
  'issue',
  'repository',
  'user',
] as const;

/** Whether a token's scopes cover a category at a level; writing contains reading. */
export function covers(scopes: readonly string[], level: 'read' | 'write', category: string): boolean {
  if (scopes.includes('all') || scopes.includes(`write:${category}`)) return true;
  return level === 'read' && scopes.includes(`read:${category}`);
}

/**
 * Scopes bind tokens only. The level follows the method.
 * @throws Refusal 403 that lists needed and owned scopes
 */
export function checkScope(token: Token | null, method: string, category: ScopeCategory): void {
  if (!token || category === 'none') return;
  const level = method === 'GET' || method === 'HEAD' ? 'read' : 'write';
  if (covers(token.scopes, level, category)) return;
  throw forbidden(
    `token does not have at least one of required scope(s), required=[${level}:${category}], token scope=${token.scopes.join(',')}`,
  );
}
