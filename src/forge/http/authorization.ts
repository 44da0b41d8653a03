import { UserError } from '../../core/errors.js';
import type { Operation } from '../define-operation.js';
import type { ForgeAuth } from './forge-connection.js';

export interface Authorization {
  /** Value of the header; `username` where the operation is answered to the Basic scheme only (api-behaviour op 16). */
  headerFor(operation: Operation, args: Readonly<Record<string, unknown>>): string;
  /** Every form of the credentials that must never show in a text. */
  readonly secrets: readonly string[];
}

export function authorizationOf(auth: ForgeAuth): Authorization {
  if (auth.type === 'token') {
    const token = auth.token.reveal();
    // A line break would end the header; servers give out tokens of letters and digits only.
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new UserError(
        'FORGE_TOKEN',
        'the token of the forge is empty or holds a character that a header cannot carry',
      );
    return {
      headerFor: (operation, args) => (operation.basicOnly ? basic(String(args['username']), token) : `token ${token}`),
      secrets: [token],
    };
  }
  const password = auth.password.reveal();
  if (auth.username === '' || auth.username.includes(':') || password === '') {
    throw new UserError('FORGE_LOGIN', 'Basic authentication needs a user name without ":" and a password');
  }
  const header = basic(auth.username, password);
  return { headerFor: () => header, secrets: [password, header.replace('Basic ', '')] };
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
