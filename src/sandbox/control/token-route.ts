import { created, Refusal } from '../answer.js';
import { makeToken, normalizeScopes } from '../resources/token.js';
import { userNamed } from './named.js';
import { list, required, text } from './read.js';
import type { ControlRoute } from './router.js';

/** `{ user, scopes?, name? }`: a token for somebody without their password, `all` by default; also where the API cannot make one (`core`). */
export const tokenRoute: ControlRoute = {
  method: 'POST',
  path: '/_sandbox/token',
  run: ({ parts, body }) => {
    const user = userNamed(parts, required(body, 'user'));
    const scopes = body.scopes === undefined ? ['all'] : list(body, 'scopes');
    const token = makeToken(parts.world, user, text(body, 'name') || `control-${parts.world.tokens.size + 1}`, normalized(scopes));
    return created({ id: token.id, user: user.login, name: token.name, scopes: token.scopes, token: token.value });
  },
};

function normalized(scopes: readonly string[]): string[] {
  try {
    return normalizeScopes(scopes);
  } catch (error) {
    throw new Refusal(422, (error as Error).message);
  }
}
