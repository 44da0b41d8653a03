import type { Token } from '../world.js';
import { shaped } from './shape.js';
import type { View } from './view.js';
import { NEVER, shownTime } from './view.js';

/** The answer that creates a token shows its value and no times; every other one the times and no value. */
export function renderToken(view: View, token: Token, options: { withValue?: boolean } = {}): object {
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
