import { isIP } from 'node:net';

/** Hosts that only this machine reaches. */
export function isLoopback(host: string): boolean {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return isIP(name) === 4 ? name.startsWith('127.') : name === '::1';
}

/** Where a forge has its pages: its address without the API. @param baseUrl ends in /api/v1 */
export function webAddress(baseUrl: string): string {
  return baseUrl.replace(/\/api\/v1\/?$/, '');
}

/** The parts of `host:port` or `[v6]:port`, as `control.listen` and `metrics.listen` hold it. */
export function listenAddress(address: string): { host: string; port: number } {
  const cut = address.lastIndexOf(':');
  return { host: address.slice(0, cut).replace(/^\[|\]$/g, ''), port: Number(address.slice(cut + 1)) };
}

/** Parameters that carry a secret in addresses of databases, queues and web services. */
const SECRET_PARAMETERS =
  /^(password|pass|passwd|pwd|sslpassword|secret|token|access_token|auth|api_?key|key|signature)$/i;

/** `scheme://user:password@`, also where the rest is no URL: drivers take addresses without a host, and with several. */
const WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^@]*:[^@]+@/i;

/**
 * Where an address that stands in the config file gives a secret away.
 * @returns null when it holds none
 */
export function secretInAddress(address: string): string | null {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url ? url.password !== '' : WITH_PASSWORD.test(address)) return 'a password';
  // A web address needs no user; one that has it often is a token.
  if (url && url.username !== '' && /^https?:$/.test(url.protocol)) return 'a user or token';
  const parameters = url?.searchParams ?? new URLSearchParams(address.split('?')[1]);
  const parameter = [...parameters.keys()].find((name) => SECRET_PARAMETERS.test(name));
  return parameter === undefined ? null : `the parameter ${parameter}`;
}
