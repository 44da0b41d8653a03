import type { accessToken as apiAccessToken, tokenInUse as apiTokenInUse } from '../../core/objects/accounts.js';
import { randomBytes } from 'node:crypto';
import { badRequest, created, forbidden, notFound, unauthorized, unprocessable } from '../answer.js';
import { SCOPE_CATEGORIES } from '../auth.js';
import { bind, field } from '../body.js';
import { onOwner, type OwnerCall } from '../guards.js';
import { NEVER, shaped, shownTime, type View, type Shown } from '../render/view.js';
import { listed } from '../paging.js';
import type { Given, Handler, Handlers } from '../handler.js';
import type { User, World } from '../world.js';
import type { Token } from '../entities/people.js';

/**
 * Scopes as a server keeps them: `public-only` first, then by category, the higher level only; every category at `write` is `all`.
 * @throws Error naming the word that is no scope
 */
export function normalizeScopes(words: readonly string[]): string[] {
  for (const word of words) if (!isScope(word)) throw new Error(`invalid access token scope: ${word}`);
  const publicOnly = words.includes('public-only') ? ['public-only'] : [];
  if (words.includes('all')) return [...publicOnly, 'all'];
  const scopes = SCOPE_CATEGORIES.flatMap((category) => {
    if (words.includes(`write:${category}`)) return [`write:${category}`];
    return words.includes(`read:${category}`) ? [`read:${category}`] : [];
  });
  const isAll = scopes.length === SCOPE_CATEGORIES.length && scopes.every((word) => word.startsWith('write:'));
  return [...publicOnly, ...(isAll ? ['all'] : scopes)];
}

function isScope(word: string): boolean {
  if (word === 'all' || word === 'public-only') return true;
  const [level, category, ...rest] = word.split(':');
  return (
    rest.length === 0 &&
    (level === 'read' || level === 'write') &&
    (SCOPE_CATEGORIES as readonly string[]).includes(category ?? '')
  );
}

/** A token with 40 hex digits. */
export function makeToken(world: World, user: User, name: string, scopes: readonly string[]): Token {
  const token: Token = {
    id: world.nextId('token'),
    userId: user.id,
    name,
    scopes: [...scopes],
    value: randomBytes(20).toString('hex'),
    createdAt: world.now(),
    lastUsedAt: world.now(),
  };
  return world.add('token', world.tokens, token);
}

/** The answer that creates a token shows its value and no times; every other one the times and no value. */
function renderToken(view: View, token: Token, options: { withValue?: boolean } = {}): Shown<typeof apiAccessToken> {
  return shaped(view, 'token', {
    id: token.id,
    name: token.name,
    sha1: options.withValue ? token.value : '',
    token_last_eight: token.value.slice(-8),
    scopes: token.scopes,
    repositories: null,
    created_at: options.withValue ? NEVER : shownTime(view, token.createdAt),
    last_used_at: options.withValue ? NEVER : shownTime(view, token.lastUsedAt),
  });
}

/** What the call that describes its own token answers. */
export function renderTokenInUse(view: View, token: Token): Shown<typeof apiTokenInUse> {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    created_at: shownTime(view, token.createdAt),
    last_used_at: shownTime(view, token.lastUsedAt),
    user: { id: token.userId, login: view.world.user(token.userId).login },
  };
}

interface TokensCall extends OwnerCall {
  user: User;
}

/** Oneself or a site admin; and, where the server insists, with the Basic scheme (a token as password is fine). */
function onTokens(run: (call: TokensCall) => Given): Handler {
  return onOwner((call) => {
    const { owner, caller, profile } = call;
    if (owner.kind !== 'user') throw notFound();
    if (!caller.user || (caller.user.id !== owner.id && !caller.user.isAdmin)) {
      throw forbidden('doer should be the site admin or be same as the contextUser');
    }
    if (!caller.isBasic && (profile.access.tokensNeedBasic || call.method !== 'GET'))
      throw unauthorized('auth required');
    return run({ ...call, user: owner });
  });
}

function tokensOf(call: TokensCall): Token[] {
  return [...call.world.tokens.values()].filter((token) => token.userId === call.user.id);
}

export const tokenHandlers: Handlers = {
  /** Op 16: newest first; the value is never told again. */
  listTokens: onTokens((call) => {
    const newestFirst = tokensOf(call).sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    return listed(call, newestFirst, (token) => renderToken(call.view, token));
  }),

  createToken: onTokens((call) => {
    const wish = bind(call, { name: field.text({ required: true, max: 255 }), scopes: field.texts() });
    const name = wish.name ?? '';
    if (tokensOf(call).some((token) => token.name === name))
      throw badRequest('access token name has been used already');
    const scopes = readScopes(wish.scopes ?? []);
    return created(renderToken(call.view, makeToken(call.world, call.user, name, scopes), { withValue: true }));
  }),

  /** By name, or by id where no token has that name. */
  deleteToken: onTokens((call) => {
    const wanted = call.params.token ?? '';
    const named = tokensOf(call).filter((token) => token.name === wanted);
    if (named.length > 1) throw unprocessable(`multiple matches for token name '${wanted}'`);
    const token = named[0] ?? tokensOf(call).find(({ id }) => String(id) === wanted);
    if (!token) throw notFound();
    call.world.remove('token', call.world.tokens, token);
  }),
};

function readScopes(words: readonly string[]): string[] {
  let scopes: string[];
  try {
    scopes = normalizeScopes(words);
  } catch (error) {
    throw badRequest(`invalid access token scope provided: ${(error as Error).message}`);
  }
  if (scopes.every((word) => word === 'public-only')) throw badRequest('access token must have a scope');
  return scopes;
}
