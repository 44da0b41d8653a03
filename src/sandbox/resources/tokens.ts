import { badRequest, created, forbidden, noContent, notFound, unauthorized, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import type { OwnerCall } from '../guards.js';
import { onOwner } from '../guards.js';
import type { Answer } from '../answer.js';
import type { Handler } from '../handler.js';
import { makeToken } from '../make/people.js';
import { listed } from '../paging.js';
import type { Handlers } from '../registry.js';
import { renderToken } from '../render/token.js';
import { normalizeScopes } from '../scopes.js';
import type { Token, User } from '../world.js';

interface TokensCall extends OwnerCall {
  user: User;
}

/** Oneself or a site admin; and, where the server insists, with the Basic scheme (a token as password is fine). */
function onTokens(run: (call: TokensCall) => Answer): Handler {
  return onOwner((call) => {
    const { owner, caller, profile } = call;
    if (owner.kind !== 'user') throw notFound();
    if (!caller.user || (caller.user.id !== owner.id && !caller.user.isAdmin)) {
      throw forbidden('doer should be the site admin or be same as the contextUser');
    }
    if (!caller.isBasic && (profile.access.tokensNeedBasic || call.method !== 'GET')) throw unauthorized('auth required');
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
    if (tokensOf(call).some((token) => token.name === name)) throw badRequest('access token name has been used already');
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
    call.world.tokens.delete(token.id);
    call.world.changed('token', token.id, 'deleted');
    return noContent();
  }),
};

function readScopes(given: readonly string[]): string[] {
  let scopes: string[];
  try {
    scopes = normalizeScopes(given);
  } catch (error) {
    throw badRequest(`invalid access token scope provided: ${(error as Error).message}`);
  }
  if (scopes.every((word) => word === 'public-only')) throw badRequest('access token must have a scope');
  return scopes;
}
