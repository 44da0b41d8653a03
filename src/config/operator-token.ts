import { UserError } from '../core/errors.js';
import { Secret } from '../core/secret.js';
import { resolveSecret } from './secret-reference.js';

/**
 * The token of the operator who runs a command: `FORGEHAND_OPERATOR_TOKEN`, or the file that `FORGEHAND_OPERATOR_TOKEN_FILE` names. It is never
 * an argument, since other users of the machine can read the arguments of a process.
 * @returns null when neither is set
 * @throws UserError when the one that is set cannot be used
 */
export function operatorToken(env: NodeJS.ProcessEnv = process.env): Secret | null {
  const file = env['FORGEHAND_OPERATOR_TOKEN_FILE'];
  if (env['FORGEHAND_OPERATOR_TOKEN'] === undefined && file === undefined) return null;
  const token = resolveSecret(file === undefined ? { env: 'FORGEHAND_OPERATOR_TOKEN' } : { file }, env, process.cwd());
  if (token instanceof Secret) return token;
  throw new UserError('OPERATOR_TOKEN', token);
}
