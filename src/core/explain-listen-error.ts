import { UserError } from './errors.js';

/** Says in words why the process cannot listen: the user can mend it. */
export function explainListenError(error: unknown, what: string, address: string): Error {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE')
    return new UserError('PORT_TAKEN', `${what} cannot listen on ${address}: the port is taken`);
  if (code === 'EACCES')
    return new UserError('PORT_NOT_ALLOWED', `${what} cannot listen on ${address}: not allowed for this user`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new UserError('ADDRESS_NOT_OURS', `${what} cannot listen on ${address}: this machine has no such address`);
  return error instanceof Error ? error : new Error(String(error));
}
