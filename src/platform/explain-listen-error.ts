import { UserError } from '../core/errors.js';

/**
 * Says in words why the process cannot listen, and which key to change.
 * @param key of the config that holds the address
 */
export function explainListenError(error: unknown, what: string, address: string, key: string): Error {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE')
    return new UserError(
      'PORT_TAKEN',
      `${what} cannot listen on ${address}: the port is taken; stop the other program, or set ${key} to another port`,
    );
  if (code === 'EACCES')
    return new UserError(
      'PORT_NOT_ALLOWED',
      `${what} cannot listen on ${address}: not allowed for this user; set ${key} to a port above 1023`,
    );
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new UserError(
      'ADDRESS_NOT_OURS',
      `${what} cannot listen on ${address}: this machine has no such address; set ${key} to one that it has`,
    );
  return error instanceof Error ? error : new Error(String(error));
}
